import { setTimeout as sleep } from 'node:timers/promises';

import { Client } from 'pg';
import { inject } from 'vitest';

import type { Store } from '#service/store/store.ts';

const LOOK_MS = 10;

/**
 * Waits until every writing transaction that began before the call has ended: of other databases of the server, and of autovacuum. Caches
 * read a change again while an older transaction runs, also a transaction of another test file.
 */
export async function untilOthersSettled(store: Pick<Store, 'read'>): Promise<void> {
  const [now] = await store.read<{ time: string }>('SELECT clock_timestamp()::text AS time', []);
  const older = `SELECT 1 FROM pg_stat_activity
    WHERE backend_xid IS NOT NULL AND xact_start <= $1::timestamptz
      AND (datname IS DISTINCT FROM current_database() OR backend_type <> 'client backend')`;
  while ((await store.read(older, [now!.time])).length > 0) await sleep(LOOK_MS);
}

/** Any number; no other test locks it. */
const OPEN_TRANSACTIONS = 1;

/**
 * Locks the server for a file whose own transactions are open while it waits for others: two such files would wait for each other. Returns the
 * function that unlocks it.
 */
export async function lockOpenTransactions(): Promise<() => Promise<void>> {
  const client = new Client(inject('postgresUrl'));
  await client.connect();
  await client.query('SELECT pg_advisory_lock($1)', [OPEN_TRANSACTIONS]);
  return () => client.end();
}
