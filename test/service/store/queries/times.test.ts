import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { actionOrder, findActions } from '#service/store/queries/actions.ts';
import { blockOrder, findBlocks } from '#service/store/queries/blocks.ts';
import { findJettonBurns, findJettonTransfers } from '#service/store/queries/jettons.ts';
import { findMessages, messageOrder } from '#service/store/queries/messages.ts';
import { findNftTransfers } from '#service/store/queries/nfts.ts';
import { positionOf, type Order, type Position } from '#service/store/queries/order.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import type { TimeWindow } from '#service/store/queries/times.ts';
import { findTraces, traceOrder } from '#service/store/queries/traces.ts';
import { findTransactions, transactionOrder, type SortedPage } from '#service/store/queries/transactions.ts';
import { transferOrder } from '#service/store/queries/transfers.ts';
import type { TraceRow } from '#service/store/tables.ts';
import { makeActions, readMadeTransactions, writeActions } from '#test/support/made-actions.ts';
import { createRecordedIndex } from '#test/support/recorded-index.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { drawTokens, insertTokens, keyOf } from '#test/support/token-rows.ts';

/** The first second whose signed 32 bits are negative. */
const turn = 2 ** 31;

/** Times in the middle of the rows, which become `turn`. */
const chainMiddle = 1_795_222_400;
const tokensMiddle = 1_700_000_030;

const columns = [
  ['blocks', 'gen_utime', chainMiddle],
  ['transactions', 'utime', chainMiddle],
  ['messages', 'created_at', chainMiddle],
  ['traces', 'end_utime', chainMiddle],
  ['trace_accounts', 'end_utime', chainMiddle],
  ['actions', 'end_utime', chainMiddle],
  ['actions', 'trace_end_utime', chainMiddle],
  ['action_accounts', 'end_utime', chainMiddle],
  ['action_accounts', 'trace_end_utime', chainMiddle],
  ['jetton_transfers', 'tx_utime', tokensMiddle],
  ['jetton_burns', 'tx_utime', tokensMiddle],
  ['nft_transfers', 'tx_utime', tokensMiddle],
] as const;

type PagePart = SortedPage & { readonly after?: Position | undefined };
type List = {
  readonly middle: number;
  readonly order: (window: TimeWindow, page: SortedPage) => Order;
  readonly find: (reader: StoreReader, window: TimeWindow, page: PagePart) => Promise<readonly object[]>;
};

let index: StoreUnderTest;
/** The first two accounts have the most transactions. */
let busiest: readonly { readonly key: Buffer; readonly workchain: number; readonly id: Buffer }[];

const noNames = { txHashes: [], msgHashes: [], traceIds: [] };
const everyAction = { ...noNames, actionIds: [], types: [], excludedTypes: [], supported: undefined };
const chain = { middle: chainMiddle };
const tokens = { middle: tokensMiddle, order: transferOrder };
const owners = [0, 1, 2].map((at) => keyOf('owner', at));
const ofOwners = { owners, wallets: [], items: [], master: undefined, collection: undefined };
const ofAll = { ...ofOwners, owners: [] };

const lists: Readonly<Record<string, List>> = {
  blocks: { ...chain, order: (_window, page) => blockOrder(page), find: findBlocks },
  transactions: { ...chain, order: transactionOrder, find: findTransactions },
  'transactions of an account': {
    ...chain,
    order: (window, page) => transactionOrder({ ...window, accounts: busiest.slice(0, 1) }, page),
    find: (reader, window, page) => findTransactions(reader, { ...window, accounts: busiest.slice(0, 1) }, page),
  },
  'transactions of two accounts': {
    ...chain,
    order: (window, page) => transactionOrder({ ...window, accounts: busiest }, page),
    find: (reader, window, page) => findTransactions(reader, { ...window, accounts: busiest }, page),
  },
  messages: { ...chain, order: messageOrder, find: findMessages },
  traces: {
    ...chain,
    order: traceOrder,
    find: (reader, window, page) => findTraces(reader, { ...noNames, ...window }, page),
  },
  'traces of an account': {
    ...chain,
    order: traceOrder,
    find: (reader, window, page) => findTraces(reader, { ...noNames, ...window, account: busiest[0]!.key }, page),
  },
  actions: {
    ...chain,
    order: actionOrder,
    find: (reader, window, page) => findActions(reader, { ...everyAction, ...window }, page),
  },
  'actions of an account': {
    ...chain,
    order: actionOrder,
    find: (reader, window, page) => findActions(reader, { ...everyAction, ...window, account: busiest[0]!.key }, page),
  },
  'actions of an account and a type': {
    ...chain,
    order: actionOrder,
    find: (reader, window, page) =>
      findActions(reader, { ...everyAction, ...window, account: busiest[0]!.key, types: ['ton_transfer'] }, page),
  },
  'transfers of jettons': {
    ...tokens,
    find: (reader, window, page) => findJettonTransfers(reader, { ...ofAll, ...window }, page),
  },
  'transfers of jettons of some owners': {
    ...tokens,
    find: (reader, window, page) => findJettonTransfers(reader, { ...ofOwners, ...window }, page),
  },
  'burns of jettons': {
    ...tokens,
    find: (reader, window, page) => findJettonBurns(reader, { ...ofAll, ...window }, page),
  },
  'transfers of NFTs': {
    ...tokens,
    find: (reader, window, page) => findNftTransfers(reader, { ...ofOwners, ...window }, page),
  },
};

