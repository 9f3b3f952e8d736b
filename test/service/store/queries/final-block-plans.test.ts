import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  countTransactionsUntil,
  findAllActionsOfTraces,
  findBlockState,
  findEditsOfBlock,
  findNewestClassified,
  findOldestBefore,
  findTouchedBlocks,
  findTracesNamed,
  findTracesOpenFrom,
  findTransactionsBefore,
  findTransactionsOfBlock,
  findWallets,
  findWalletsAfter,
  readTraces,
} from '#service/store/queries/final-blocks.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { createPlannedReader, type PlannedReader } from '#test/support/query-plans.ts';
import { createRecordedIndex } from '#test/support/recorded-index.ts';
import type { StoreUnderTest } from '#test/support/store.ts';

let index: StoreUnderTest;
let reader: StoreReader;
let plansOf: PlannedReader['plansOf'];

beforeAll(async () => {
  index = await createRecordedIndex(import.meta.filename);
  // The recorded chain has no edits, and an empty table is read by any of its indexes.
  await index.store.transaction(async ({ query }) => {
    await query(
      `INSERT INTO account_edits (account, lt, mc_seqno, hash)
       SELECT int4send(n), n, n / 10, int4send(n) FROM generate_series(1, 5000) AS n`,
    );
    await query('ANALYZE account_edits');
  });
  const planned = createPlannedReader(index);
  reader = planned.reader;
  plansOf = (runs) => planned.plansOf(runs);
});
afterAll(() => index.close());

const hash = Buffer.alloc(32, 1);
const account = Buffer.alloc(33, 2);
const trace = { trace_id: hash, start_lt: 7n };

describe('no query of the changes of a block reads a table whole', () => {
  it.each<readonly [string, (store: StoreReader) => Promise<unknown>, RegExp]>([
    ['for the newest block', (store) => findNewestClassified(store), /interpretations_pkey/],
    ['for the state of a block', (store) => findBlockState(store, 7), /interpretations_pkey/],
    ['for its transactions', (store) => findTransactionsOfBlock(store, 7), /transactions_\d+_(mc_seqno|lt)/],
    ['for their traces', (store) => readTraces(store, [hash]), /traces_pkey/],
    ['for old open traces', (store) => findTracesOpenFrom(store, { root: 7, open: 40 }), /traces_pkey/],
    ['for counts', (store) => countTransactionsUntil(store, [trace], 7), /transactions_\d+_trace_id_lt/],
    ['for earlier transactions', (store) => findTransactionsBefore(store, [trace], 7), /transactions_\d+_trace_id_lt/],
    ['for actions', (store) => findAllActionsOfTraces(store, [hash]), /actions_pkey/],
    ['for edits', (store) => findEditsOfBlock(store, 7), /account_edits_by_mc_seqno/],
    ['for wallets by address', (store) => findWallets(store, [account]), /jetton_wallets_pkey/],
    ['for jetton wallets', (store) => findWalletsAfter(store, [{ account, lt: 7n }]), /jetton_wallets_pkey/],
    ['for the names of a trace', (store) => findTracesNamed(store, hash), /hash_norm/],
    ['for the oldest block', (store) => findOldestBefore(store, { newest: 50, seconds: 100 }), /blocks_pkey/],
    [
      'for the blocks of accounts and traces',
      (store) =>
        findTouchedBlocks(store, {
          accounts: [account],
          traces: [hash],
          from: 5,
          to: 50,
          openBlocks: 32,
          openTransactions: 1000,
        }),
      /account_lt_idx/,
    ],
  ])('%s', async (_what, run, wanted) => {
    const plans = await plansOf([() => run(reader)]);
    expect(plans.join('\n')).not.toContain('Seq Scan');
    expect(plans.join('\n')).toMatch(wanted);
  });
});
