import { addresses, bytes, defineTable, hash, int, type Row } from './columns.ts';
import { createInserts, insertFrom } from './insert.ts';
import type { Store } from './store.ts';

/** Complete traces as answers show them, of which any may be missing: all that is in them is in other tables. */
export const writtenTraces = defineTable('written_traces', ['trace_id'], {
  trace_id: hash,
  /** Counts of the trace as it was then: one that has others has changed since. */
  nodes: int,
  edges: int,
  /** The rules that it was written by. */
  form: int,
  /** That its transactions took and sent. */
  messages: int,
  /** Of its transactions, each once. */
  accounts: addresses,
  packed: bytes,
});

export type WrittenTraceRow = Row<typeof writtenTraces>;

/** Each takes the place of what was written of the same trace before. */
export async function putWrittenTraces(
  store: Pick<Store, 'transaction'>,
  rows: readonly WrittenTraceRow[],
): Promise<void> {
  const sets = Object.keys(writtenTraces.columns).map((column) => `${column} = excluded.${column}`);
  await store.transaction(
    (session) =>
      createInserts(session, 'unnest').run(
        writtenTraces,
        rows,
        (given) => `${insertFrom(writtenTraces, given)} ON CONFLICT (trace_id) DO UPDATE SET ${sets.join(', ')}`,
      ),
    // What a crash of Postgres loses is made anew whenever it is asked for.
    { durable: false },
  );
}
