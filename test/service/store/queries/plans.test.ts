import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readAccountNames, readAccounts, readCodeMethods, readTopBalances } from '#service/store/queries/accounts.ts';
import {
  findBlocks,
  findMasterchainEnd,
  findMasterchainEnds,
  findShardTops,
  hasMasterchainBlock,
} from '#service/store/queries/blocks.ts';
import { findDnsRecords } from '#service/store/queries/dns.ts';
import { findTransactionsByMessage, findTransactionsOfMessages } from '#service/store/queries/message-transactions.ts';
import { findMessages } from '#service/store/queries/messages.ts';
import { findMultisigOrders, findMultisigs, findOrdersOf } from '#service/store/queries/multisigs.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { findTraces, findTransactionsOfTraces, readTracesOf } from '#service/store/queries/traces.ts';
import {
  findConsumers,
  findProducer,
  findStates,
  findTransactions,
  findWholeTransactions,
} from '#service/store/queries/transactions.ts';
import { findVestings } from '#service/store/queries/vestings.ts';
import { createPlannedReader, type PlannedReader } from '#test/support/query-plans.ts';
import { createRecordedIndex } from '#test/support/recorded-index.ts';
import type { StoreUnderTest } from '#test/support/store.ts';

let index: StoreUnderTest;
let reader: StoreReader;
let plansOf: PlannedReader['plansOf'];

beforeAll(async () => {
  index = await createRecordedIndex(import.meta.filename);
  const planned = createPlannedReader(index);
  reader = planned.reader;
  plansOf = (runs) => planned.plansOf(runs);
});
afterAll(() => index.close());

const hash = Buffer.alloc(32, 1);
/** Accounts as rare as most: one with every tenth transaction is found in the order of lt as well. */
const one = { workchain: -1, id: Buffer.alloc(32, 2) };
const other = { workchain: 0, id: Buffer.alloc(32, 3) };
const pages = (['asc', 'desc'] as const).map((sort) => ({ limit: 100, offset: 0, sort }));

