import { addresses, bytes, defineTable, hash, int, type Row } from './columns.ts';
import { createInserts, insertFrom } from './insert.ts';
import type { Store } from './store.ts';

/** Complete traces in the form of answers. Any of them may be missing: their data is in other tables. */
export const writtenTraces = defineTable('written_traces', ['trace_id'], {
  trace_id: hash,
  /** Counts of the trace at rendering: a trace with other counts has changed since. */
  nodes: int,
  edges: int,
  /** Version of the rendered form. */
  form: int,
  /** Number of messages that its transactions received and sent. */
  messages: int,
  /** Accounts of its transactions, each once. */
  accounts: addresses,
  packed: bytes,
});

export type WrittenTraceRow = Row<typeof writtenTraces>;

/** Stores rendered traces; replaces earlier versions of the same traces. */
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
    // A trace that a crash of Postgres loses is rendered again on request.
    { durable: false },
  );
}
