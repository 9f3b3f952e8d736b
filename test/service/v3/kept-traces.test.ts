import { expect, it } from 'vitest';

import type { StoreReader } from '#service/store/queries/reader.ts';
import type { TraceRow } from '#service/store/tables.ts';
import { TRACE_STATE } from '#service/store/trace-plan.ts';
import { createKeptTexts } from '#service/v3/kept-texts.ts';
import { createKeptTraces } from '#service/v3/kept-traces.ts';
import { packTrace } from '#service/v3/packed-trace.ts';

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
    packed: text === undefined ? Buffer.from('no frame') : packTrace({ parts: [text], names })!,
  }));
  const reader: StoreReader = {
    read: async (_sql, [ids]) => {
      asked.push((ids as readonly Buffer[]).length);
      return rows.filter((row) => (ids as readonly Buffer[]).some((id) => id.equals(row.trace_id))) as never;
    },
  };
  return { reader, asked };
}

it('stored traces are read beside those that cannot be, and where all together are too much; what was read is not asked for again', async () => {
  // A million letters are packed in some hundred bytes: all are unpacked at once, and are more than one may be.
  const texts = ['one', 'a'.repeat(1_000_000), undefined, 'b'.repeat(1_000_000), 'c'.repeat(1_000_000), 'two'];
  const { reader, asked } = indexOf(texts);
  const kept = createKeptTraces({
    texts: createKeptTexts({ bytesMax: 16_000_000 }, { counted: () => {} }),
    counted: () => {},
  });
  const rows = texts.map((_, at) => rowOf(at));
  for (const missing of [6, 1]) {
    const found = await kept.find(rows, reader);
    const read = await found.read();
    expect(found.known.size).toBe(6);
    expect(rows.map((row) => read.get(row)?.text.toString())).toEqual(texts);
    expect(asked.at(-1)).toBe(missing);
  }
});
