import { Address, beginCell, Cell, external, storeMessage } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { formatRawAddress } from '#service/decode/address.ts';
import type { ChainSnapshot } from '#service/live/contracts/chain-snapshot.ts';
import { simulateMessage } from '#service/simulation/simulate-message.ts';
import { openShardAccount } from '#service/tvm/shard-account.ts';
import { account, emptyChain, noAccount, sending } from '#test/support/simulated-chain.ts';

const { signal } = new AbortController();

const boc = beginCell()
  .store(storeMessage(external({ to: account })))
  .endCell()
  .toBoc();

const receiver = (at: number): Address => Address.parseRaw(`0:${String(at + 2).repeat(64)}`);

/** Chain on which the first message leads to one message for each of some accounts, which send nothing. */
function fanOut(accounts: number, readShardAccount: ChainSnapshot['readShardAccount']): ChainSnapshot {
  let runs = 0;
  const chain = emptyChain(() => {
    const sent = runs++ === 0 ? accounts : 0;
    const transaction = sending(sent, Cell.EMPTY, receiver);
    return Promise.resolve({ kind: 'transaction', transaction, shardAccount: noAccount() });
  });
  return { ...chain, readShardAccount };
}

const readsAllButLast: ChainSnapshot['readShardAccount'] = (id) =>
  formatRawAddress(id) === receiver(1).toRawString()
    ? Promise.reject(new Error('no lite server answers'))
    : Promise.resolve(openShardAccount(noAccount()));

const simulate = (transactionsMax: number): ReturnType<typeof simulateMessage> =>
  simulateMessage(fanOut(2, readsAllButLast), boc, { transactionsMax, depthMax: 32, signal });

describe('accounts of messages that wait', () => {
  it('are read once each, up to five at once', async () => {
    const names: string[] = [];
    let [reading, most] = [0, 0];
    const chain = fanOut(7, async (id) => {
      names.push(formatRawAddress(id));
      most = Math.max(most, ++reading);
      await new Promise((resolve) => void setImmediate(resolve));
      reading--;
      return openShardAccount(noAccount());
    });
    const trace = await simulateMessage(chain, boc, { transactionsMax: 256, depthMax: 32, signal });
    expect(trace.kind === 'trace' && trace.transactions.length).toBe(8);
    expect(most).toBe(5);
    expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
    expect(names.length).toBe(8);
  });

  it('may fail to be read when a bound leaves their messages out', async () => {
    const trace = await simulate(2);
    expect(trace).toMatchObject({ kind: 'trace', left: 1 });
    expect(trace.kind === 'trace' && [...trace.read.keys()]).toEqual(
      [account, receiver(0)].map((one) => one.toRawString()),
    );
    await expect(simulate(3)).rejects.toThrow('no lite server answers');
  });
});
