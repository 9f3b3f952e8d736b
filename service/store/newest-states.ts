import { hashKey } from './hash-key.ts';
import type { LatestAccountStateRow } from './tables.ts';

/**
 * Each account once: its newest state, and separately its newest whole data (store's tables.ts). The result does not depend on the order of
 * the rows.
 */
export function newestStates(rows: readonly LatestAccountStateRow[]): LatestAccountStateRow[] {
  const newest = new Map<string, LatestAccountStateRow>();
  for (const row of rows) {
    const key = hashKey(row.account);
    const known = newest.get(key);
    newest.set(key, known === undefined ? row : newer(known, row));
  }
  return [...newest.values()];
}

function newer(one: LatestAccountStateRow, other: LatestAccountStateRow): LatestAccountStateRow {
  const [newest, older] = orderOf(one) >= orderOf(other) ? [one, other] : [other, one];
  const data = (newest.data_boc_lt ?? -1n) >= (older.data_boc_lt ?? -1n) ? newest : older;
  return { ...newest, data_boc: data.data_boc, data_boc_hash: data.data_boc_hash, data_boc_lt: data.data_boc_lt };
}

/** Position of a state among the states of its account. */
function orderOf({ changed_lt: changedLt, last_trans_lt: lastLt }: LatestAccountStateRow): bigint {
  return changedLt ?? lastLt;
}
