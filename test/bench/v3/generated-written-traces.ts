import { migrate } from '#service/store/migrate.ts';
import type { Store } from '#service/store/store.ts';
import { traces, type TraceRow } from '#service/store/tables.ts';
import { columnsOf } from '#service/store/queries/conditions.ts';
import { createTraceMaterializer } from '#service/v3/rendering/trace-materializer.ts';

/** Traces that are told of at once. */
const CHUNK = 10_000;

/** One waits for Postgres while the other writes. */
const LINES = 2;

/** Stores all traces, newest first, as the service does with those that end while it follows its network. */
export async function generateWrittenTraces(store: Store, tell: (text: string) => void): Promise<void> {
  await migrate(store);
  const storing = createTraceMaterializer({ store });
  const { signal } = new AbortController();
  let below: bigint | null = null;
  let stored = 0;
  for (let seen = 0; ;) {
    const rows: TraceRow[] = await store.read<TraceRow>(
      `SELECT ${columnsOf(traces, 't')} FROM traces t WHERE $1::bigint IS NULL OR end_lt < $1 ORDER BY end_lt DESC LIMIT ${CHUNK}`,
      [below],
      { timeoutMs: 60_000 },
    );
    const last = rows.at(-1);
    if (last === undefined) break;
    const lines = Array.from({ length: LINES }, (_, line) => rows.filter((_row, at) => at % LINES === line));
    const counts = await Promise.all(lines.map((line) => storing.store(line, signal)));
    stored += counts.reduce((sum, count) => sum + count, 0);
    seen += rows.length;
    below = last.end_lt;
    tell(`written traces ${stored} of ${seen}`);
  }
}
