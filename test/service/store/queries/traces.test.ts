import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { StoreReader } from '#service/store/queries/reader.ts';
import { findTraces, findTransactionsOfTraces, type TraceFilter } from '#service/store/queries/traces.ts';
import type { SortedPage } from '#service/store/queries/transactions.ts';
import type { TraceAccountRow, TraceRow } from '#service/store/tables.ts';
import { createRecordedIndex } from '#test/support/recorded-index.ts';
import type { StoreUnderTest } from '#test/support/store.ts';

type TransactionIds = {
  readonly hash: Buffer;
  readonly lt: bigint;
  readonly account: Buffer;
  readonly trace_id: Buffer;
};

let index: StoreUnderTest;
let reader: StoreReader;
let traces: readonly TraceRow[] = [];
let transactions: readonly TransactionIds[] = [];
let accountsOf: ReadonlyMap<string, ReadonlySet<string>>;

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const idsOf = (rows: readonly { readonly trace_id: Uint8Array }[]): string[] => rows.map((row) => text(row.trace_id));
const nothing = { traceIds: [], txHashes: [], msgHashes: [] };

beforeAll(async () => {
  index = await createRecordedIndex(import.meta.filename);
  reader = { read: (sql, values) => index.store.read(sql, values) };
  traces = await reader.read<TraceRow>('SELECT * FROM traces', []);
  transactions = await reader.read<TransactionIds>('SELECT hash, lt, account, trace_id FROM transactions', []);
  const rows = await reader.read<TraceAccountRow>('SELECT * FROM trace_accounts', []);
  const grouped = Map.groupBy(rows, (row) => text(row.trace_id));
  accountsOf = new Map([...grouped].map(([id, some]) => [id, new Set(some.map((row) => text(row.account)))]));
});
afterAll(() => index.close());

function expected(filter: TraceFilter, { limit, offset, sort }: SortedPage): string[] {
  const byTime = filter.startUtime !== undefined || filter.endUtime !== undefined;
  const endOf = (row: TraceRow): bigint => (byTime ? BigInt(row.end_utime) : row.end_lt);
  const turn = sort === 'asc' ? 1 : -1;
  const found = traces.filter(
    (row) =>
      (filter.account === undefined || accountsOf.get(text(row.trace_id))!.has(text(filter.account))) &&
      (filter.traceIds.length === 0 || filter.traceIds.some((id) => text(id) === text(row.trace_id))) &&
      (filter.mcSeqno === undefined || (row.mc_seqno_end === filter.mcSeqno && row.state === 0)) &&
      (filter.startUtime ?? 0) <= row.end_utime &&
      (filter.endUtime ?? Infinity) >= row.end_utime &&
      (filter.startLt ?? 0n) <= row.end_lt &&
      (filter.endLt ?? row.end_lt) >= row.end_lt,
  );
  const compare = (a: TraceRow, b: TraceRow): number =>
    endOf(a) === endOf(b) ? Buffer.compare(a.trace_id, b.trace_id) : Number(endOf(a) - endOf(b));
  return idsOf(found.toSorted((a, b) => turn * compare(a, b)).slice(offset, offset + limit));
}

describe('traces', () => {
  it('are what any mixture of filters, read one by one, lets through, by their end and then by id', async () => {
    let some = 0;
    const row = fc.nat().map((at) => traces[at % traces.length]!);
    const filters = fc
      .tuple(
        row,
        row,
        fc.subarray(['account', 'traceIds', 'mcSeqno', 'utime', 'lt'] as const),
        fc.integer({ min: 0, max: 30 }),
      )
      .map(([one, other, names, wide]): TraceFilter => {
        const has = (name: (typeof names)[number]): boolean => names.includes(name);
        const [account] = accountsOf.get(text(one.trace_id))!;
        const byAccount = has('account');
        return {
          ...nothing,
          ...(byAccount && { account: Buffer.from(account!, 'hex') }),
          ...(has('traceIds') && !byAccount && { traceIds: [one.trace_id, other.trace_id] }),
          ...(has('mcSeqno') && { mcSeqno: one.mc_seqno_end }),
          ...(has('utime') && { startUtime: one.end_utime - wide, endUtime: one.end_utime + wide }),
          ...(has('lt') && { startLt: one.end_lt - BigInt(wide * 1_000_000), endLt: other.end_lt }),
        };
      });
    const pages = fc.record({
      limit: fc.constantFrom(1, 3, 100),
      offset: fc.constantFrom(0, 0, 2, 500),
      sort: fc.constantFrom('asc' as const, 'desc' as const),
    });
    await fc.assert(
      fc.asyncProperty(filters, pages, async (filter, page) => {
        const wanted = expected(filter, page);
        some += Math.min(1, wanted.length);
        expect(idsOf(await findTraces(reader, filter, page))).toEqual(wanted);
      }),
      { seed: 11, numRuns: 300 },
    );
    expect(some).toBeGreaterThan(100);
  });

  it('of hashes that are not indexed are none, and two hashes of one trace give it once', async () => {
    const page = { limit: 10, offset: 0, sort: 'desc' as const };
    const unknown = Buffer.alloc(32, 1);
    for (const name of ['traceIds', 'txHashes', 'msgHashes'] as const) {
      expect(await findTraces(reader, { ...nothing, [name]: [unknown] }, page)).toEqual([]);
    }
    const long = traces.find((row) => row.nodes > 3)!;
    const hashes = transactions.filter((one) => one.trace_id.equals(long.trace_id)).map((one) => one.hash);
    expect(hashes).toHaveLength(long.nodes);
    expect(idsOf(await findTraces(reader, { ...nothing, txHashes: hashes }, page))).toEqual([text(long.trace_id)]);
  });

  it('have all their transactions, by lt and account', async () => {
    const some = traces.filter((_row, at) => at % 40 === 0);
    const found = await findTransactionsOfTraces(reader, some);
    const ids = new Set(idsOf(some));
    const wanted = transactions
      .filter((one) => ids.has(text(one.trace_id)))
      .toSorted((a, b) => Number(a.lt - b.lt) || Buffer.compare(a.account, b.account));
    expect(found.map((one) => text(one.hash))).toEqual(wanted.map((one) => text(one.hash)));
    expect(await findTransactionsOfTraces(reader, [])).toEqual([]);
  });
});
