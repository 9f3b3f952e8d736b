import { createHash } from 'node:crypto';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { RawJson } from '#service/contract/json-stream.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { findTraces } from '#service/store/queries/traces.ts';
import type { TraceRow } from '#service/store/tables.ts';
import { createJsonCache } from '#service/runtime/json-cache.ts';
import { createTraceCache, isCacheable } from '#service/v3/rendering/trace-cache.ts';
import type { CacheOutcome } from '#service/v3/metrics.ts';
import { TRACE_FORMAT_VERSION } from '#service/v3/rendering/stored-trace.ts';
import { createTraceMaterializer } from '#service/v3/rendering/trace-materializer.ts';
import type { TraceContent } from '#service/v3/views/trace-views.ts';
import { createTraceRenderer } from '#service/v3/rendering/trace-renderer.ts';
import { createTransactionRenderer } from '#service/v3/rendering/transaction-renderer.ts';
import { createRecordedIndex } from '#test/support/recorded-index.ts';
import type { StoreUnderTest } from '#test/support/store.ts';

const { signal } = new AbortController();

let index: StoreUnderTest;
/** All traces of the recorded chain. */
let rows: readonly TraceRow[];

beforeAll(async () => {
  index = await createRecordedIndex(import.meta.filename);
  const filter = { traceIds: [], txHashes: [], msgHashes: [] };
  rows = await findTraces(index.store, filter, { limit: 10_000, offset: 0, sort: 'desc', after: undefined });
});
afterAll(() => index.close());
beforeEach(() => change('TRUNCATE written_traces'));

const change = (sql: string, values: readonly unknown[] = []): Promise<object[]> =>
  index.store.transaction(({ query }) => query(sql, values));

/** As an answer tells it. */
const told = (content: TraceContent): unknown =>
  JSON.parse(JSON.stringify(content, (_name, value: unknown) => (value instanceof RawJson ? value.toJSON() : value)));

/** What a pod that has just started answers, and where it has it from. */
async function answer(asked: readonly TraceRow[]) {
  const outcomes: Partial<Record<CacheOutcome, number>> = {};
  const statements: (string | undefined)[] = [];
  const reader: StoreReader = {
    read: (sql, values, mode) => {
      statements.push(mode?.statement);
      return index.store.read(sql, values, mode);
    },
  };
  const cache = createTraceCache({
    texts: createJsonCache({ bytesMax: 16_000_000 }),
    packed: createJsonCache({ bytesMax: 16_000_000 }),
    random: () => 0,
    counted: (outcome, traces) => (outcomes[outcome] = traces),
  });
  const writer = createTraceRenderer({ cache, transactions: createTransactionRenderer({}) });
  const opened = await writer.open(asked, reader);
  const written = await opened.write();
  const contents = asked.map((row) => told(written.get(row)!));
  return { told: { accounts: new Set(opened.accounts), contents }, outcomes, statements };
}

const storeAll = (given: readonly TraceRow[] = rows): Promise<number> =>
  createTraceMaterializer({ store: index.store }).store(given, signal);

describe('traces that are stored', () => {
  it('are rendered as those that are not stored, and nothing else of them is read', async () => {
    const made = await answer(rows);
    const stored = await storeAll();
    expect(stored).toBeGreaterThan(1000);
    const again = await answer(rows);
    expect(again.told).toEqual(made.told);
    expect(again.outcomes).toEqual({ cached: 0, stored, made: rows.filter(isCacheable).length - stored });
    const ids = await index.store.read<{ trace_id: Buffer }>('SELECT trace_id FROM written_traces LIMIT 50');
    const some = rows.filter((row) => ids.some((one) => one.trace_id.equals(row.trace_id)));
    expect(some.length).toBe(50);
    expect((await answer(some)).statements).toEqual(['written_traces']);
  });

  it('take less than twice what their transactions take as bags of cells', async () => {
    await storeAll();
    const [sizes] = await index.store.read<{ packed: number; bocs: number }>(
      `SELECT (SELECT sum(octet_length(packed))::float8 FROM written_traces) AS packed,
         (SELECT sum(octet_length(boc))::float8 FROM transactions JOIN written_traces USING (trace_id)) AS bocs`,
    );
    expect(sizes!.packed).toBeLessThan(2 * sizes!.bocs);
  });

  it('are stored again in place of the former rows', async () => {
    const some = rows.filter(isCacheable).slice(0, 20);
    const stored = await storeAll(some);
    await change(`UPDATE written_traces SET packed = 'x', form = 0`);
    expect(await storeAll(some)).toBe(stored);
    expect((await answer(some)).outcomes).toMatchObject({ stored });
  });

  it.each([
    ['was written in another form', 'form = form + 1'],
    ['had fewer transactions then', 'nodes = nodes - 1'],
    ['had fewer messages between them then', 'edges = edges - 1'],
  ])('are made again where what is stored %s', async (_what, set) => {
    const some = rows.slice(0, 60);
    const made = await answer(some);
    expect(await storeAll(some)).toBeGreaterThan(0);
    await change(`UPDATE written_traces SET ${set}`);
    const again = await answer(some);
    expect(again.told).toEqual(made.told);
    expect(again.outcomes).toMatchObject({ stored: 0 });
  });

  it('are made again where what is stored cannot be read', async () => {
    const some = rows.slice(0, 60);
    const made = await answer(some);
    expect(await storeAll(some)).toBeGreaterThan(0);
    const spoilt = await change(
      `UPDATE written_traces SET packed = 'x' WHERE get_byte(trace_id, 0) < 128 RETURNING trace_id`,
    );
    expect(spoilt.length).toBeGreaterThan(0);
    expect((await answer(some)).told).toEqual(made.told);
  });

  it('have the messages that they have: an answer of too many is refused before any is unpacked', async () => {
    await storeAll(rows.slice(0, 60));
    await change(`UPDATE written_traces SET messages = 20000, packed = 'x'`);
    await expect(answer(rows.slice(0, 60))).rejects.toMatchObject({ code: 'answer_too_large' });
  });
});

