import { beginCell, Cell, external, storeMessage } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { writeBocText } from '#service/decode/boc-writer.ts';
import { readTransaction } from '#service/decode/tlb/transaction.ts';
import { createAnswerBudget } from '#service/emulate/views/answer-budget.ts';
import { viewContractCells } from '#service/emulate/views/contract-cells.ts';
import { viewSimulated } from '#service/live/accounts/account-view.ts';
import type { PinnedBlock } from '#service/live/pinned-block.ts';
import { createTails } from '#service/pending/tails.ts';
import { createTimeSlice } from '#service/runtime/time-slice.ts';
import { overrideAccounts } from '#service/simulation/account-overrides.ts';
import type { SimulatedDetection } from '#service/simulation/detection.ts';
import { simulateMessage } from '#service/simulation/simulate-message.ts';
import { classifySimulated } from '#service/simulation/simulated-actions.ts';
import { TvmError } from '#service/tvm/errors.ts';
import { bagWithLeaves } from '#test/support/many-cells.ts';
import { account, emptyChain, noAccount, sending } from '#test/support/simulated-chain.ts';
import { turnsDuring } from '#test/support/turns.ts';

const { signal } = new AbortController();

const pinned = { block: {}, utime: 1, endLt: 0n } as unknown as PinnedBlock;

describe('work on large bags of cells leaves turns of the event loop to other requests', () => {
  it('between the messages of a transaction that share a large body', async () => {
    const [body] = Cell.fromBoc(bagWithLeaves(4096));
    const transaction = sending(40, body!);
    const boc = beginCell()
      .store(storeMessage(external({ to: account })))
      .endCell()
      .toBoc();
    let runs = 0;
    const chain = emptyChain(() => {
      // Messages that no thread runs are left out.
      if (runs++ > 0) return Promise.reject(new TvmError('tvm_timeout', { detail: 'no time is left' }));
      return Promise.resolve({ kind: 'transaction', transaction, shardAccount: noAccount() });
    });
    const turns = await turnsDuring(async () => {
      const trace = await simulateMessage(chain, boc, { transactionsMax: 256, depthMax: 32, signal });
      expect(trace).toMatchObject({ kind: 'trace', left: 40 });
    });
    expect(turns).toBeGreaterThan(8);
  });

  it('between the cells of an overridden account', async () => {
    const data = bagWithLeaves(32_768);
    const chain = emptyChain(() => Promise.reject(new Error('nothing runs')));
    const turns = await turnsDuring(async () => {
      const id = { workchain: 0, id: account.hash };
      const [overridden] = (await overrideAccounts(chain, [{ account: id, data: parseBoc(data) }], signal)).values();
      expect(overridden!.table.size).toBeGreaterThan(32_768);
    });
    expect(turns).toBeGreaterThan(8);
  });

  it('between the cells of an account that a simulation left, as get-methods and answers read it', async () => {
    const chain = emptyChain(() => Promise.reject(new Error('nothing runs')));
    const id = { workchain: 0, id: account.hash };
    const override = { account: id, data: parseBoc(bagWithLeaves(32_768)) };
    const accounts = (): ReturnType<typeof overrideAccounts> => overrideAccounts(chain, [override], signal);
    const [shardAccount] = (await accounts()).values();
    const view = await turnsDuring(() =>
      viewSimulated(id, pinned, { shardAccount: shardAccount!, timeSlice: createTimeSlice(signal) }),
    );
    expect(view).toBeGreaterThan(8);
    // Accounts whose cells no reader has hashed.
    const others = await accounts();
    const cells = await turnsDuring(() => viewContractCells(others, createAnswerBudget(), createTimeSlice(signal)));
    expect(cells).toBeGreaterThan(8);
  });

  it('between parts of some thousand cells of the largest account that an answer shows', async () => {
    const chain = emptyChain(() => Promise.reject(new Error('nothing runs')));
    const data = parseBoc(bagWithLeaves(49_152));
    expect(data.size).toBe(65_536);
    const override = { account: { workchain: 0, id: account.hash }, data };
    const accounts = await overrideAccounts(chain, [override], signal);
    const cells = [...accounts.values()].reduce((sum, { table }) => sum + table.size, 0);
    let pauses = 0;
    const pause = (): undefined => void pauses++;
    const { data_cells } = await viewContractCells(accounts, createAnswerBudget(), { pause });
    expect(Object.values(data_cells)).toEqual([writeBocText(data, data.roots, { crc32c: true })]);
    // Hashing pauses at each cell. The cells are then visited, and copied.
    expect(pauses - cells).toBeGreaterThan(2 * Math.floor(data.size / 1024));
  });

  it('between the transactions of a begun trace, whose messages on their way are looked for', async () => {
    const boc = sending(40, Cell.fromBoc(bagWithLeaves(4096))[0]!);
    const transactions = Array.from({ length: 8 }, () => opened(boc));
    const worlds = { open: () => Promise.reject(new Error('no chain')) };
    const tails = createTails({ worlds, detector: { detect: async () => undefined }, now: () => 0 });
    const begun = { message: { hash: Buffer.alloc(32), normalizedHash: Buffer.alloc(32) }, transactions, mcSeqno: 1 };
    const turns = await turnsDuring(() => expect(tails.simulate(begun, signal)).rejects.toThrow('no chain'));
    expect(turns).toBeGreaterThan(8);
  });

  it('between the transactions of a simulated trace, which are read for its actions', async () => {
    const boc = sending(2, new Cell());
    const transactions = Array.from({ length: 20 }, () => opened(boc));
    const detection = { detect: () => Promise.reject(new Error('all are read')) } as unknown as SimulatedDetection;
    let pauses = 0;
    const timeSlice = { pause: (): undefined => void pauses++ };
    const classifying = classifySimulated(undefined, { transactions }, { detection, timeSlice });
    await expect(classifying).rejects.toThrow('all are read');
    expect(pauses).toBe(20);
  });
});

function opened(boc: Buffer) {
  const table = parseBoc(boc);
  return { table, transaction: readTransaction(table, table.roots[0]!), workchain: 0 };
}

describe('work for a caller that leaves ends', () => {
  const left = AbortSignal.abort(new Error('the caller left'));

  it('before the cells of an overridden account', async () => {
    const chain = emptyChain(() => Promise.reject(new Error('nothing runs')));
    const id = { workchain: 0, id: account.hash };
    const making = overrideAccounts(chain, [{ account: id, data: parseBoc(bagWithLeaves(16)) }], left);
    await expect(making).rejects.toThrow('the caller left');
  });

  it('before a message runs', async () => {
    let runs = 0;
    const chain = emptyChain(() => Promise.reject(new Error(`run ${++runs}`)));
    const boc = beginCell()
      .store(storeMessage(external({ to: account })))
      .endCell()
      .toBoc();
    const running = simulateMessage(chain, boc, { transactionsMax: 256, depthMax: 32, signal: left });
    await expect(running).rejects.toThrow('the caller left');
    expect(runs).toBe(0);
  });
});
