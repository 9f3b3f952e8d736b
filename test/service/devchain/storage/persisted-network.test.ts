import { mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { pino } from 'pino';
import { Registry } from 'prom-client';
import { describe, expect, it, onTestFinished } from 'vitest';

import type { BlockId } from '#service/decode/block-id.ts';
import type { Chain } from '#service/devchain/chain/chain.ts';
import { openPersistedNetwork } from '#service/devchain/storage/persisted-network.ts';
import type { PrivateNetwork, PrivateNetworkOptions } from '#service/devchain/private-network.ts';
import { createPrivateNetwork } from '#service/devchain/private-network.ts';
import { startApiOver } from '#test/support/api.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';
import { followMoney } from '../money.ts';

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-kept-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A network of the folder, as `npm start -- --data` runs it; `stop` ends it as a process's end does. */
async function start(
  folder: string,
  options: PrivateNetworkOptions = {},
): Promise<{ readonly network: PrivateNetwork; readonly log: string[]; stop(): Promise<void> }> {
  const log: string[] = [];
  const logger = pino({}, { write: (line: string) => void log.push(line) });
  const stored = openPersistedNetwork(folder, { logger });
  const network = await createPrivateNetwork(options, { logger, register: new Registry(), stored });
  let stopped = false;
  const stop = async (): Promise<void> => {
    if (stopped) return;
    stopped = true;
    await network.close();
    stored.close();
  };
  onTestFinished(stop);
  return { network, log, stop };
}

function idsOf(chain: Chain): BlockId[] {
  return Array.from({ length: chain.lastSeqno }, (_, index) => chain.masterchain(index + 1)!.id);
}

describe('a network kept in a folder', () => {
  it('is read again with no more states than it may hold', async () => {
    const folder = makeFolder();
    const first = await start(folder);
    for (let step = 0; step < 60; step++) await first.network.step();
    const before = idsOf(first.network.chain);
    await first.stop();
    const { network } = await start(folder, { stateCellsMax: 1000 });
    expect(idsOf(network.chain)).toEqual(before);
    expect(network.chain.states.size).toBeLessThan(1100);
    expect(network.chain.holdsState(network.chain.masterchain(10)!)).toBe(false);
    await network.step();
  });

  it.each<[number, 'ordinary' | 'simplex']>([
    [1, 'ordinary'],
    [4, 'simplex'],
  ])('goes on where it was, with %i validators and %s signatures, and is proved', async (validators, consensus) => {
    const folder = makeFolder();
    const first = await start(folder, { validators, consensus, splitMergeDelaySeconds: 0 });
    const wallet = testWallet(first.network.faucet.seed);
    first.network.send(wallet.send(0, [transfer(`-1:${'ab'.repeat(32)}`, 5_000_000_000n)]));
    first.network.setShardDepth(1);
    for (let step = 0; step < 10; step++) await first.network.step();
    await first.network.advance(86_400);
    expect(first.network.head().shards).toHaveLength(2);
    const before = idsOf(first.network.chain);
    await first.stop();

    // Not told again: how many validators there are is kept.
    const { network } = await start(folder);
    expect(idsOf(network.chain)).toEqual(before);
    expect(network.head().state).toBeGreaterThan(0);
    network.send(wallet.send(1, [transfer(`-1:${'ab'.repeat(32)}`, 1_000_000_000n)]));
    for (let step = 0; step < 3; step++) await network.step();
    expect(network.head().header.utime).toBeGreaterThanOrEqual(first.network.head().header.utime);
    expect(followMoney(network.chain).filter(({ due, found }) => due !== found)).toEqual([]);
    const api = await startApiOver(network);
    onTestFinished(() => api.close());
    const answer = await api.get(`getAddressBalance?address=-1:${'ab'.repeat(32)}`);
    // Less what a day of storage costs in the masterchain.
    expect(answer).toMatchObject({ status: 200, body: { result: expect.stringMatching(/^5999\d{6}$/) as string } });
    const old = await api.get(`getTransactions?address=${wallet.address.toRawString()}&limit=10`);
    expect(old.body['result']).toHaveLength(2);
  });

  it('loses a step that was not written to its end, and says so', async () => {
    const folder = makeFolder();
    const first = await start(folder);
    for (let step = 0; step < 3; step++) await first.network.step();
    const before = idsOf(first.network.chain);
    await first.stop();
    const file = join(folder, 'blocks.bin');
    truncateSync(file, statSync(file).size - 100);
    const { network, log } = await start(folder);
    expect(idsOf(network.chain)).toEqual(before.slice(0, -1));
    expect(log.filter((line) => line.includes('is cut off'))).toHaveLength(1);
    await network.step();
    expect(network.head().id.seqno).toBe(before.length);
  });

  it('a second process refuses the folder of a running network', async () => {
    const folder = makeFolder();
    const first = await start(folder);
    const logger = pino({ level: 'silent' });
    expect(() => openPersistedNetwork(folder, { logger })).toThrow(expect.objectContaining({ code: 'network_in_use' }));
    await first.stop();
    openPersistedNetwork(folder, { logger }).close();
  });

  it('does not show a step that cannot be written', async () => {
    const folder = makeFolder();
    const logger = pino({ level: 'silent' });
    const stored = openPersistedNetwork(folder, { logger });
    let full = false;
    const failing = {
      ...stored,
      append: (step: Parameters<typeof stored.append>[0]) => {
        if (full) throw new Error('ENOSPC');
        stored.append(step);
      },
    };
    const network = await createPrivateNetwork({}, { logger, register: new Registry(), stored: failing });
    const { seqno } = network.head().id;
    full = true;
    await expect(network.step()).rejects.toThrow('ENOSPC');
    expect(network.head().id.seqno).toBe(seqno);
    full = false;
    await network.step();
    const ids = idsOf(network.chain);
    await network.close();
    stored.close();
    const again = await start(folder);
    expect(idsOf(again.network.chain)).toEqual(ids);
  });
});
