import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { RawJson } from '#service/contract/json-stream.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { findTraces } from '#service/store/queries/traces.ts';
import type { TraceRow } from '#service/store/tables.ts';
import { createJsonCache } from '#service/runtime/json-cache.ts';
import { createTraceCache } from '#service/v3/rendering/trace-cache.ts';
import type { CacheOutcome } from '#service/v3/metrics.ts';
import type { TraceContent } from '#service/v3/views/trace-views.ts';
import { createTraceRenderer, type TraceRenderer } from '#service/v3/rendering/trace-renderer.ts';
import type { TransactionView } from '#service/v3/views/transaction-views.ts';
import { createPackedCache } from '#service/v3/rendering/packed-cache.ts';
import { createTransactionRenderer } from '#service/v3/rendering/transaction-renderer.ts';
import { createRecordedIndex } from '#test/support/recorded-index.ts';
import type { StoreUnderTest } from '#test/support/store.ts';

let index: StoreUnderTest;
/** Complete, and of all their transactions the states before and after are indexed. */
let settled: readonly TraceRow[];

beforeAll(async () => {
  index = await createRecordedIndex(import.meta.filename);
  const filter = { traceIds: [], txHashes: [], msgHashes: [] };
  const rows = await findTraces(index.store, filter, { limit: 500, offset: 0, sort: 'desc', after: undefined });
  const { contents } = await answer(createWriter().writer, rows);
  settled = rows.filter(
    ({ state }, at) => state === 0 && Object.values((contents[at]![1] as Told).transactions ?? {}).every(knowsStates),
  );
});
afterAll(() => index.close());

/** Counts what is asked for; gives none of the states that it hides. */
function createReader({ hidesStates = false } = {}): StoreReader & { readonly reads: () => number } {
  let reads = 0;
  return {
    reads: () => reads,
    read: async (sql, values, mode) => {
      reads++;
      return hidesStates && sql.includes('account_states') ? [] : index.store.read(sql, values, mode);
    },
  };
}

function createWriter(): { readonly writer: TraceRenderer; readonly found: CacheOutcome[] } {
  const found: CacheOutcome[] = [];
  const bytesMax = 16_000_000;
  const traces = createTraceCache({
    texts: createJsonCache({ bytesMax }),
    packed: createJsonCache({ bytesMax }),
    random: () => 0,
    counted: (outcome, count) => void found.push(...Array.from({ length: count }, () => outcome)),
  });
  return {
    writer: createTraceRenderer({
      cache: traces,
      transactions: createTransactionRenderer({ cache: createPackedCache({ bytesMax }) }),
    }),
    found,
  };
}

type Told = { readonly transactions?: Readonly<Record<string, TransactionView>> };

const knowsStates = (view: TransactionView): boolean =>
  [view.account_state_before, view.account_state_after].every((state) => state?.balance !== null);

/** As an answer tells it. */
const told = (content: TraceContent): unknown =>
  JSON.parse(JSON.stringify(content, (_name, value: unknown) => (value instanceof RawJson ? value.toJSON() : value)));

async function answer(writer: TraceRenderer, rows: readonly TraceRow[], reader: StoreReader = createReader()) {
  const opened = await writer.open(rows, reader);
  const written = await opened.write();
  return { accounts: opened.accounts, contents: rows.map((row) => [row, told(written.get(row)!)]) };
}

describe('complete traces that are asked for again', () => {
  it('are rendered whole as the first time, and nothing is read', async () => {
    expect(settled.length).toBeGreaterThan(50);
    expect(Math.max(...settled.map(({ nodes }) => nodes))).toBeGreaterThan(2);
    const { writer, found } = createWriter();
    const first = await answer(writer, settled);
    expect(found).not.toContain('cached');
    const reader = createReader();
    const again = await answer(writer, settled, reader);
    expect(again).toEqual(first);
    expect(found.slice(settled.length)).toEqual(settled.map(() => 'cached'));
    expect(reader.reads()).toBe(0);
  });

  it('keep their places among others', async () => {
    const { writer } = createWriter();
    await answer(writer, settled.slice(10, 20));
    const rows = settled.map((row, at) => (at % 7 === 0 ? { ...row, state: 1 } : row));
    expect(await answer(writer, rows)).toEqual(await answer(createWriter().writer, rows));
  });

  it('show the states that became known in between', async () => {
    const { writer } = createWriter();
    const before = await answer(writer, settled, createReader({ hidesStates: true }));
    const after = await answer(writer, settled);
    expect(after).toEqual(await answer(createWriter().writer, settled));
    expect(after).not.toEqual(before);
  });

  it('are read again when they hold more than they did', async () => {
    const { writer, found } = createWriter();
    await answer(writer, settled);
    const reader = createReader();
    await answer(
      writer,
      settled.map((row) => ({ ...row, nodes: row.nodes + 1 })),
      reader,
    );
    expect(found).not.toContain('cached');
    expect(reader.reads()).toBeGreaterThan(0);
  });

  it('carry their warning', async () => {
    const { writer, found } = createWriter();
    const row = settled.find(({ nodes }) => nodes > 2)!;
    const [root] = await index.store.read<{ readonly hash: Buffer }>(
      'SELECT hash FROM transactions WHERE trace_id = $1 ORDER BY lt, account LIMIT 1',
      [row.trace_id],
    );
    // Without its root the others hang on nothing.
    const reader: StoreReader = {
      read: async (sql, values, mode) =>
        (await index.store.read<{ readonly hash?: Buffer }>(sql, values, mode)).filter(
          ({ hash }) => hash === undefined || !hash.equals(root!.hash),
        ) as never,
    };
    const less = { ...row, nodes: row.nodes - 1 };
    const first = await answer(writer, [less], reader);
    expect(first.contents[0]![1]).toHaveProperty('warning', 'missing node in trace found');
    expect(await answer(writer, [less], reader)).toEqual(first);
    expect(found).toEqual(['made', 'cached']);
  });

  it('have the messages that they have: an answer of too many is refused', async () => {
    const { writer } = createWriter();
    await answer(writer, settled);
    const messages = settled.reduce((sum, { nodes }) => sum + nodes, 0);
    // Each has taken one at least.
    const copies = Array.from({ length: Math.ceil(30_001 / messages) }, () => settled).flat();
    await expect(writer.open(copies, createReader())).rejects.toMatchObject({ code: 'answer_too_large' });
  });
});

describe('other traces', () => {
  it('are read each time: those that go on or whose beginning is not known, those that lack a transaction, and large ones', async () => {
    const { writer, found } = createWriter();
    const row = settled[0]!;
    for (const given of [{ state: 1 }, { state: 2 }, { nodes: row.nodes + 1 }, { nodes: 257 }]) {
      const other = [{ ...row, ...given }];
      const first = await answer(writer, other);
      const reader = createReader();
      expect(await answer(writer, other, reader)).toEqual(first);
      expect(reader.reads()).toBeGreaterThan(0);
    }
    expect(found).not.toContain('cached');
  });
});
