import { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';
import { lookupHashmap, walkHashmap } from '../hashmap.ts';
import type { WalkOptions } from '../hashmap.ts';
import { readDepthBalanceInfo } from './depth-balance-info.ts';

/** An entry of a shard state's accounts. */
export type ShardAccount = {
  /** Cell of `Account`. */
  readonly account: number;
  readonly lastTransactionHash: Buffer;
  readonly lastTransactionLt: bigint;
};

/** `account_descr$_ account:^Account last_trans_hash:bits256 last_trans_lt:uint64 = ShardAccount`. */
function readShardAccount(slice: CellSlice): ShardAccount {
  return { account: slice.ref(), lastTransactionHash: slice.hash(), lastTransactionLt: slice.uint64() };
}

/**
 * An account in `accounts:^ShardAccounts`, `HashmapAugE 256 ShardAccount DepthBalanceInfo`; undefined when the shard has none.
 * Throws DecodeError `pruned_branch` when a proof hides the place.
 * @param accounts cell of `ShardAccounts`
 * @param id 32 bytes
 */
export function findShardAccount(table: CellTable, accounts: number, id: Buffer): ShardAccount | undefined {
  const root = new CellSlice(table, accounts).maybeRef();
  const slice = lookupHashmap(table, root, 256, id, { readExtra: readDepthBalanceInfo });
  return slice && readShardAccount(slice);
}

/** Visits accounts in the order of their ids, until `visit` returns false. */
export function walkShardAccounts(
  table: CellTable,
  accounts: number,
  visit: (id: Buffer, account: ShardAccount) => boolean | void,
  options: Omit<WalkOptions, 'readExtra'> = {},
): boolean {
  const root = new CellSlice(table, accounts).maybeRef();
  return walkHashmap(table, root, 256, (id, slice) => visit(id, readShardAccount(slice)), {
    ...options,
    readExtra: readDepthBalanceInfo,
  });
}
