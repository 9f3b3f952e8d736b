import { Cell, Dictionary } from '@ton/core';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { accountOfKey } from '#service/store/account-key.ts';
import { findTransactionsByMessage, findTransactionsOfMessages } from '#service/store/queries/message-transactions.ts';
import { findMessages, readHolders, type MessageEnd, type MessageListFilter } from '#service/store/queries/messages.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { readTransactionsAt, type SortedPage } from '#service/store/queries/transactions.ts';
import type { MessageRow } from '#service/store/tables.ts';
import { createRecordedIndex, recordedRows } from '#test/support/recorded-index.ts';
import type { StoreUnderTest } from '#test/support/store.ts';

/** A message, who sent it and who took it: one from outside may be taken more than once. */
type Sent = MessageRow & { readonly producer: Holder | undefined; readonly consumers: readonly Holder[] };
type Holder = { readonly hash: string; readonly lt: bigint; readonly account: string };

let index: StoreUnderTest;
let reader: StoreReader;
let all: readonly Sent[] = [];

const keyOf = (bytes: Uint8Array | null): string | null => (bytes === null ? null : Buffer.from(bytes).toString('hex'));

beforeAll(async () => {
  index = await createRecordedIndex(import.meta.filename);
  reader = index.store;
  const rows = await recordedRows();
  const transactions = rows.flatMap((one) => one.transactions);
  const holderOf = (row: (typeof transactions)[number]): Holder => ({
    hash: keyOf(row.hash)!,
    lt: row.lt,
    account: keyOf(row.account)!,
  });
  const takers = Map.groupBy(transactions, (row) => keyOf(row.in_msg_hash));
  const producers = new Map(
    transactions.flatMap((row) => sentBy(row.boc).map((hash) => [hash, holderOf(row)] as const)),
  );
  const once = new Map(rows.flatMap(({ messages }) => messages).map((row) => [keyOf(row.hash), row]));
  all = [...once.values()].map((row) => ({
    ...row,
    consumers: (takers.get(keyOf(row.hash)) ?? []).map(holderOf).toSorted((a, b) => Number(a.lt - b.lt)),
    producer: producers.get(keyOf(row.hash)!),
  }));
});
afterAll(() => index.close());

/** Hashes of the messages that a transaction sent, as another decoder reads them. */
function sentBy(boc: Uint8Array): string[] {
  const messages = Cell.fromBoc(Buffer.from(boc))[0]!.refs[0]!.beginParse();
  if (messages.loadBit()) messages.loadRef();
  const sent = messages.loadDict(Dictionary.Keys.Uint(15), Dictionary.Values.Cell());
  return sent.values().map((cell) => cell.hash().toString('hex'));
}

const isEnd = (column: Uint8Array | null, end: MessageEnd | undefined): boolean => {
  if (end === undefined) return true;
  if (end === 'null' || column === null) return end === 'null' && column === null;
  const { workchain, id } = accountOfKey(column);
  return workchain === end.workchain && id.equals(end.id);
};

function passing(filter: MessageListFilter): Sent[] {
  const named = new Set((filter.hashes ?? []).map(keyOf));
  const byTime = filter.startUtime !== undefined || filter.endUtime !== undefined;
  return all.filter((row) => {
    const placed = byTime ? row.created_at : row.created_lt;
    return (
      (named.size === 0 || named.has(keyOf(row.hash)) || named.has(keyOf(row.hash_norm))) &&
      (filter.bodyHash === undefined || keyOf(filter.bodyHash) === keyOf(row.body_hash)) &&
      (filter.opcode === undefined || filter.opcode === row.opcode) &&
      isEnd(row.source, filter.source) &&
      isEnd(row.destination, filter.destination) &&
      (filter.excludeExternals !== true || placed !== null) &&
      (filter.onlyExternals !== true || placed === null) &&
      (filter.direction !== 'in' || row.consumers.length > 0) &&
      (filter.direction !== 'out' || row.producer !== undefined) &&
      within(row.created_at, filter.startUtime, filter.endUtime) &&
      within(row.created_lt, filter.startLt, filter.endLt)
    );
  });
}

function within<T extends number | bigint>(value: T | null, from: T | undefined, to: T | undefined): boolean {
  if (from === undefined && to === undefined) return true;
  return value !== null && (from === undefined || value >= from) && (to === undefined || value <= to);
}

/** Null stands behind everything, before it when the order is turned. */
function expected(filter: MessageListFilter, { limit, offset, sort }: SortedPage): string[] {
  const byTime = filter.startUtime !== undefined || filter.endUtime !== undefined;
  const placeOf = (row: Sent): number => Number((byTime ? row.created_at : row.created_lt) ?? Infinity);
  const compare = (a: Sent, b: Sent): number =>
    (placeOf(a) === placeOf(b) ? 0 : placeOf(a) - placeOf(b)) || Buffer.compare(a.hash, b.hash);
  const sorted = passing(filter).toSorted(compare);
  return (sort === 'asc' ? sorted : sorted.toReversed()).slice(offset, offset + limit).map(({ hash }) => keyOf(hash)!);
}

