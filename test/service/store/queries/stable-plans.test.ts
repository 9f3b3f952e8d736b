import { expect, it } from 'vitest';

import { accountOfKey } from '#service/store/account-key.ts';
import { readAccountNames, readCodeMethods } from '#service/store/queries/accounts.ts';
import {
  findMasterchainEnd,
  findMasterchainEnds,
  findShardTops,
  hasMasterchainBlock,
} from '#service/store/queries/blocks.ts';
import { ltsOfAccountTimes, ltsOfBlocks, ltsOfTimes } from '#service/store/queries/lt-windows.ts';
import { findTransactionsByMessage, findTransactionsOfMessages } from '#service/store/queries/message-transactions.ts';
import { findMessages, readHolders, type MessageFilter } from '#service/store/queries/messages.ts';
import { readTokens } from '#service/store/queries/metadata.ts';
import { findTakenMessages } from '#service/store/queries/pending.ts';
import {
  findTransactionsOfTraces,
  readTracesOf,
  readTransactionNames,
  readTransactionsOfMessages,
  readWrittenTraces,
} from '#service/store/queries/traces.ts';
import {
  findConsumers,
  findProducer,
  findStates,
  findTransactions,
  findWholeTransactions,
  findTransactionsByHash,
  readTransactionsAt,
} from '#service/store/queries/transactions.ts';
import { createRecordedIndex } from '#test/support/recorded-index.ts';

type Sent = {
  readonly hash: Buffer;
  readonly opcode: number;
  readonly body_hash: Buffer;
  readonly source: Buffer;
  readonly destination: Buffer;
};

/** Postgres plans the first five calls of a statement by their values, whatever comes of it. */
const CALLS = 8;

const pages = (['asc', 'desc'] as const).map((sort) => ({ limit: 1, offset: 0, sort }));

