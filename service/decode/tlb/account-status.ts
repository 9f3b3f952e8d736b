import type { CellSlice } from '../cell-slice.ts';

/** Whether and how an account exists, before or after a transaction. */
export type AccountStatus = 'uninit' | 'frozen' | 'active' | 'nonexist';

const STATUSES: readonly AccountStatus[] = ['uninit', 'frozen', 'active', 'nonexist'];

/** `acc_state_uninit$00`, `acc_state_frozen$01`, `acc_state_active$10`, `acc_state_nonexist$11`. */
export function readAccountStatus(slice: CellSlice): AccountStatus {
  return STATUSES[slice.uint(2)]!;
}

/** What not paying for storage did to an account. */
export type StatusChange = 'unchanged' | 'frozen' | 'deleted';

/** `acst_unchanged$0`, `acst_frozen$10`, `acst_deleted$11` = AccStatusChange. */
export function readStatusChange(slice: CellSlice): StatusChange {
  if (!slice.bit()) return 'unchanged';
  return slice.bit() ? 'deleted' : 'frozen';
}
