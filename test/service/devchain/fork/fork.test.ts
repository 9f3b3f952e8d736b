import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { beginCell, Cell } from '@ton/core';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

import { readAccount } from '#service/decode/tlb/account.ts';
import type { MethodName } from '#service/devchain/dev/method-table.ts';
import { createDevMethods } from '#service/devchain/dev/dev-methods.ts';
import { createFaucet } from '#service/devchain/production/faucet.ts';
import type { PersistedNetwork } from '#service/devchain/storage/persisted-network.ts';
import { openPersistedNetwork } from '#service/devchain/storage/persisted-network.ts';
import type { PrivateNetwork, PrivateNetworkOptions } from '#service/devchain/private-network.ts';
import { createPrivateNetwork } from '#service/devchain/private-network.ts';
import { accountAt } from '#service/devchain/chain/snapshots.ts';
import { forkOf } from '#test/support/forked-network.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { putAccount } from '#test/support/put-account.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';
import { followMoney } from '../money.ts';

/** `SETCP0; ACCEPT`: takes every message and does nothing. */
const acceptAll = beginCell().storeUint(0xff00f800, 32).endCell();

const place = (byte: number) => ({ workchain: 0, id: Buffer.alloc(32, byte) });
const addressOf = (byte: number): string => `0:${Buffer.alloc(32, byte).toString('hex')}`;

/** Accounts of the other network; nobody has 0xee. */
const [early, late, unread] = [0xa1, 0xa2, 0xa3];
const nobody = 0xee;

/** An account as a state has it, to compare. */
function stateOf(network: PrivateNetwork, byte: number): object | undefined {
  const { chain } = network;
  const found = accountAt(chain, network.head(), place(byte));
  if (found === undefined) return undefined;
  const { account, ...last } = found;
  return { hash: chain.states.hash(account).toString('hex'), ...last };
}

function balanceOf(network: PrivateNetwork, byte: number): bigint | undefined {
  const found = accountAt(network.chain, network.head(), place(byte));
  return found && readAccount(network.chain.states, found.account)?.balance.grams;
}

type Fork = {
  readonly network: PrivateNetwork;
  readonly call: (method: string, fields?: object) => Promise<{ readonly snapshot: number }>;
  /** The other network can be reached, or not. */
  reachable: boolean;
  close(): Promise<void>;
};

describe('a snapshot of a forked network', () => {
  let origin: PrivateNetwork;

  beforeAll(async () => {
    origin = await startPrivateNetwork();
    await origin.step(
      [early, late, unread].map((byte) => putAccount(place(byte), { code: acceptAll, data: Cell.EMPTY })),
    );
    // So that they have a last transaction.
    const faucet = testWallet(origin.faucet.seed);
    origin.send(
      faucet.send(
        0,
        [early, late, unread].map((byte) => transfer(addressOf(byte), 1_000_000_000n)),
      ),
    );
    for (let step = 0; step < 3; step++) await origin.step();
  });
  afterAll(() => origin.close());

  async function startFork(options: PrivateNetworkOptions = {}, stored?: PersistedNetwork): Promise<Fork> {
    const there = forkOf(origin.chain);
    const readFrom = (at: Parameters<typeof there.readAccount>[0]): Promise<Buffer> =>
      fork.reachable ? there.readAccount(at) : Promise.reject(new Error('nobody answers'));
    const network = await createPrivateNetwork(options, {
      fork: { ...there, readAccount: readFrom },
      ...(stored && { stored }),
      logger: pino({ level: 'silent' }),
      register: new Registry(),
    });
    const methods = createDevMethods({ network, faucet: createFaucet(network.faucet, { ...network, now: () => 0 }) });
    let closed = false;
    const fork: Fork = {
      network,
      call: async (method, fields = {}) => (await methods[method as MethodName]({ ...fields })) as { snapshot: number },
      reachable: true,
      async close() {
        if (closed) return;
        closed = true;
        await network.close();
        stored?.close();
      },
    };
    onTestFinished(() => fork.close());
    return fork;
  }

  it('is gone back to with accounts that came over since as the other network has them, as often as wanted', async () => {
    const { network, call } = await startFork();
    await network.ensure(place(early));
    await call('dev_setBalance', { address: addressOf(early), balance: '5' });
    const { snapshot } = await call('dev_snapshot');
    const faucet = testWallet(network.faucet.seed);
    for (const amount of [7_000_000_000n, 8_000_000_000n]) {
      // The wallet's money brings one of them over, in the block that pays.
      network.send(
        faucet.send(
          0,
          [late, nobody].map((byte) => transfer(addressOf(byte), amount)),
        ),
      );
      for (let step = 0; step < 3; step++) await network.step();
      await call('dev_setBalance', { address: addressOf(early), balance: '6' });
      expect(balanceOf(network, late)).toBeGreaterThan(1_000_000_000_000n + amount);
      await call('dev_revert', { snapshot });
      expect(stateOf(network, late)).toEqual(stateOf(origin, late));
      expect([early, nobody].map((byte) => balanceOf(network, byte))).toEqual([5n, undefined]);
    }
    await network.ensure(place(unread));
    expect(stateOf(network, unread)).toEqual(stateOf(origin, unread));
    expect(network.forkedAccounts).toBe(3);
    expect(followMoney(network.chain).filter(({ due, found }) => due !== found)).toEqual([]);
  });

  it('brings back an account that came over and was gone again', async () => {
    const { network, call } = await startFork();
    const { snapshot } = await call('dev_snapshot');
    await network.ensure(place(late));
    await network.step([{ ...place(late), edit: () => undefined }]);
    expect(stateOf(network, late)).toBeUndefined();
    await call('dev_revert', { snapshot });
    expect(stateOf(network, late)).toEqual(stateOf(origin, late));
  });

  it('is gone back to without the other network, in a fork that is kept too', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tonplane-fork-revert-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const open = (): PersistedNetwork => openPersistedNetwork(folder, { logger: pino({ level: 'silent' }) });
    const fork = await startFork({}, open());
    const { network, call } = fork;
    const { snapshot } = await call('dev_snapshot');
    await call('dev_setBalance', { address: addressOf(late), balance: '5' });
    fork.reachable = false;
    await call('dev_revert', { snapshot });
    expect(stateOf(network, late)).toEqual(stateOf(origin, late));
    await fork.close();

    const again = await startFork({}, open());
    again.reachable = false;
    await again.network.ensure(place(late));
    expect(stateOf(again.network, late)).toEqual(stateOf(origin, late));
  });

  it('needs the other network for accounts that there was no room to hold, and changes nothing while it is away', async () => {
    const bag = await forkOf(origin.chain).readAccount(place(late));
    const fork = await startFork({ originalBytesMax: bag.length });
    const { network, call } = fork;
    const { snapshot } = await call('dev_snapshot');
    for (const byte of [late, unread]) await call('dev_setBalance', { address: addressOf(byte), balance: '5' });
    fork.reachable = false;
    const { seqno } = network.head().id;
    await expect(call('dev_revert', { snapshot })).rejects.toMatchObject({ code: 'fork_unreachable' });
    expect(network.head().id.seqno).toBe(seqno);
    fork.reachable = true;
    await call('dev_revert', { snapshot });
    for (const byte of [late, unread]) expect(stateOf(network, byte)).toEqual(stateOf(origin, byte));
  });
});
