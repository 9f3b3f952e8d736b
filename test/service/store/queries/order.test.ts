import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readTopBalances, topBalanceOrder } from '#service/store/queries/accounts.ts';
import { blockOrder, findBlocks } from '#service/store/queries/blocks.ts';
import { findTransactionsByMessage } from '#service/store/queries/message-transactions.ts';
import { findMessages, messageOrder } from '#service/store/queries/messages.ts';
import {
  positionOf,
  type Order,
  type OrderKey,
  type Position,
  type PositionValue,
} from '#service/store/queries/order.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { findTraces, traceOrder } from '#service/store/queries/traces.ts';
import { findTransactions, transactionOrder, type SortedPage } from '#service/store/queries/transactions.ts';
import { createRecordedIndex } from '#test/support/recorded-index.ts';
import type { StoreUnderTest } from '#test/support/store.ts';

let index: StoreUnderTest;
let reader: StoreReader;
let busiest: readonly { readonly workchain: number; readonly id: Buffer }[];

beforeAll(async () => {
  index = await createRecordedIndex(import.meta.filename);
  reader = { read: (sql, values) => index.store.read(sql, values) };
  const rows = await reader.read<{ account: Buffer }>(
    'SELECT account FROM transactions GROUP BY account ORDER BY count(*) DESC LIMIT 3',
    [],
  );
  busiest = rows.map(({ account }) => ({ workchain: account[0]! - 128, id: account.subarray(1) }));
});
afterAll(() => index.close());

type PagePart = SortedPage & { readonly after?: Position | undefined };
type List = {
  readonly order: (page: SortedPage) => Order;
  readonly find: (page: PagePart) => Promise<readonly object[]>;
};

const lastSecond = 1_795_222_600;
const window = { startUtime: lastSecond - 300, endUtime: lastSecond };
const everyTrace = { traceIds: [], txHashes: [], msgHashes: [] };

/** Lists of each kind, and of each order that a kind has. */
const lists: readonly (readonly [string, () => List])[] = [
  ['balances', () => ({ order: () => topBalanceOrder, find: (page) => readTopBalances(reader, page) })],
  ['blocks', () => ({ order: blockOrder, find: (page) => findBlocks(reader, { workchain: 0 }, page) })],
  ...(
    [
      ['transactions', () => ({})],
      ['transactions in a window of time', () => window],
      ['transactions of an account', () => ({ accounts: busiest.slice(0, 1) })],
      ['transactions of some accounts', () => ({ accounts: busiest })],
    ] as const
  ).map(
    ([what, filterOf]) =>
      [
        what,
        (): List => {
          const filter = filterOf();
          return {
            order: (page) => transactionOrder(filter, page),
            find: (page) => findTransactions(reader, filter, page),
          };
        },
      ] as const,
  ),
  ...(
    [
      ['messages', {}],
      ['messages in a window of time', window],
      ['messages from outside', { onlyExternals: true }],
    ] as const
  ).map(
    ([what, filter]) =>
      [
        what,
        (): List => ({
          order: (page) => messageOrder(filter, page),
          find: (page) => findMessages(reader, filter, page),
        }),
      ] as const,
  ),
  ...(['in', 'out', 'both'] as const).map(
    (direction) =>
      [
        `transactions of messages, ${direction}`,
        (): List => ({
          order: (page) => transactionOrder({}, page),
          find: (page) => findTransactionsByMessage(reader, { opcode: 0 }, direction, page),
        }),
      ] as const,
  ),
  ...([{}, window] as const).map(
    (filter) =>
      [
        `traces${'startUtime' in filter ? ' in a window of time' : ''}`,
        (): List => ({
          order: (page) => traceOrder(filter, page),
          find: (page) => findTraces(reader, { ...everyTrace, ...filter }, page),
        }),
      ] as const,
  ),
];

/** The least and the greatest that cursors may say. */
const extremes: Readonly<Record<OrderKey['type'], readonly [PositionValue, PositionValue]>> = {
  bigint: [-(2n ** 63n), 2n ** 63n - 1n],
  integer: [-(2 ** 31), 2 ** 31 - 1],
  utime: [-(2 ** 31), 2 ** 31 - 1],
  bytea: [Buffer.alloc(0), Buffer.alloc(64, 0xff)],
  numeric: [1n - 10n ** 78n, 10n ** 78n - 1n],
  text: ['', '\u{10ffff}'],
};

describe('a list behind the place of one of its rows', () => {
  it.each(lists)('is what is left of it: %s', async (_what, open) => {
    const { order, find } = open();
    for (const sort of ['asc', 'desc'] as const) {
      const first = { limit: 700, offset: 0, sort };
      const columns = order(first);
      const whole = (await find(first)).map((row) => positionOf(columns, row));
      const seen: Position[] = [];
      for (let after: Position | undefined; seen.length < whole.length; after = seen.at(-1)) {
        const rows = await find({ limit: 59, offset: 0, sort, after });
        expect(rows.length).toBeGreaterThan(0);
        seen.push(...rows.map((row) => positionOf(columns, row)));
      }
      expect(seen.slice(0, whole.length)).toEqual(whole);
      expect(whole.length).toBeGreaterThan(59);
    }
  });

  it.each(lists)(
    'of the first or the last row that there could be is all of it, or nothing: %s',
    async (_what, open) => {
      const { order, find } = open();
      for (const sort of ['asc', 'desc'] as const) {
        const page = { limit: 3, offset: 0, sort };
        const columns = order(page);
        const [least, most] = [0, 1].map((end) =>
          columns.map(({ type, nullable }) => (nullable && end === 1 ? null : extremes[type][end]!)),
        );
        const [first, last] = columns[0]?.sort === 'asc' ? [least, most] : [most, least];
        expect(await find({ ...page, after: first })).toEqual(await find(page));
        expect(await find({ ...page, after: last })).toEqual([]);
      }
    },
  );
});
