import { setTimeout as sleep } from 'node:timers/promises';

import type { Store } from '#service/store/store.ts';

const LOOK_MS = 10;

/**
 * Waits until every writing transaction in other databases of the server that began before the call has ended. Caches read a change again
 * while an older transaction runs, also a transaction of another test file.
 */
export async function untilOthersSettled(store: Pick<Store, 'read'>): Promise<void> {
  const [now] = await store.read<{ time: string }>('SELECT clock_timestamp()::text AS time', []);
  const older = `SELECT 1 FROM pg_stat_activity
    WHERE datname <> current_database() AND backend_xid IS NOT NULL AND xact_start <= $1::timestamptz`;
  while ((await store.read(older, [now!.time])).length > 0) await sleep(LOOK_MS);
}
