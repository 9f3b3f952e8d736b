import type { CellStore } from '../cell-store.ts';
import { BitWriter } from '../bit-writer.ts';
import { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';

/** Hashes of a value before and after, 32 bytes each. */
export type HashUpdate = { readonly oldHash: Buffer; readonly newHash: Buffer };

/** `update_hashes#72 {X:Type} old_hash:bits256 new_hash:bits256 = HASH_UPDATE X`. */
export function readHashUpdate(table: CellTable, cell: number): HashUpdate {
  const slice = new CellSlice(table, cell);
  slice.expectTag(8, 0x72, 'HASH_UPDATE');
  return { oldHash: slice.hash(), newHash: slice.hash() };
}

/** The reverse of `readHashUpdate`. */
export function storeHashUpdate(store: CellStore, { oldHash, newHash }: HashUpdate): number {
  return new BitWriter().uint(0x72, 8).bytes(oldHash).bytes(newHash).finish(store);
}
