import { keyAt } from './conditions.ts';

/** Changes that are told at once: a block has a few, and what backfills write in a second some hundred. */
export const changesMax = 1000;

/** What a query saw beside the rows that it was made for. */
export type Moment = {
  /** No transaction that the query did not see has a lower number. */
  readonly settled: bigint;
  /** Accounts that changed, as far as the query sees, in transactions from the one given on; `changesMax` and one: there may be more. */
  readonly changed: readonly Uint8Array[];
};

/** The columns `settled` and `changed` of one row of the query. Rides `account_changes_by_xid`. @param since place of a transaction; null: no changes */
export function momentColumns(since: string): string {
  const changed = `SELECT account FROM account_changes WHERE xid >= ${keyAt(since, 'xid8')} ORDER BY xid LIMIT ${changesMax + 1}`;
  return `pg_snapshot_xmin(pg_current_snapshot())::text AS settled, ARRAY(${changed}) AS changed`;
}

/** Those columns as they are read. */
export type MomentRow = { readonly settled: string; readonly changed: readonly Uint8Array[] };

export function momentOf({ settled, changed }: MomentRow): Moment {
  return { settled: BigInt(settled), changed };
}