/** Windows before the turn, behind it and over it, as seconds from it. */
const windows: readonly TimeWindow[] = [
  { startUtime: -15, endUtime: 15 },
  { startUtime: -15 },
  { endUtime: 15 },
  { startUtime: 3 },
  { endUtime: -3 },
  { startUtime: 0 },
  {},
];
const pages: readonly SortedPage[] = [
  { limit: 200, offset: 0, sort: 'asc' },
  { limit: 200, offset: 0, sort: 'desc' },
  { limit: 5, offset: 7, sort: 'desc' },
];

const around = (window: TimeWindow, middle: number): TimeWindow =>
  Object.fromEntries(Object.entries(window).map(([end, seconds]) => [end, middle + (seconds as number)]));

/** Names of rows, which no time is part of. */
function namesOf(rows: readonly object[]): readonly string[] {
  return rows.map((row) =>
    Object.entries(row)
      .filter(([name]) => /^(hash|root_hash|trace_id|action_id|tx_hash|tx_lt)$/.test(name))
      .map(([, value]) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value)))
      .join(),
  );
}

function answersOf(
  { middle, find }: List,
  reader: StoreReader,
  moved: number,
): Promise<readonly (readonly string[])[]> {
  return Promise.all(
    windows.flatMap((window) =>
      pages.map(async (page) => namesOf(await find(reader, around(window, middle + moved), page))),
    ),
  );
}

let reader: StoreReader;
let before: Readonly<Record<string, readonly (readonly string[])[]>>;

beforeAll(async () => {
  index = await createRecordedIndex(import.meta.filename);
  const { store } = index;
  reader = { read: (sql, values) => store.read(sql, values) };
  const rows = await store.read<{ account: Buffer }>(
    'SELECT account FROM transactions GROUP BY account ORDER BY count(*) DESC LIMIT 2',
  );
  busiest = rows.map(({ account }) => ({ key: account, workchain: account[0]! - 128, id: account.subarray(1) }));
  const traces = await store.read<TraceRow>('SELECT * FROM traces');
  await writeActions(store, makeActions(traces, await readMadeTransactions(store)));
  await insertTokens(store, drawTokens(20_380_119));
  const found: [string, readonly (readonly string[])[]][] = [];
  for (const [name, list] of Object.entries(lists)) found.push([name, await answersOf(list, reader, 0)]);
  before = Object.fromEntries(found);
  await store.transaction(async ({ query }) => {
    for (const [table, column, middle] of columns) {
      await query(
        `UPDATE ${table} SET ${column} = (((${column}::bigint + $1 + 2147483648) & 4294967295) - 2147483648)::integer`,
        [turn - middle],
      );
    }
  });
});
afterAll(() => index.close());

describe('a list by time, of a network whose clock passed 2038', () => {
  it.each(Object.keys(lists))('has the rows and the order that it has at another time: %s', async (name) => {
    const list = lists[name]!;
    const late = { ...reader, passes2038: true };
    expect(await answersOf(list, late, turn - list.middle)).toEqual(before[name]);
    expect(before[name]!.filter((names) => names.length > 0).length).toBeGreaterThan(15);
  });

  it.each(Object.keys(lists))('goes on behind its rows: %s', async (name) => {
    const list = lists[name]!;
    const late = { ...reader, passes2038: true };
    for (const sort of ['asc', 'desc'] as const) {
      const window = { startUtime: turn - 15, endUtime: turn + 15 };
      const page = { limit: 40, offset: 0, sort };
      const whole = await list.find(late, window, page);
      const order = list.order(window, page);
      for (let at = 0; at < whole.length; at += 5) {
        const rest = await list.find(late, window, { ...page, after: positionOf(order, whole[at]!) });
        const shown = namesOf(whole).slice(at + 1);
        expect(namesOf(rest).slice(0, shown.length)).toEqual(shown);
      }
      expect(whole.length).toBeGreaterThan(9);
    }
  });
});
