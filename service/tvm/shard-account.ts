import { parseBoc, type Boc } from '../decode/boc.ts';
import { writeBoc } from '../decode/boc-writer.ts';
import { CellSlice } from '../decode/cell-slice.ts';
import { createCellStore } from '../decode/cell-store.ts';
import type { CellStore } from '../decode/cell-store.ts';
import type { CellTable } from '../decode/cell-table.ts';
import { BitWriter } from '../decode/bit-writer.ts';
import { createPlainBocWriter } from '../decode/plain-boc.ts';

/** Last transaction of an account without transactions. */
export const NO_TRANSACTION: LastTransaction = { hash: Buffer.alloc(32), lt: 0n };

export type LastTransaction = { readonly hash: Buffer; readonly lt: bigint };

/** A bag of cells of `ShardAccount`, and its cells. All readers of the account share the cells, whose hashes are computed once. */
export type OpenedShardAccount = {
  readonly boc: Buffer;
  readonly table: CellTable;
  /** Cell of `Account`. */
  readonly account: number;
  readonly lastTransaction: LastTransaction;
};

/** Makes the bag of an account whose cells are known. @param cell cell of `Account` in a table without other cells */
export function enclosedAccount(table: CellTable, cell: number, lastTransaction: LastTransaction): OpenedShardAccount {
  const above = Buffer.alloc(40);
  lastTransaction.hash.copy(above);
  above.writeBigUInt64BE(lastTransaction.lt, 32);
  return { boc: createPlainBocWriter(table)(cell, above), table, account: cell, lastTransaction };
}

/** Opens a bag of `ShardAccount`; the account is still to be read. Throws DecodeError. @param table the parsed bag */
export function openShardAccount(boc: Buffer, table: Boc = parseBoc(boc)): OpenedShardAccount {
  const slice = new CellSlice(table, table.roots[0]!);
  return { boc, table, account: slice.ref(), lastTransaction: { hash: slice.hash(), lt: slice.uint64() } };
}

/**
 * `account_descr$_ account:^Account last_trans_hash:bits256 last_trans_lt:uint64 = ShardAccount` as a bag of cells.
 * @param account cell of `Account`; undefined for an account that does not exist (`account_none$0`)
 */
export function writeShardAccount(
  account: { readonly table: CellTable; readonly cell: number } | undefined,
  { hash, lt }: LastTransaction,
): Buffer {
  const store = createCellStore();
  const cell =
    account === undefined ? new BitWriter().bit(false).finish(store) : store.import(account.table, account.cell);
  return writeBoc(store, [storeShardAccount(store, cell, { hash, lt })], { crc32c: true });
}

/** Puts the `ShardAccount` of an account of the store into the store. @param account cell of `Account` */
export function storeShardAccount(store: CellStore, account: number, { hash, lt }: LastTransaction): number {
  return new BitWriter().ref(account).bytes(hash).int(lt, 64).finish(store);
}
