import { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';
import { lookupHashmap } from '../hashmap.ts';

/** Parameter 44: accounts that may not be deployed until a time. */
export type SuspendedAddresses = {
  /** Root of `HashmapE 288 Unit`: workchain and account id. */
  readonly addresses: number | undefined;
  /** Unix seconds. */
  readonly suspendedUntil: number;
};

/** `suspended_address_list#00 addresses:(HashmapE 288 Unit) suspended_until:uint32 = SuspendedAddressList`. */
export function readSuspendedAddresses(table: CellTable, cell: number): SuspendedAddresses {
  const slice = new CellSlice(table, cell);
  slice.expectTag(8, 0, 'SuspendedAddressList');
  return { addresses: slice.maybeRef(), suspendedUntil: slice.uint(32) };
}

/** Reports whether the list has the account, whatever the time. */
export function listsAddress(
  table: CellTable,
  list: SuspendedAddresses,
  account: { readonly workchain: number; readonly id: Buffer },
): boolean {
  const key = Buffer.alloc(36);
  key.writeInt32BE(account.workchain);
  account.id.copy(key, 4);
  return lookupHashmap(table, list.addresses, 288, key) !== undefined;
}
