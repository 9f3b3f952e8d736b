import type { ClientBase } from 'pg';

import { withStoreErrors } from './errors.ts';

/**
 * Position in the write-ahead log, in bytes. A primary gives the end of its log, which has every commit that a query has seen. A standby
 * gives the end of its replay.
 */
const statement = `SELECT (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END)
  - '0/0'::pg_lsn AS position`;

/** Bytes of a page of the log, and of the longest header of a page. A shorter record than that does not exist. */
const PAGE_BYTES = 8192n;
const HEADER_BYTES = 40n;

/**
 * Reads the position of a server. Undefined for a standby that reports none.
 *
 * @throws StoreError `query_failed` for a server without positions
 */
export async function readWalPosition(client: ClientBase): Promise<bigint | undefined> {
  const { rows } = await withStoreErrors(client.query<{ position: bigint | null }>(statement));
  const position = rows[0]?.position;
  return position === undefined || position === null ? undefined : withoutHeader(position);
}

/** An idle primary may end after the header of an empty page. A standby ends before that header. */
function withoutHeader(position: bigint): bigint {
  const inPage = position % PAGE_BYTES;
  return inPage <= HEADER_BYTES ? position - inPage : position;
}
