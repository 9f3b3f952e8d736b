import { setTimeout as sleep } from 'node:timers/promises';

import type { Store } from '#service/store/store.ts';

const LOOK_MS = 10;

/**
 * Waits until every transaction of the Postgres server that began before the call has ended. Caches read a change again while an older
 * transaction runs, also one of another test file.
 */
export async function untilSettled(store: Pick<Store, 'read'>): Promise<void> {
  const [now] = await store.read<{ end: string }>('SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS end', []);
  const settled = 'SELECT pg_snapshot_xmin(pg_current_snapshot()) >= $1::text::xid8 AS settled';
  for (;;) {
    const [row] = await store.read<{ settled: boolean }>(settled, [now!.end]);
    if (row!.settled) return;
    await sleep(LOOK_MS);
  }
}