it('what asks by keys keeps its plan, although each call has a single one', async () => {
  const index = await createRecordedIndex(import.meta.filename);
  const store = index.another({ poolSize: 1 });
  const [sent] = await store.read<Sent>(
    `SELECT m.hash, m.opcode, m.body_hash, m.source, m.destination FROM messages m JOIN transactions t ON t.in_msg_hash = m.hash
      JOIN transactions s ON s.account = m.source AND s.lt < m.created_lt AND s.lt >= m.created_lt - 256
      WHERE m.opcode IS NOT NULL LIMIT 1`,
  );
  const { hash: message, ...of } = sent!;
  const soles: readonly MessageFilter[] = [
    { hashes: [message] },
    { opcode: of.opcode },
    { bodyHash: of.body_hash },
    { destination: accountOfKey(of.destination) },
  ];
  const [taker] = await findConsumers(store, [message]);
  const { hash, lt, trace_id, account } = taker!;
  for (let call = 0; call < CALLS; call++) {
    for (const page of pages) {
      for (const sole of soles) {
        expect(await readHolders(store, await findMessages(store, sole, page))).toHaveLength(1);
        const places = await findTransactionsByMessage(store, sole, 'both', page);
        expect(await readTransactionsAt(store, places)).toHaveLength(1);
      }
      const source = { source: accountOfKey(of.source) };
      expect(await findMessages(store, source, page)).toHaveLength(1);
      expect(await findTransactionsByMessage(store, source, 'out', page)).toHaveLength(1);
      expect(await findTransactionsOfMessages(store, [message], page)).toHaveLength(1);
      for (const find of [findTransactions, findWholeTransactions]) {
        expect(await find(store, { hashes: [hash] }, page)).toHaveLength(1);
        expect(await find(store, {}, page)).toHaveLength(1);
        expect(await find(store, { accounts: [accountOfKey(account)] }, page)).toHaveLength(1);
      }
    }
    expect(await findTransactionsByHash(store, [hash])).toHaveLength(1);
    expect(await findConsumers(store, [message])).toHaveLength(1);
    expect(await readTransactionNames(store, [hash])).toHaveLength(1);
    expect(await readTransactionsOfMessages(store, [message])).toHaveLength(2);
    expect(await findTransactionsOfTraces(store, [{ trace_id, start_lt: lt, end_lt: lt }])).toHaveLength(1);
    expect((await readAccountNames(store, [account], 1n)).rows).toHaveLength(1);
    expect((await findTakenMessages(store, [{ key: message, sinceUtime: 0 }])).size).toBe(1);
    expect(await findMasterchainEnds(store)).toBeDefined();
    expect(await findMasterchainEnd(store, 'last')).toBeDefined();
    expect(await hasMasterchainBlock(store, taker!.mc_seqno)).toBe(true);
    expect(await findShardTops(store, taker!.mc_seqno)).not.toEqual([]);
    expect(await findProducer(store, accountOfKey(account), lt + 1n)).toHaveLength(1);
    const { utime, ...block } = taker!;
    const times = { startUtime: utime, endUtime: utime };
    for (const reader of [store, { ...store, passes2038: true }]) {
      const windows = [
        await ltsOfTimes(reader, times),
        await ltsOfAccountTimes(reader, accountOfKey(account), times),
        await ltsOfBlocks(reader, { seqno: block.seqno }),
        await ltsOfBlocks(reader, { shard: block.shard }),
        await ltsOfBlocks(reader, { workchain: block.workchain, shard: block.shard }),
        await ltsOfBlocks(reader, block),
      ];
      expect(windows.filter(({ from, to }) => from > lt || to < lt)).toEqual([]);
    }
    await Promise.all([
      findStates(store, [hash]),
      readCodeMethods(store, [hash]),
      readTokens(store, { accounts: [account], balances: [account], since: 1n }),
      readWrittenTraces(store, [trace_id], 1),
      readTracesOf(store, [trace_id], [32], 1),
    ]);
  }
  const kept = await store.read<{ name: string; generic_plans: bigint }>(
    'SELECT name, generic_plans FROM pg_prepared_statements ORDER BY name',
  );
  expect(kept.filter((one) => one.generic_plans < CALLS - 5)).toEqual([]);
  const ofMessages = ['messages', 'sent', 'takers'].flatMap((list) =>
    ['hashes', 'opcode', 'body', 'source', 'destination'].map((sole) => `${list}_of_${sole}`),
  );
  // Who took what an account sent is in no order of its messages.
  const inOrder = ofMessages.filter((name) => name !== 'takers_of_source');
  const names = [
    'account_names',
    'account_states',
    'code_methods',
    'consumers',
    'masterchain_block',
    'masterchain_ends',
    'masterchain_last',
    'message_hashes',
    'message_holders',
    'producer',
    'senders',
    'shard_tops',
    'taken_messages',
    'tokens',
    'transaction_names',
    'transactions_asc',
    'transactions_at',
    'transactions_by_hash',
    'transactions_desc',
    'transactions_of_account_asc',
    'transactions_of_account_desc',
    'transactions_of_hashes_asc',
    'transactions_of_hashes_desc',
    'transactions_of_messages',
    'transactions_of_messages_asc',
    'transactions_of_messages_desc',
    'transactions_of_traces',
    ...['asc', 'desc', 'of_account_asc', 'of_account_desc', 'of_hashes_asc', 'of_hashes_desc'].map(
      (end) => `whole_transactions_${end}`,
    ),
    'written_traces',
    'written_traces_up_to',
    ...['lt_before', 'lt_after', 'start_lt_of_account', 'end_lt_of_account', 'lts_of_shard'].flatMap((name) => [
      name,
      `${name}_unsigned`,
    ]),
    'lts_of_seqno',
    'lts_of_workchain_shard',
    'lts_of_workchain_shard_seqno',
    ...inOrder.flatMap((name) => [`${name}_asc`, `${name}_desc`]),
  ];
  expect(kept.map(({ name }) => name)).toEqual(names.toSorted());
  await index.close();
});
