import { createInserts } from './insert.ts';
import type { Session } from './store.ts';
import { openEdges, traceAccounts, traces } from './tables.ts';
import type { TraceRows } from './trace-rows.ts';

/** Nothing is known before. */
export async function hintTraces(_session: Session, _rows: TraceRows): Promise<void> {}

/** Writes the fragments as they are. */
export async function joinTraces(session: Session, rows: TraceRows): Promise<void> {
  const inserts = createInserts(session, 'unnest');
  await inserts.add(traces, rows.traces);
  await inserts.add(traceAccounts, rows.traceAccounts);
  await inserts.addMissing(openEdges, rows.openEdges);
}