const filterNames = [
  'hashes',
  'bodyHash',
  'opcode',
  'source',
  'destination',
  'direction',
  'excludeExternals',
  'onlyExternals',
  'startUtime',
  'endUtime',
  'startLt',
  'endLt',
] as const;

const endOf = (column: Uint8Array | null): MessageEnd => (column === null ? 'null' : accountOfKey(column));

/** A filter that a message satisfies, windows aside when it has neither lt nor time. */
function filterOf(row: Sent, wide: number): MessageListFilter {
  return {
    hashes: [wide % 2 === 0 ? row.hash : (row.hash_norm ?? row.hash), all[wide]!.hash],
    bodyHash: row.body_hash,
    opcode: row.opcode ?? undefined,
    source: endOf(row.source),
    destination: endOf(row.destination),
    direction: row.consumers.length === 0 || wide % 3 === 0 ? 'out' : 'in',
    excludeExternals: row.created_lt !== null,
    onlyExternals: row.created_lt === null,
    startUtime: row.created_at === null ? undefined : row.created_at - wide,
    endUtime: row.created_at === null ? undefined : row.created_at + wide,
    startLt: row.created_lt === null ? undefined : row.created_lt - BigInt(wide * 1_000_000),
    endLt: row.created_lt === null ? undefined : row.created_lt + BigInt(wide * 1_000_000),
  };
}

const page = fc.record({
  limit: fc.constantFrom(1, 3, 100),
  offset: fc.constantFrom(0, 0, 1, 20),
  sort: fc.constantFrom('asc' as const, 'desc' as const),
});

const message = fc.nat().map((at) => all[at % all.length]!);

describe('messages', () => {
  it('are what any mixture of filters, read one by one, lets through, in the order of the contract', async () => {
    let some = 0;
    const filter = fc
      .tuple(message, fc.option(message, { freq: 4 }), fc.subarray([...filterNames]), fc.integer({ min: 0, max: 20 }))
      .map(([one, other, names, wide]): MessageListFilter => {
        const [first, second] = [filterOf(one, wide), filterOf(other ?? one, wide)];
        return Object.fromEntries(names.map((name, at) => [name, (at % 2 === 0 ? first : second)[name]]));
      });
    await fc.assert(
      fc.asyncProperty(filter, page, async (given, shown) => {
        const wanted = expected(given, shown);
        some += Math.min(1, wanted.length);
        expect((await findMessages(reader, given, shown)).map(({ hash }) => keyOf(hash))).toEqual(wanted);
      }),
      { seed: 9, numRuns: 500 },
    );
    expect(some).toBeGreaterThan(100);
  });

  it('come with the transactions that took and sent them', async () => {
    for (const sort of ['asc', 'desc'] as const) {
      const rows = await readHolders(reader, await findMessages(reader, {}, { limit: 1000, offset: 0, sort }));
      const known = new Map(all.map((row) => [keyOf(row.hash), row]));
      for (const row of rows) {
        const { consumers, producer } = known.get(keyOf(row.hash))!;
        expect(keyOf(row.consumer_hash)).toBe(consumers[0]?.hash ?? null);
        const told = [producer?.hash ?? null, ...(row.consumer_hash === null ? [null] : [])];
        expect(told).toContain(keyOf(row.producer_hash));
        // Whoever may not be its sender comes with the content that tells.
        expect(row.producer_boc === null).toBe(row.consumer_hash !== null || row.producer_hash === null);
      }
    }
  });

  it('come with the content of a transaction that holds several of them once', async () => {
    const [producer, sent] = [...Map.groupBy(all, (row) => row.producer?.hash)]
      .filter(([hash]) => hash !== undefined)
      .toSorted(([, one], [, other]) => other.length - one.length)[0]!;
    expect(sent.length).toBeGreaterThan(100);
    const undone = new Error('nothing of it stays');
    const untaken = index.store.transaction(async ({ query }) => {
      const hashes = sent.map(({ hash }) => hash);
      await query('DELETE FROM transactions WHERE in_msg_hash = ANY ($1)', [hashes]);
      const read: { readonly producer_boc?: Buffer | null }[] = [];
      const counting: StoreReader = {
        read: async (sql, values) => {
          const rows = await query(sql, values);
          read.push(...rows);
          return rows as never;
        },
      };
      const found = await findMessages(counting, { hashes }, { limit: 300, offset: 0, sort: 'asc' });
      const rows = await readHolders(counting, found);
      expect(rows.map((row) => keyOf(row.producer_hash))).toEqual(sent.map(() => producer));
      expect(read.filter((row) => row.producer_boc)).toHaveLength(1);
      const [content] = new Set(rows.map((row) => row.producer_boc));
      expect(rows.map((row) => row.producer_boc === content)).toEqual(sent.map(() => true));
      expect(sentBy(content!)).toEqual(expect.arrayContaining(hashes.map(keyOf)));
      throw undone;
    });
    await expect(untaken).rejects.toBe(undone);
  });

  it('come with the content of a transaction of another block, which may not have sent them', async () => {
    const sent = all.find(({ producer, consumers }) => producer !== undefined && consumers.length > 0)!;
    const block = sent.created_lt! - (sent.created_lt! % 1_000_000n);
    const undone = new Error('nothing of it stays');
    const moved = index.store.transaction(async ({ query }) => {
      await query('UPDATE transactions SET lt = $2 WHERE hash = $1', [
        Buffer.from(sent.producer!.hash, 'hex'),
        block - 1n,
      ]);
      const one = { hashes: [sent.hash] };
      const found = await findMessages({ read: query }, one, { limit: 1, offset: 0, sort: 'asc' });
      const [row] = await readHolders({ read: query }, found);
      expect(keyOf(row!.producer_hash)).toBe(sent.producer!.hash);
      expect(sentBy(row!.producer_boc!)).toContain(keyOf(sent.hash));
      throw undone;
    });
    await expect(moved).rejects.toBe(undone);
  });
});

