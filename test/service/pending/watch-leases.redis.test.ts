import { Address } from '@ton/core';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';

import { readExternalMessage } from '#service/live/send/external-message.ts';
import type { ExternalMessage } from '#service/live/send/external-message.ts';
import { EXPIRY_MS, KEPT_MS } from '#service/pending/watch-list.ts';
import { LEASE_MS } from '#service/pending/watch-leases.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';
import { classified, startPendingNetwork, type PendingNetwork } from './pending-under-test.ts';
import { openGoodLink, openLink } from './redis-under-test.ts';

const redisUrl = inject('redisUrl');

const receiver = Address.parseRaw(`0:${'6'.repeat(64)}`);
const VALUE = 1_000_000_000n;

type Pod = ReturnType<PendingNetwork['open']>;

describe.skipIf(
  skipLoudly(redisUrl === undefined, { what: 'pods that take over pending traces', why: 'there is no Redis' }),
)('a simulated trace whose pod is gone', () => {
  let setting: PendingNetwork;
  let client: Redis;

  beforeEach(async () => {
    setting = await startPendingNetwork();
    client = new Redis(redisUrl!);
  });
  afterEach(async () => {
    await setting.close();
    client.disconnect();
  });

  const openPod = async (): Promise<Pod> => setting.open(await openGoodLink(redisUrl!));

  /** A lite server has it and no block takes it: the wallet's money may change before. */
  async function simulate(pod: Pod): Promise<ExternalMessage> {
    const other = testWallet(Buffer.alloc(32, 9));
    setting.network.send(setting.faucet.send(0, [transfer(other.address, VALUE)]));
    await setting.step();
    await setting.step();
    const message = readExternalMessage(other.send(0, [transfer(receiver, VALUE / 2n)], { deploy: true }));
    pod.note(message, {});
    await pod.refresh();
    return message;
  }

  async function giveTheWalletMore(): Promise<void> {
    const other = testWallet(Buffer.alloc(32, 9));
    setting.network.send(setting.faucet.send(1, [transfer(other.address, 3n * VALUE)]));
    await setting.step();
    await setting.step();
  }

  it('is run again by another pod, and seen as it is simulated then', async () => {
    const gone = await openPod();
    const other = await openPod();
    const message = await simulate(gone);
    await giveTheWalletMore();
    setting.clock.unixMs += LEASE_MS;
    await other.refresh();
    expect(await takenOver(other)).toBe(1);
    expect(await countOf(other, 'ton_pending_messages')).toBe(1);
    expect(await mostMoney(other, message)).toBeGreaterThan(3n * VALUE);
    const third = await openPod();
    expect(await mostMoney(third, message)).toBeGreaterThan(3n * VALUE);
  });

  it('is taken by one of the pods that look for it', async () => {
    const gone = await openPod();
    await simulate(gone);
    const pods = await Promise.all([openPod(), openPod(), openPod()]);
    setting.clock.unixMs += LEASE_MS;
    await Promise.all(pods.map((pod) => pod.refresh()));
    const counts = await Promise.all(pods.map(takenOver));
    expect(counts.toSorted((a, b) => a - b)).toEqual([0, 0, 1]);
  });

  it.each([0, 3, 9, 10, 11, 12])(
    'is gone for listeners of other pods when its pod is killed after %i commands of its last look',
    async (commands) => {
      const line = await openGoodLink(redisUrl!);
      const killed = Promise.withResolvers<undefined>();
      let left = Infinity;
      const pod = setting.open({ ...line, ask: (...asked) => (left-- > 0 ? line.ask(...asked) : killed.promise) });
      const other = await openPod();
      const news: string[] = [];
      other.listen(({ kind }) => news.push(kind));
      try {
        await other.refresh();
        await simulate(pod);
        await other.refresh();
        expect(news).toEqual(['trace']);
        setting.index.seqno = setting.pool.head()!.block.seqno;
        setting.clock.unixMs += EXPIRY_MS;
        left = commands;
        await Promise.race([pod.refresh(), vi.waitUntil(() => left < 0)]);
        setting.clock.unixMs += LEASE_MS;
        await other.refresh();
        await other.refresh();
        expect(news.at(-1)).toBe('gone');
      } finally {
        killed.resolve(undefined);
      }
    },
  );

  it('is left alone while its pod says that it is there', async () => {
    const one = await openPod();
    const other = await openPod();
    await simulate(one);
    setting.clock.unixMs += LEASE_MS - 1;
    await one.refresh();
    setting.clock.unixMs += LEASE_MS - 1;
    await other.refresh();
    expect(await takenOver(other)).toBe(0);
  });

  it('is taken at once when its pod ends in order', async () => {
    const ended = await openPod();
    const other = await openPod();
    await simulate(ended);
    await ended.close();
    await other.refresh();
    expect(await takenOver(other)).toBe(1);
  });

  it('may not be simulated yet: the message is run by another pod', async () => {
    const ended = await openPod();
    const other = await openPod();
    const message = readExternalMessage(setting.faucet.send(0, [transfer(receiver, VALUE)]));
    ended.note(message, {});
    await ended.close();
    expect(await other.find({ hashes: [message.hash] })).toEqual([]);
    await other.refresh();
    expect(await takenOver(other)).toBe(1);
    expect(await other.find({ hashes: [message.hash] })).toHaveLength(1);
  });

  it('is dropped with its message when that would never be taken', async () => {
    const pod = await openPod();
    const message = readExternalMessage(setting.faucet.send(7, [transfer(receiver, VALUE)]));
    pod.note(message, {});
    await pod.refresh();
    expect(await client.keys(`ton:pending:*:${setting.scope}:*`)).not.toEqual([]);
    await setting.step();
    await pod.refresh();
    setting.index.seqno = setting.pool.head()!.block.seqno;
    await pod.refresh();
    expect(await client.keys(`ton:pending:*:${setting.scope}:*`)).toEqual([]);
  });

  it('a simulated trace whose pod is gone is removed when the index has the real trace, and no key of it stays', async () => {
    const gone = await openPod();
    const other = await openPod();
    const { normalizedHash } = await simulate(gone);
    setting.clock.unixMs += LEASE_MS;
    await other.refresh();
    setting.index.taken.set(normalizedHash.toString('hex'), classified);
    await other.refresh();
    expect(await client.keys(`ton:pending:*:${setting.scope}:*`)).toEqual([]);
  });

  it('is not run again when it is too old, and nothing of it is kept', async () => {
    const gone = await openPod();
    const other = await openPod();
    await simulate(gone);
    setting.clock.unixMs += KEPT_MS;
    await other.refresh();
    expect(await takenOver(other)).toBe(0);
    expect(await client.keys(`ton:pending:*:${setting.scope}:*`)).toEqual([]);
  });

  it('is nobody else’s while Redis is away', async () => {
    const pod = setting.open(openLink('redis://127.0.0.1:1'));
    const message = await simulate(pod);
    await giveTheWalletMore();
    setting.clock.unixMs += LEASE_MS;
    await pod.refresh();
    expect(await takenOver(pod)).toBe(0);
    expect(await mostMoney(pod, message)).toBeGreaterThan(3n * VALUE);
  });
});

async function countOf(pod: Pod, name: string): Promise<number> {
  const values = (await pod.register.getSingleMetric(name)?.get())?.values ?? [];
  return values.reduce((sum, { value }) => sum + value, 0);
}

function takenOver(pod: Pod): Promise<number> {
  return countOf(pod, 'ton_pending_taken_over_total');
}

async function mostMoney(pod: Pod, message: ExternalMessage): Promise<bigint> {
  const [trace] = await pod.find({ hashes: [message.hash] });
  return trace!.states.reduce((most, { balance }) => (balance > most ? balance : most), 0n);
}
