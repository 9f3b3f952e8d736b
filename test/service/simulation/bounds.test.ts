import { beginCell, Cell, external, storeMessage } from '@ton/core';
import { describe, expect, it } from 'vitest';

import type { ChainSnapshot } from '#service/live/contracts/chain-snapshot.ts';
import { MESSAGES_MAX, simulateMessage } from '#service/simulation/simulate-message.ts';
import { TvmError } from '#service/tvm/errors.ts';
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

/** A branching chain whose fourth run takes too long. */
function slowChain(): ChainSnapshot {
  let runs = 0;
  return branchingChain(() => {
    if (++runs === 4) throw new TvmError('tvm_timeout', { detail: 'the call ran too long' });
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
});

describe('a trace of which the fourth run takes too long', () => {
  const four = { ...bounds, transactionsMax: 4 };

  it('goes on without that message by default', async () => {
    const trace = await simulateMessage(slowChain(), boc, four);
    expect(trace.kind === 'trace' && trace.transactions.length).toBe(4);
  });

  it('fails when its bounds alone may shorten it', async () => {
    const failing = simulateMessage(slowChain(), boc, { ...four, rejectsTimeouts: true });
    await expect(failing).rejects.toMatchObject({ code: 'tvm_timeout' });
  });
});