describe('no query of the ledger reads a table whole', () => {
  it.each([
    ['by time', {}, 'gen_utime'],
    ['by workchain', { workchain: 0 }, 'gen_utime'],
    ['by shard', { shard: 2n ** 63n }, 'blocks_by_shard'],
    ['by id', { workchain: 0, shard: 2n ** 63n, seqno: 7 }, 'blocks_(pkey|by_seqno)'],
    ['by seqno', { seqno: 7 }, 'blocks_by_seqno'],
    ['by root hash', { rootHash: hash }, 'blocks_by_root_hash'],
    ['by file hash', { fileHash: hash }, 'blocks_by_file_hash'],
    ['of a masterchain block', { mcSeqno: 7 }, 'blocks_by_mc_seqno'],
    ['in a window of time', { startUtime: 1, endUtime: 2 }, 'gen_utime'],
    ['in a window of lt', { startLt: 1n, endLt: 2n }, 'blocks_by_start_lt'],
  ])('blocks %s', async (_what, filter, wanted) => {
    const found = await plansOf(pages.map((page) => () => findBlocks(reader, filter, page)));
    expect(found.join('\n')).not.toContain('Seq Scan');
    expect(found.every((plan) => new RegExp(`Index .* (using|on) \\w*${wanted}`).test(plan))).toBe(true);
  });

  it('the ends, tops and seqnos of the masterchain', async () => {
    const found = await plansOf([
      () => findMasterchainEnd(reader, 'first'),
      () => findMasterchainEnd(reader, 'last'),
      () => findMasterchainEnds(reader),
      () => findShardTops(reader, 7),
      () => hasMasterchainBlock(reader, 7),
      () => findStates(reader, [hash]),
      () => findConsumers(reader, [hash]),
      () => findProducer(reader, one, 7n),
    ]);
    expect(found.join('\n')).not.toMatch(/Seq Scan|Sort Method/);
    expect(found).toHaveLength(8);
  });

  it.each([
    ['by lt', {}, 'lt_account_idx'],
    ['of the masterchain', { workchain: -1 }, 'lt_idx'],
    ['of a shard', { workchain: 0, shard: 2n ** 63n }, 'lt'],
    ['of a block', { workchain: 0, shard: 2n ** 63n, seqno: 7 }, 'lt'],
    ['of blocks with a seqno', { seqno: 7 }, 'lt'],
    ['of a masterchain block', { mcSeqno: 7 }, 'mc_seqno_idx'],
    ['of an account', { accounts: [one] }, 'account_lt_idx'],
    ['of some accounts', { accounts: [one, other] }, 'account_lt_idx'],
    ['of an account in a window of time', { accounts: [one], startUtime: 1 }, 'account_lt_idx'],
    ['of all but an account', { excludedAccounts: [one] }, 'lt_account_idx'],
    ['by hash', { hashes: [hash] }, 'pkey'],
    ['at an lt', { lt: 7n }, 'lt_account_idx'],
    ['in a window of time', { startUtime: 1_795_221_000, endUtime: 1_795_222_000 }, '(utime_)?lt_'],
    ['in a window of lt', { startLt: 1n, endLt: 2n }, 'lt_account_idx'],
  ])('transactions %s', async (_what, filter, wanted) => {
    const lists = [findTransactions, findWholeTransactions];
    const found = await plansOf(pages.flatMap((page) => lists.map((find) => () => find(reader, filter, page))));
    expect(found.join('\n')).not.toContain('Seq Scan');
    expect(found.some((plan) => new RegExp(`Index .* (using|on) transactions_\\d+_${wanted}`).test(plan))).toBe(true);
  });

  it('the lists of some accounts no further than the page goes: only the rows of the page are sorted', async () => {
    const accounts = [one, other];
    const lists = [findTransactions, findWholeTransactions];
    const found = await plansOf(pages.flatMap((page) => lists.map((find) => () => find(reader, { accounts }, page))));
    expect(found.map((plan) => plan.match(/(?<!Incremental )\bSort  \(/g)?.length)).toEqual([1, 1, 1, 1]);
  });

  it.each([
    ['by lt', {}, 'created_lt_hash_idx'],
    ['by hash', { hashes: [hash] }, 'pkey'],
    ['by body', { bodyHash: hash }, 'body_hash_created_lt_hash_idx'],
    ['by opcode', { opcode: 7 }, 'opcode_created_lt_hash_idx'],
    ['from an account', { source: one }, 'source_created_lt_idx'],
    ['to an account', { destination: one }, 'destination_created_lt_hash_idx'],
    ['from outside', { source: 'null' as const }, 'created_lt_hash_idx'],
    ['to outside', { destination: 'null' as const }, '(destination_)?created_lt_hash_idx'],
    ['that are not from outside', { excludeExternals: true }, 'created_lt_hash_idx'],
    ['that are from outside', { onlyExternals: true }, 'created_lt_hash_idx'],
    ['in a window of time', { startUtime: 1, endUtime: 2 }, 'created_at_hash_idx'],
    ['in a window of lt', { startLt: 1n, endLt: 2n }, 'created_lt_hash_idx'],
    ['that were taken', { direction: 'in' as const }, 'created_lt_hash_idx'],
    ['that were sent', { direction: 'out' as const }, 'created_lt_hash_idx'],
  ])('messages %s', async (_what, filter, wanted) => {
    const found = await plansOf(pages.map((page) => () => findMessages(reader, filter, page)));
    expect(found.join('\n')).not.toContain('Seq Scan');
    expect(found.some((plan) => new RegExp(`Index .* (using|on) messages_\\d+_${wanted}`).test(plan))).toBe(true);
  });

  it.each([
    ['to an account', { destination: one }],
    ['by opcode', { opcode: 7 }],
    ['by body', { bodyHash: hash }],
  ])(
    'nor sorts messages from outside %s, which have no lt, but for the times of one among each other',
    async (_what, filter) => {
      const found = await plansOf(pages.map((page) => () => findMessages(reader, filter, page)));
      expect(found.filter((plan) => /(?<!Incremental )Sort  \(/.test(plan))).toEqual([]);
      expect(found.filter((plan) => plan.includes('Presorted Key: m.created_lt, m.hash\n'))).toHaveLength(2);
      expect(found).toHaveLength(2);
    },
  );

  it('whole transactions of messages', async () => {
    const found = await plansOf(pages.map((page) => () => findTransactionsOfMessages(reader, [hash], page)));
    expect(found).toHaveLength(2);
    expect(found.join('\n')).not.toContain('Seq Scan');
    expect(found.join('\n')).toMatch(/Index .* (using|on) transactions_\d+_in_msg_hash_idx/);
  });

  it.each(['in', 'out', 'both'] as const)('transactions of messages, %s', async (end) => {
    const filters = [{ hashes: [hash] }, { bodyHash: hash }, { opcode: 7 }, { opcode: 7, source: one }];
    const found = await plansOf(
      filters.flatMap((filter) => pages.map((page) => () => findTransactionsByMessage(reader, filter, end, page))),
    );
    expect(found.join('\n')).not.toContain('Seq Scan');
  });

  const everyTrace = { traceIds: [], txHashes: [], msgHashes: [] };
  const account = Buffer.alloc(33, 2);
  it.each([
    ['by lt', {}, 'traces_by_end_lt'],
    ['in a window of time', { startUtime: 1, endUtime: 2 }, 'traces_by_end_utime'],
    ['in a window of lt', { startLt: 1n, endLt: 2n }, 'traces_by_end_lt'],
    ['of an account', { account }, 'trace_accounts_by_end_lt'],
    ['of an account in a window of time', { account, startUtime: 1 }, 'trace_accounts_by_end_utime'],
    ['of a masterchain block', { mcSeqno: 7 }, 'traces_by_mc_seqno_end'],
    ['of an account in a masterchain block', { account, mcSeqno: 7 }, '(traces_by_mc_seqno_end|trace_accounts_pkey)'],
    ['by id', { traceIds: [hash] }, 'traces_pkey'],
    ['by transaction', { txHashes: [hash] }, 'transactions_\\d+_pkey'],
    ['by message', { msgHashes: [hash] }, 'transactions_\\d+_in_msg_hash_idx'],
  ])('traces %s', async (_what, filter, wanted) => {
    const found = await plansOf(pages.map((page) => () => findTraces(reader, { ...everyTrace, ...filter }, page)));
    expect(found.join('\n')).not.toContain('Seq Scan');
    expect(found.every((plan) => new RegExp(`Index .* (using|on) ${wanted}`).test(plan))).toBe(true);
  });

  it('no more of blocks for many transactions than theirs: no planner has a choice', async () => {
    const free = createPlannedReader(index, { mayReadWhole: true });
    const plans = await free.plansOf([
      async () => {
        const found = await findWholeTransactions(free.reader, {}, { limit: 1000, offset: 0, sort: 'asc' });
        expect(found).toHaveLength(1000);
      },
    ]);
    expect(plans).toHaveLength(1);
    expect(plans[0]).toMatch(/SubPlan 1\n.*using blocks_pkey.*\n +Index Cond: .*workchain = t.*shard = t.*seqno = t/);
    expect(plans[0]).not.toMatch(/Join|Nested Loop/);
  });

  it('accounts, their codes, the richest of them, and the transactions of traces', async () => {
    const keys = [account, Buffer.alloc(33, 3)];
    const found = await plansOf([
      () => readAccounts(reader, { accounts: keys, codeHashes: [], bocs: 'all' }),
      () => readAccounts(reader, { accounts: keys, codeHashes: [hash], bocs: 'data' }),
      () => readAccountNames(reader, keys, 1n),
      () => readCodeMethods(reader, [hash]),
      () => readTopBalances(reader, { limit: 10, offset: 0 }),
      () => findTransactionsOfTraces(reader, [{ trace_id: hash, start_lt: 1n, end_lt: 2n }]),
      () => readTracesOf(reader, [hash], [32], 1),
    ]);
    expect(found.join('\n')).not.toContain('Seq Scan');
    expect(found[6]).toMatch(/Index .* written_traces_pkey/);
    expect(found[3]).toMatch(/Index .* (using|on) codes_pkey/);
    expect(found[4]).toMatch(/Index .* using latest_account_states_by_balance/);
    expect(found).toHaveLength(7);
  });
});

describe('no query of contracts reads a table whole', () => {
  const [key, another] = [Buffer.alloc(33, 2), Buffer.alloc(33, 3)];
  const page = { limit: 100, offset: 0 };
  const noMultisig = { addresses: [], wallets: [] };
  const noOrder = { addresses: [], multisigs: [] };
  const noVesting = { addresses: [], wallets: [], inWhitelist: false };
  const keys = [key, another];

  it.each<[what: string, run: () => Promise<unknown>, wanted: RegExp]>([
    ['names of a wallet', () => findDnsRecords(reader, { wallet: key }, page), /dns_entries_by_wallet/],
    ['a name', () => findDnsRecords(reader, { domain: 'foo.ton' }, page), /dns_entries_by_domain/],
    ['names of accounts', () => readAccountNames(reader, keys, 1n), /dns_entries_of_themselves/],
    [
      'multisigs by address',
      () => findMultisigs(reader, { ...noMultisig, addresses: keys }, pages[0]!),
      /multisigs_pkey/,
    ],
    [
      'multisigs of signers and proposers',
      () => findMultisigs(reader, { ...noMultisig, wallets: keys }, pages[1]!),
      /multisig_members_pkey[^]*multisigs_id_key/,
    ],
    [
      'orders by address',
      () => findMultisigOrders(reader, { ...noOrder, addresses: keys }, pages[0]!),
      /multisig_orders_pkey/,
    ],
    [
      'orders of a multisig',
      () => findMultisigOrders(reader, { ...noOrder, multisigs: [key] }, pages[1]!),
      /multisig_orders_by_multisig/,
    ],
    ['orders of multisigs', () => findOrdersOf(reader, keys, 4000), /multisig_orders_by_multisig/],
    [
      'vesting contracts by address',
      () => findVestings(reader, { ...noVesting, addresses: keys }, page),
      /vesting_contracts_pkey/,
    ],
    [
      'vesting contracts of senders and owners',
      () => findVestings(reader, { ...noVesting, wallets: keys }, page),
      /vesting_contracts_by_sender[^]*vesting_contracts_by_owner/,
    ],
    [
      'vesting contracts with whitelists',
      () => findVestings(reader, { addresses: [], wallets: keys, inWhitelist: true }, page),
      /vesting_contracts_by_sender[^]*vesting_contracts_by_owner[^]*vesting_whitelisted_pkey/,
    ],
  ])('%s', async (_what, run, wanted) => {
    const found = await plansOf([run]);
    expect(found.join('\n')).not.toContain('Seq Scan');
    expect(found.join('\n')).toMatch(wanted);
  });
});
