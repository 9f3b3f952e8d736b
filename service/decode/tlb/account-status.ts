import type { CellSlice } from '../cell-slice.ts';

/** Statuses by their tags: `acc_state_uninit$00`, `acc_state_frozen$01`, `acc_state_active$10`, `acc_state_nonexist$11`. */
export const ACCOUNT_STATUSES = ['uninit', 'frozen', 'active', 'nonexist'] as const;

/** Status of an account before or after a transaction. */
export type AccountStatus = (typeof ACCOUNT_STATUSES)[number];

/** Tags of the statuses, which the index uses too. */
export const ACCOUNT_STATUS_TAGS = { uninit: 0, frozen: 1, active: 2, nonexist: 3 } as const satisfies Record<
  AccountStatus,
  number
>;

/** `AccountStatus`. */
export function readAccountStatus(slice: CellSlice): AccountStatus {
  return ACCOUNT_STATUSES[slice.uint(2)]!;
}

/** Effect of unpaid storage on an account. */
export type StatusChange = 'unchanged' | 'frozen' | 'deleted';

/** `acst_unchanged$0`, `acst_frozen$10`, `acst_deleted$11` = AccStatusChange. */
export function readStatusChange(slice: CellSlice): StatusChange {
  if (!slice.bit()) return 'unchanged';
  return slice.bit() ? 'deleted' : 'frozen';
}
