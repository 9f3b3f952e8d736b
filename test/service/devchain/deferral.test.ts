import { constantFrom, array, assert, property, record } from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';

import { BitWriter } from '#service/decode/bit-writer.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { readAccountDispatchQueue } from '#service/decode/tlb/account-dispatch-queue.ts';
import { walkHashmap } from '#service/decode/hashmap.ts';
import { storeMessageEnvelope } from '#service/decode/tlb/msg-envelope.ts';
import { chooseTurns, createDeferral } from '#service/devchain/collator/deferral.ts';
import type { DispatchQueue } from '#service/devchain/collator/dispatch-queue.ts';
import { openDispatchQueue } from '#service/devchain/collator/dispatch-queue.ts';
import { openPreviousState } from '#service/devchain/collator/previous-state.ts';
import { stateOf } from '#service/devchain/chain/chain.ts';
import { createDemoWallet } from '#service/devchain/demo/wallets.ts';
import { accountAt, hasMessagesOnTheWay } from '#service/devchain/chain/snapshots.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';
import { followMoney } from './money.ts';

type Waiting = { readonly account: number; readonly lt: number; readonly initiator: number };

/** Transfers of one transaction: more than two blocks take. */
const COUNT = 60;

/** In both shards: some are delivered where they were sent, the others go on through the queue. */
function place(index: number): string {
  return `0:${index % 2 === 0 ? '1' : 'e'}${index.toString(16).padStart(63, '0')}`;
}

const idOf = (account: number): Buffer => Buffer.alloc(32, account + 1);

/** The queue that a block finds with these messages in it. */
function queueOf(waiting: readonly Waiting[]): { queue: DispatchQueue; states: ReturnType<typeof createCellStore> } {
  const [states, cells] = [createCellStore(), createCellStore()];
  const earlier = openDispatchQueue(states, cells, undefined);
  for (const { account, lt, initiator } of waiting) {
    const envelope = storeMessageEnvelope(cells, {
      currentBits: 0,
      nextBits: 0,
      forwardFeeRemaining: 0n,
      message: new BitWriter().uint(lt, 32).finish(cells),
      emittedLt: undefined,
      metadata: { mode: 0, depth: 0, initiator: { workchain: 0, id: idOf(initiator) }, initiatorLt: 5n },
    });
    earlier.add(idOf(account), BigInt(lt), envelope);
  }
  return { queue: openDispatchQueue(states, createCellStore(), earlier.finish()), states };
}

const many = (account: number, count: number, initiator: number, from = 1): Waiting[] =>
  Array.from({ length: count }, (_, index) => ({ account, initiator, lt: from + index }));

/** How many of each account have their turn. */
function turnsOf(queue: DispatchQueue, queueSize = 0n): { counts: number[]; isLimited: boolean } {
  const { messages, isLimited } = chooseTurns(queue, queueSize);
  const counts: number[] = [];
  for (const { source } of messages) counts[source[0]! - 1] = (counts[source[0]! - 1] ?? 0) + 1;
  return { counts, isLimited };
}

