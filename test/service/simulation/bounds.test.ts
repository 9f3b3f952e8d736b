import { beginCell, Cell, external, storeMessage } from '@ton/core';
import { describe, expect, it } from 'vitest';

import type { ChainSnapshot } from '#service/live/contracts/chain-snapshot.ts';
import { MESSAGES_MAX, simulateMessage } from '#service/simulation/simulate-message.ts';
import { account, emptyChain, noAccount, sending } from '#test/support/simulated-chain.ts';

const { signal } = new AbortController();

const bounds = { transactionsMax: 256, depthMax: 32, signal };

const boc = beginCell()
  .store(storeMessage(external({ to: account })))
  .endCell()
  .toBoc();

/** The most messages that a transaction sends. */
const widest = 255;

/** Chain on which each message leads to `widest` messages to the same account. */
function branchingChain(onRun: () => void): ChainSnapshot {
  const transaction = sending(widest, Cell.EMPTY);
  return emptyChain(() => {
    onRun();
    return Promise.resolve({ kind: 'transaction', transaction, shardAccount: noAccount() });
  });
}

describe('a trace that branches without end', () => {
  it('has no further transaction once its transactions have sent the most messages of a trace', async () => {
    const trace = await simulateMessage(
      branchingChain(() => undefined),
      boc,
      bounds,
    );
    const transactions = Math.ceil(MESSAGES_MAX / widest);
    expect(trace).toMatchObject({ kind: 'trace', left: transactions * widest - (transactions - 1) });
    expect(trace.kind === 'trace' && trace.transactions.length).toBe(transactions);
  });

  it('runs no further message once its thread time is used', async () => {
    const threadBudget = { leftMs: 3 };
    let runs = 0;
    const chain = branchingChain(() => {
      runs++;
      threadBudget.leftMs--;
    });
    const trace = await simulateMessage(chain, boc, { ...bounds, threadBudget });
    expect(trace).toMatchObject({ kind: 'trace', left: 3 * widest - 2 });
    expect(runs).toBe(3);
  });
});
