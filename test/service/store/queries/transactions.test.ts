import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { assembleTraces } from '#service/indexer/traces/assembly.ts';
import { accountOfKey } from '#service/store/account-key.ts';
import {
  findTransactions,
  readTransactionsAt,
  type SortedPage,
  type TransactionFilter,
} from '#service/store/queries/transactions.ts';
import type { BlockRow, TransactionRow } from '#service/store/tables.ts';
import { createWriter } from '#service/store/writer.ts';
import { createRecordedIndex, recordedRows } from '#test/support/recorded-index.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';
import { countOf } from '#test/support/volume.ts';

type Plain = Omit<TransactionRow, 'trace_id'>;

let index: StoreUnderTest;
let all: readonly Plain[] = [];
let blocks: readonly BlockRow[] = [];

beforeAll(async () => {
  index = await createRecordedIndex(import.meta.filename);
  const rows = await recordedRows();
  all = rows.flatMap(({ transactions }) => transactions);
  blocks = rows.flatMap((one) => one.blocks);
});
afterAll(() => index.close());

const keyOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Transactions by the contract (service/v3/README.md#order), over all rows at once. */
function expected(filter: TransactionFilter, { limit, offset, sort }: SortedPage): string[] {
  const { accounts = [], excludedAccounts = [], hashes = [] } = filter;
  const [wanted, unwanted] = [accounts, excludedAccounts].map(
    (list) => new Set(list.map(({ workchain, id }) => `${workchain}:${keyOf(id)}`)),
  );
  const nameOf = ({ account }: Plain): string => {
    const { workchain, id } = accountOfKey(account);
    return `${workchain}:${keyOf(id)}`;
  };
  const named = new Set(hashes.map(keyOf));
  const passed = all.filter(
    (row) =>
      (wanted!.size === 0 || wanted!.has(nameOf(row))) &&
      !unwanted!.has(nameOf(row)) &&
      (named.size === 0 || named.has(keyOf(row.hash))) &&
      (filter.workchain ?? row.workchain) === row.workchain &&
      (filter.shard ?? BigInt.asUintN(64, row.shard)) === BigInt.asUintN(64, row.shard) &&
      (filter.seqno ?? row.seqno) === row.seqno &&
      (filter.mcSeqno ?? row.mc_seqno) === row.mc_seqno &&
      (filter.lt ?? row.lt) === row.lt &&
      (filter.startUtime ?? 0) <= row.utime &&
      (filter.endUtime ?? Infinity) >= row.utime &&
      (filter.startLt ?? 0n) <= row.lt &&
      (filter.endLt ?? row.lt) >= row.lt,
  );
  const turn = sort === 'asc' ? 1 : -1;
  const byTime = filter.startUtime !== undefined || filter.endUtime !== undefined;
  const compare = (a: Plain, b: Plain): number => {
    if (filter.lt !== undefined) return turn * Buffer.compare(a.account, b.account);
    if (named.size > 0) return turn * Buffer.compare(a.hash, b.hash);
    return (
      (byTime ? turn * (a.utime - b.utime) : 0) || turn * Number(a.lt - b.lt) || Buffer.compare(a.account, b.account)
    );
  };
  return passed
    .toSorted(compare)
    .slice(offset, offset + limit)
    .map(({ hash }) => keyOf(hash));
}

const filterNames = [
  'workchain',
  'shard',
  'seqno',
  'mcSeqno',
  'accounts',
  'excludedAccounts',
  'hashes',
  'lt',
  'startUtime',
  'endUtime',
  'startLt',
  'endLt',
] as const;

/** A filter that a transaction satisfies, and others near it where that can be. */
function filterOf(row: Plain, wide: number): Required<TransactionFilter> {
  const near = all.slice(Math.max(0, all.indexOf(row) - wide), all.indexOf(row) + wide + 1);
  return {
    workchain: row.workchain,
    shard: BigInt.asUintN(64, row.shard),
    seqno: row.seqno,
    mcSeqno: row.mc_seqno,
    accounts: near.slice(0, wide % 4).map(({ account }) => accountOfKey(account)),
    excludedAccounts: near.slice(0, wide % 3).map(({ account }) => accountOfKey(account)),
    hashes: near.slice(0, wide % 5).map(({ hash }) => hash),
    lt: row.lt,
    startUtime: row.utime - wide,
    endUtime: row.utime + wide,
    startLt: near[0]!.lt,
    endLt: near.at(-1)!.lt,
  };
}

async function found(filter: TransactionFilter, page: SortedPage): Promise<string[]> {
  const reader = { read: (sql: string, values: readonly unknown[]) => index.store.read(sql, values) };
  return (await findTransactions(reader as never, filter, page)).map(({ hash }) => keyOf(hash));
}

async function setVersion(version: string): Promise<void> {
  await index.store.transaction(({ query }) => query(`UPDATE blocks SET global_version = ${version}`));
}

/** Drawn filters. */
const RUNS = countOf({ quick: 150, full: 500 });

describe('transactions', () => {
  it('are what any mixture of filters, read one by one, lets through, in the order of the contract', async () => {
    let some = 0;
    const row = fc.nat({ max: all.length - 1 }).map((at) => all[at]!);
    // All of one row, so that something is found, or of two, so that often nothing is.
    const filter = fc
      .tuple(row, fc.option(row, { freq: 4 }), fc.subarray([...filterNames]), fc.integer({ min: 0, max: 40 }))
      .map(([one, other, names, wide]): TransactionFilter => {
        const [first, second] = [filterOf(one, wide), filterOf(other ?? one, wide)];
        return Object.fromEntries(names.map((name, at) => [name, (at % 2 === 0 ? first : second)[name]]));
      });
    const page = fc.record({
      limit: fc.constantFrom(1, 3, 100),
      offset: fc.constantFrom(0, 0, 1, 50),
      sort: fc.constantFrom('asc' as const, 'desc' as const),
    });
    await fc.assert(
      fc.asyncProperty(filter, page, async (given, shown) => {
        const wanted = expected(given, shown);
        some += Math.min(1, wanted.length);
        expect(await found(given, shown)).toEqual(wanted);
      }),
      { seed: 9, numRuns: RUNS },
    );
    expect(some).toBeGreaterThan(RUNS / 5);
  });

  it.each(filterNames)('are found by %s alone', async (name) => {
    for (const sort of ['asc', 'desc'] as const) {
      const page = { limit: 1000, offset: 0, sort };
      const filter = { [name]: filterOf(all[3000]!, 7)[name] };
      const shown = await found(filter, page);
      expect(shown.length).toBeGreaterThan(0);
      expect(shown).toEqual(expected(filter, page));
    }
  });

  it("know the version of their block's rules, in an index of before that of its software", async () => {
    const reader = { read: (sql: string, values: readonly unknown[]) => index.store.read(sql, values) };
    const newest = async () => {
      const places = await findTransactions(reader as never, {}, { limit: 1, offset: 0, sort: 'desc' });
      return readTransactionsAt(reader as never, places);
    };
    const [shown] = await newest();
    const block = blocks.find(
      ({ workchain, shard, seqno }) =>
        workchain === shown!.workchain && shard === shown!.shard && seqno === shown!.seqno,
    );
    expect(shown!.global_version).toBe(block!.global_version);
    await setVersion('software_version - 1');
    expect((await newest())[0]!.global_version).toBe(block!.software_version! - 1);
    await setVersion('NULL');
    expect((await newest())[0]!.global_version).toBe(block!.software_version);
  });
});

describe('transactions of an index that begins late and has a gap', () => {
  it('are found by time among those of the first blocks behind it as well', async () => {
    const partial = await createMigratedStore(`${import.meta.filename} gap`);
    const rows = (await recordedRows()).filter(({ mcSeqno }) => isNear(mcSeqno, 88) || isNear(mcSeqno, 887));
    await createWriter({ carriage: 'copy', assemble: assembleTraces }, partial.store).write(rows, {
      advance: async () => {},
    });
    const indexed = rows.flatMap(({ transactions }) => transactions);
    const page = { limit: 1000, offset: 0, sort: 'asc' } as const;
    for (const { transactions } of rows) {
      const startUtime = transactions[0]!.utime;
      const shown = await findTransactions(partial.store, { startUtime }, page);
      expect(shown.map(({ hash }) => keyOf(hash)).toSorted()).toEqual(
        indexed
          .filter(({ utime }) => utime >= startUtime)
          .map(({ hash }) => keyOf(hash))
          .toSorted(),
      );
    }
    await partial.close();
  });
});

const isNear = (mcSeqno: number, first: number): boolean => mcSeqno >= first && mcSeqno < first + 20;
