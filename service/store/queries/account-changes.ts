import { keyAt } from './conditions.ts';

/** Changes reported at once: a block has a few, a backfill writes some hundred a second. */
export const CHANGES_MAX = 1000;

/** Snapshot of a query, besides its rows. */
export type Moment = {
  /** No transaction that the query did not see has a lower number. */
  readonly settled: bigint;
  /**
   * Accounts that changed in transactions from the given transaction on, as far as the query sees. With `CHANGES_MAX` + 1 entries there may
   * be more.
   */
  readonly changed: readonly Uint8Array[];
};

/**
 * The columns `settled` and `changed` of a row of the query. Uses the index `account_changes_by_xid`. @param since position of a
 * transaction; null: no changes
 */
export function momentColumns(since: string): string {
  const changed = `SELECT account FROM account_changes WHERE xid >= ${keyAt(since, 'xid8')} ORDER BY xid LIMIT ${CHANGES_MAX + 1}`;
  return `pg_snapshot_xmin(pg_current_snapshot())::text AS settled, ARRAY(${changed}) AS changed`;
}

/** The two columns as read. */
export type MomentRow = { readonly settled: string; readonly changed: readonly Uint8Array[] };

export function momentOf({ settled, changed }: MomentRow): Moment {
  return { settled: BigInt(settled), changed };
}