const storedIds = async (): Promise<string[]> =>
  (await index.store.read<{ trace_id: Buffer }>('SELECT trace_id FROM written_traces')).map((row) =>
    row.trace_id.toString('hex'),
  );
const idOf = ({ trace_id: id }: TraceRow): string => Buffer.from(id).toString('hex');

describe('what is not stored', () => {
  it('are traces that go on, large ones, and those of which a transaction is not there', async () => {
    await storeAll(rows.slice(0, 200));
    const [id] = await storedIds();
    const row = rows.find((one) => idOf(one) === id)!;
    await change('TRUNCATE written_traces');
    for (const given of [{ state: 1 }, { state: 2 }, { nodes: 257 }, { nodes: row.nodes + 1 }]) {
      expect(await storeAll([{ ...row, ...given }])).toBe(0);
    }
    expect(await storeAll([row])).toBe(1);
  });

  it('is a trace that cannot be shown; those beside it are', async () => {
    await storeAll(rows.slice(0, 200));
    const [id, ...others] = await storedIds();
    await change('TRUNCATE written_traces');
    const [before] = await change('SELECT hash, boc FROM transactions WHERE trace_id = $1', [Buffer.from(id!, 'hex')]);
    const { hash, boc } = before as { readonly hash: Buffer; readonly boc: Buffer };
    await change(`UPDATE transactions SET boc = 'no bag' WHERE hash = $1`, [hash]);
    try {
      await storeAll(rows.slice(0, 200));
      expect((await storedIds()).toSorted()).toEqual(others.toSorted());
    } finally {
      await change('UPDATE transactions SET boc = $2 WHERE hash = $1', [hash, boc]);
    }
  });

  it('is anything where the work itself fails', async () => {
    const store = { transaction: () => Promise.reject(new TypeError('a fault')) };
    await expect(createTraceMaterializer({ store }).store(rows, signal)).rejects.toThrow('a fault');
  });

  it('is what comes after the end', async () => {
    const ending = new AbortController();
    ending.abort(new Error('the end'));
    await expect(createTraceMaterializer({ store: index.store }).store(rows, ending.signal)).rejects.toThrow('the end');
    expect(await storedIds()).toEqual([]);
  });
});

describe('the form of stored traces', () => {
  // Where this fails, transactions or traces are shown in another way than those that are stored: `TRACE_FORM` has to be one more, a step of the schema has to
  // empty `written_traces`, and the digest of the new form stands here.
  const digests: Readonly<Record<number, string>> = {
    1: '2a5ea0949056ab3435749ddff0e3006ec918760f00bcf1c126fef6f73e61a29d',
    2: '7026b2eadc714e9722b6806b1ae2fab6b99c4b47974b55884f7ab3dc63b9c98b',
    3: '4f52beb2f27b5c3158908c29458f1eece53d7193851364fd1aafbd43769717e9',
    4: '7b1156059fc4a27f6ec0d7ae9cea4360f623be69d44b9bdd1d82a17ed77b7a35',
  };

  it('is that of the recorded chain', async () => {
    const { told: all } = await answer(rows.toSorted((one, other) => Buffer.compare(one.trace_id, other.trace_id)));
    expect(createHash('sha256').update(JSON.stringify(all.contents)).digest('hex')).toBe(digests[TRACE_FORMAT_VERSION]);
  });
});
