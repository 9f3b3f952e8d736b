import type { BitWriter } from '../bit-writer.ts';
import { CellSlice } from '../cell-slice.ts';
import type { CellStore } from '../cell-store.ts';
import type { CellTable } from '../cell-table.ts';
import { updateHashmap } from '../hashmap-writer.ts';
import type { HashmapChange } from '../hashmap-writer.ts';
import { lookupHashmap, walkHashmap } from '../hashmap.ts';
import type { HashmapOptions, WalkOptions } from '../hashmap.ts';
import { readAccount } from './account.ts';
import { NO_CURRENCIES } from './currency-collection.ts';
import { depthBalanceAugmentation, readDepthBalanceInfo, writeDepthBalanceInfo } from './depth-balance-info.ts';

/** Entry of a shard state's accounts. */
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
 * Finds an account in `accounts:^ShardAccounts`, `HashmapAugE 256 ShardAccount DepthBalanceInfo`; undefined when the shard lacks it. Throws
 * DecodeError `pruned_branch` when a proof hides the position.
 * @param accounts cell of `ShardAccounts`
 * @param id 32 bytes
 */
export function findShardAccount(
  table: CellTable,
  accounts: number,
  id: Buffer,
  options: Pick<HashmapOptions, 'skipPruned'> = {},
): ShardAccount | undefined {
  const root = new CellSlice(table, accounts).maybeRef();
  const slice = lookupHashmap(table, root, 256, id, { ...options, readExtra: readDepthBalanceInfo });
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

/** Account to be put into a shard state, or removed from it. */
export type ShardAccountChange = { readonly id: Buffer; readonly account: ShardAccount | undefined };

/**
 * Returns the root of a shard's accounts after the changes; cells are the store's. An account's part of the augmentation is computed from the
 * account.
 */
export function updateShardAccounts(
  store: CellStore,
  root: number | undefined,
  changes: readonly ShardAccountChange[],
): number | undefined {
  const shape = { bits: 256, augmentation: depthBalanceAugmentation };
  return updateHashmap(
    store,
    root,
    shape,
    changes.map(({ id, account }): HashmapChange => {
      const write = account && ((writer: BitWriter): void => writeShardAccount(writer, store, account));
      return { key: id, write };
    }),
  );
}

function writeShardAccount(writer: BitWriter, store: CellStore, account: ShardAccount): void {
  const found = readAccount(store, account.account);
  const splitDepth = found?.state.kind === 'active' ? (found.state.init.fixedPrefixLength ?? 0) : 0;
  writeDepthBalanceInfo(writer, { splitDepth, balance: found?.balance ?? NO_CURRENCIES });
  writer.ref(account.account).bytes(account.lastTransactionHash).int(account.lastTransactionLt, 64);
}