describe('messages that wait', () => {
  it.each([
    // One, up to ten of the account in the second round, and ten of the initiator in the third.
    ['one account', many(0, 50, 0), 0n, [20]],
    ['a queue of 300', many(0, 50, 0), 300n, [12]],
    ['a queue of 1000', many(0, 50, 0), 1000n, [11]],
    ['a queue of 1501', many(0, 50, 0), 1501n, [10]],
    ['a queue of 2048', many(0, 50, 0), 2048n, [10]],
    ['a queue of 2049', many(0, 50, 0), 2049n, []],
    // The initiator's twenty of the second round and ten of the third are shared by the oldest messages; who comes too late still has one.
    [
      'three accounts of one initiator',
      [...many(0, 50, 0, 1), ...many(1, 50, 0, 1001), ...many(2, 50, 0, 2001)],
      0n,
      [20, 11, 4],
    ],
    ['two accounts of their own', [...many(0, 50, 0, 1), ...many(1, 50, 1, 1001)], 0n, [20, 20]],
  ])('have their turns as in the node: %s', (_, waiting, queueSize, counts) => {
    expect(turnsOf(queueOf(waiting).queue, queueSize)).toEqual({ counts, isLimited: false });
  });

  it('are taken by at most 150 in the second and the third round, and then the block counts as a heavy one', () => {
    const accounts = Array.from({ length: 40 }, (_, account) => many(account, 60, account, account * 1000 + 1));
    const { counts, isLimited } = turnsOf(queueOf(accounts.flat()).queue);
    expect(counts.reduce((sum, count) => sum + count)).toBe(40 + 150 + 150);
    expect(isLimited).toBe(true);
  });

  it('leave in the order of their sending, each account its oldest first, and the others stay', () => {
    const waiting = array(record({ account: constantFrom(0, 1, 2, 3), initiator: constantFrom(0, 1, 2) }), {
      maxLength: 120,
    }).map((list) => list.map((one, index) => ({ ...one, lt: index + 1 })));
    assert(
      property(waiting, (list) => {
        const { queue, states } = queueOf(list);
        const { messages } = chooseTurns(queue, 0n);
        for (const account of [0, 1, 2, 3]) {
          const all = list.filter((one) => one.account === account).map(({ lt }) => BigInt(lt));
          const taken = messages.filter(({ source }) => source.equals(idOf(account))).map(({ lt }) => lt);
          expect(taken).toEqual(all.slice(0, taken.length));
          expect(all.length === 0 || taken.length > 0).toBe(true);
        }
        messages.forEach((message) => queue.remove(message));
        let left = 0n;
        walkHashmap(states, queue.finish(), 256, (_, value) => void (left += readAccountDispatchQueue(value).count), {
          readExtra: (slice) => slice.skip(64),
        });
        expect(left).toBe(BigInt(list.length - messages.length));
      }),
      { seed: 11, numRuns: 60 },
    );
  });

  it('are those from the eleventh of a transaction on, and all behind them', () => {
    const { queue } = queueOf([]);
    const rule = createDeferral(queue, { enabled: true, startLt: 1_000_000n, specials: [idOf(7)] });
    const wait = (account: number, count: number): number =>
      Array.from({ length: count }, (_, index) => rule.mustWait(idOf(account), index, 0n)).indexOf(true);
    expect(wait(0, 20)).toBe(10);
    expect(wait(7, 20)).toBe(-1);
    expect(createDeferral(queue, { enabled: false, startLt: 0n, specials: [] }).mustWait(idOf(0), 30, 9999n)).toBe(
      false,
    );
    // A full queue of the shard holds back all but the first of a transaction.
    expect([0, 1].map((index) => rule.mustWait(idOf(1), index, 2049n))).toEqual([false, true]);
    // Who has one on its way gets no new one past it.
    expect([rule.emit(idOf(2)), rule.emit(idOf(2))]).toEqual([1_000_001n, 1_000_002n]);
    expect(rule.mustWait(idOf(2), 0, 0n)).toBe(true);
    rule.settle(idOf(2));
    rule.settle(idOf(2));
    expect(rule.mustWait(idOf(2), 0, 0n)).toBe(false);
    expect(rule.emittedLt(idOf(2))).toBe(1_000_002n);
  });
});

describe('an account that sends many messages at once', () => {
  it('fills the dispatch queue, and all arrive in the next blocks with all money accounted for', async () => {
    const network = await startPrivateNetwork({ minSplit: 1, maxSplit: 1 });
    onTestFinished(() => network.close());
    const { chain } = network;
    const isWaiting = (): boolean =>
      network
        .head()
        .shards.some(({ block }) => openPreviousState(chain.states, stateOf(chain, block)!).dispatch !== undefined);
    const faucet = testWallet(network.faucet.seed);
    const wallet = createDemoWallet('v5r1', -217);
    network.send(faucet.send(0, [transfer(wallet.address, 100_000_000_000n)]));
    for (let step = 0; step < 4; step++) await network.step();
    const messages = Array.from({ length: COUNT }, (_, index) => transfer(place(index), 1_000_000_000n));
    network.send(wallet.send(messages));
    let waited = 0;
    for (let step = 0; step < 12; step++) {
      await network.step();
      if (isWaiting()) waited++;
    }
    expect(waited).toBeGreaterThan(1);
    expect(hasMessagesOnTheWay(chain, network.head())).toBe(false);
    const arrived = Array.from({ length: COUNT }, (_, index) => index).filter((index) => {
      const id = Buffer.from(place(index).slice(2), 'hex');
      return accountAt(chain, network.head(), { workchain: 0, id }) !== undefined;
    });
    expect(arrived).toHaveLength(COUNT);
    expect(followMoney(chain).filter(({ due, found }) => due !== found)).toEqual([]);
  });
});
