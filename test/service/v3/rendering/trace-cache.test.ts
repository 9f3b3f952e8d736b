import { describe, expect, it } from 'vitest';

import type { StoreReader } from '#service/store/queries/reader.ts';
import type { TraceRow } from '#service/store/tables.ts';
import { TRACE_STATE } from '#service/store/trace-plan.ts';
import { createJsonCache, type JsonCache } from '#service/runtime/json-cache.ts';
import { createTraceCache } from '#service/v3/rendering/trace-cache.ts';
import type { CacheOutcome } from '#service/v3/metrics.ts';
import { packJson } from '#service/v3/rendering/packed-json.ts';
import type { StoredTrace } from '#service/v3/rendering/stored-trace.ts';

const complete: Partial<TraceRow> = { nodes: 1, edges: 0, state: TRACE_STATE.complete };
const rowOf = (at: number): TraceRow => ({ ...complete, trace_id: Buffer.alloc(32, at) }) as TraceRow;
const names = { warning: undefined, accounts: [], messages: 1, treeBytes: 0, orderBytes: 0 };

/** An index that has these texts of traces, by number; undefined: one that cannot be read. */
function indexOf(texts: readonly (string | undefined)[]): { readonly reader: StoreReader; readonly asked: number[] } {
  const asked: number[] = [];
  const rows = texts.map((text, at) => ({
    ...rowOf(at),
    messages: 1,
    accounts: [],
    packed: text === undefined ? Buffer.from('no frame') : packJson({ parts: [text], names })!,
  }));
  const reader: StoreReader = {
    read: async (_sql, [ids]) => {
      asked.push((ids as readonly Buffer[]).length);
      return rows.filter((row) => (ids as readonly Buffer[]).some((id) => id.equals(row.trace_id))) as never;
    },
  };
  return { reader, asked };
}

const jsonCacheOf = (): JsonCache<StoredTrace> => createJsonCache({ bytesMax: 16_000_000 });

/** @param draws numbers for chances, in turn */
function createMemory(draws: readonly number[] = [1]) {
  const found: Partial<Record<CacheOutcome, number>> = {};
  const [texts, packed] = [jsonCacheOf(), jsonCacheOf()];
  let drawn = 0;
  const kept = createTraceCache({
    texts,
    packed,
    random: () => draws[drawn++ % draws.length]!,
    counted: (outcome, traces) => (found[outcome] = traces),
  });
  const readAll = async (rows: readonly TraceRow[], reader: StoreReader): Promise<readonly (string | undefined)[]> => {
    const traces = await kept.find(rows, reader);
    const unpacked = await traces.read();
    expect([...unpacked.keys()].filter((row) => !traces.known.has(row))).toEqual([]);
    return rows.map((row) => unpacked.get(row)?.text.toString());
  };
  return { kept, readAll, found, texts, packed };
}

describe('stored traces', () => {
  it('are read beside those that cannot be, large ones too; what was read is not asked for again', async () => {
    // The first two are unpacked together, in vain.
    const texts = ['one', undefined, 'a'.repeat(1_000_000), 'b'.repeat(1_000_000), 'c'.repeat(1_000_000), 'two'];
    const { reader, asked } = indexOf(texts);
    const { readAll, found } = createMemory();
    const rows = texts.map((_, at) => rowOf(at));
    for (const missing of [6, 1]) {
      expect(await readAll(rows, reader)).toEqual(texts);
      expect(asked.at(-1)).toBe(missing);
      expect(found).toEqual({ cached: 6 - missing, stored: missing, made: 0 });
    }
  });

  it('stay packed in memory, but for a part of those that are asked for again', async () => {
    const text = JSON.stringify(Array.from({ length: 1000 }, (_, lt) => ({ lt })));
    const { reader } = indexOf([text, text, text]);
    const rows = [0, 1, 2].map(rowOf);
    const memory = createMemory([0.9, 0.1, 0.5]);
    await memory.readAll(rows, reader);
    expect(memory.texts.bytes()).toBe(0);
    expect(memory.packed.bytes()).toBeGreaterThan(0);
    expect(memory.packed.bytes()).toBeLessThan(text.length);
    const bytes = memory.packed.bytes();
    expect(await memory.readAll(rows, reader)).toEqual([text, text, text]);
    expect([memory.packed.bytes(), Math.floor(memory.texts.bytes() / text.length)]).toEqual([bytes, 1]);
    expect(await memory.readAll(rows, reader)).toEqual([text, text, text]);
    expect(memory.found).toEqual({ cached: 3, stored: 0, made: 0 });
  });
});

it('traces that were rendered here are cached as text, except incomplete and too large ones', async () => {
  const memory = createMemory();
  const { reader } = indexOf([]);
  const rows = [rowOf(0), { ...rowOf(1), state: TRACE_STATE.pending }, { ...rowOf(2), nodes: 257 }];
  for (const row of rows) memory.kept.keep(row, { parts: ['te', Buffer.from('xt')], names });
  expect(await memory.readAll(rows, reader)).toEqual(['text', undefined, undefined]);
  expect(memory.found).toEqual({ cached: 1, stored: 0, made: 0 });
  expect(memory.packed.bytes()).toBe(0);
});
