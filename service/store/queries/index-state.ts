import type { StoreReader } from './reader.ts';

/**
 * Text of the database's state: two equal texts of a server mean that no transaction committed in between. A primary compares what its
 * snapshots see. A replica compares the position of its replay, because its snapshots do not list transactions in progress. Undefined
 * where a replica reports no position.
 */
export async function readIndexState(store: Pick<StoreReader, 'read'>): Promise<string | undefined> {
  const [row] = await store.read<{ state: string | null }>(
    `SELECT pg_current_snapshot()::text ||
       CASE WHEN pg_is_in_recovery() THEN ' ' || pg_last_wal_replay_lsn()::text ELSE '' END AS state`,
    [],
    { statement: 'index_state' },
  );
  return row?.state ?? undefined;
}