describe('transactions of messages', () => {
  it('are those that took them, those that sent them, or both, each once', async () => {
    let some = 0;
    const names = ['hashes', 'bodyHash', 'opcode', 'source', 'destination'] as const;
    const filter = fc
      .tuple(message, fc.subarray([...names], { minLength: 1 }), fc.integer({ min: 0, max: 20 }))
      .map(([one, chosen, wide]) => Object.fromEntries(chosen.map((name) => [name, filterOf(one, wide)[name]])));
    const ends = fc.constantFrom('in' as const, 'out' as const, 'both' as const);
    await fc.assert(
      fc.asyncProperty(filter, ends, page, async (given, end, shown) => {
        const holders = passing(given).flatMap(({ consumers, producer }) => [
          ...(end === 'out' ? [] : consumers),
          ...(end === 'in' || producer === undefined ? [] : [producer]),
        ]);
        const turn = shown.sort === 'asc' ? 1 : -1;
        const wanted = [...new Map(holders.map((one) => [one.hash, one])).values()]
          .toSorted((a, b) => turn * Number(a.lt - b.lt) || (a.account < b.account ? -1 : 1))
          .slice(shown.offset, shown.offset + shown.limit)
          .map(({ hash }) => hash);
        some += Math.min(1, wanted.length);
        const rows = await findTransactionsByMessage(reader, given, end, shown);
        expect(rows.map(({ hash }) => keyOf(hash))).toEqual(wanted);
      }),
      { seed: 9, numRuns: 300 },
    );
    expect(some).toBeGreaterThan(100);
  });

  it('are read whole in one query for few messages, as found one by one', async () => {
    let some = 0;
    const hashes = fc
      .array(fc.tuple(message, fc.boolean()), { minLength: 1, maxLength: 7 })
      .map((chosen) => chosen.map(([one, isNormal]) => (isNormal ? (one.hash_norm ?? one.hash) : one.hash)));
    await fc.assert(
      fc.asyncProperty(hashes, page, async (given, { sort, limit }) => {
        const part = { sort, limit, offset: 0 };
        const places = await findTransactionsByMessage(reader, { hashes: given }, 'both', part);
        const rows = await findTransactionsOfMessages(reader, given, part);
        const whole = new Map((await readTransactionsAt(reader, places)).map((row) => [keyOf(row.hash), row]));
        expect(rows).toEqual(places.map(({ hash }) => whole.get(keyOf(hash))));
        some += Math.min(1, rows.length);
      }),
      { seed: 40, numRuns: 100 },
    );
    expect(some).toBeGreaterThan(50);
  });

  it('are read some thousands at once, however far a page is', async () => {
    const holders = all.flatMap(({ consumers, producer }) => [
      ...consumers,
      ...(producer === undefined ? [] : [producer]),
    ]);
    const hashes = [...new Map(holders.map((one) => [one.hash, one])).values()]
      .toSorted((a, b) => Number(a.lt - b.lt) || (a.account < b.account ? -1 : 1))
      .map(({ hash }) => hash);
    expect(hashes.length).toBeGreaterThan(2_400);
    let most = 0;
    const watched: StoreReader = {
      read: async <R extends object>(...query: Parameters<StoreReader['read']>) => {
        const rows = await reader.read<R>(...query);
        most = Math.max(most, rows.length);
        return rows;
      },
    };
    const pages = [
      [0, 1_000],
      [700, 1_000],
      [1_000, 7],
      [2_000, 1_000],
      [hashes.length - 3, 10],
      [hashes.length + 1, 10],
      [2 ** 53 - 1, 10],
    ] as const;
    for (const [offset, limit] of pages) {
      const rows = await findTransactionsByMessage(watched, {}, 'both', { offset, limit, sort: 'asc' });
      expect(rows.map(({ hash }) => keyOf(hash))).toEqual(hashes.slice(offset, offset + limit));
    }
    expect(most).toBeGreaterThanOrEqual(1_000);
    expect(most).toBeLessThanOrEqual(2_000);
  });
});
