import { DecodeError } from '#service/decode/errors.ts';
import { shardChildren, shardContains } from '#service/decode/shard.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import type { ShardAccount } from '#service/decode/tlb/shard-account.ts';
import { findShardAccount, walkShardAccounts } from '#service/decode/tlb/shard-account.ts';
import { readShardState, readSplitState } from '#service/decode/tlb/shard-state.ts';
import { hashKey } from '#service/store/hash-key.ts';
import type { AccountActivity } from './block-transactions.ts';
import type { ChangedAccount } from './changed-accounts.ts';
import type { BlockReader } from './block-reader.ts';

/** An account that a block changes without a transaction. */
export type AccountEdit = {
  readonly id: Buffer;
  /** Undefined when the block removes the account. */
  readonly after: ShardAccount | undefined;
};

/** Cells of `ShardAccounts` on the old side of the state update. A merge has two cells, a pruned side has none. */
function accountsBefore({
  table,
  stateUpdate,
  info,
}: BlockReader): { readonly left: boolean; readonly cell: number }[] {
  const root = table.ref(stateUpdate, 0);
  if (table.kind(root) === 'pruned') return [];
  const { left, right } = info.afterMerge ? readSplitState(table, root) : { left: root, right: undefined };
  return [left, right].flatMap((state, index) => {
    if (state === undefined || table.kind(state) === 'pruned') return [];
    const { accounts: cell } = readShardState(table, state);
    return table.kind(cell) === 'pruned' ? [] : [{ left: index === 0, cell }];
  });
}

/** Entry of an account before the block. Undefined without an entry, or when the old side of the state update hides it. */
export function shardAccountBefore(block: BlockReader, id: Buffer): ShardAccount | undefined {
  const cell = accountsBeforeOf(block, id);
  return cell === undefined ? undefined : findShardAccount(block.table, cell, id, { skipPruned: true });
}

function accountsBeforeOf(block: BlockReader, id: Buffer): number | undefined {
  const { info } = block;
  const isLeft = !info.afterMerge || shardContains(shardChildren(info.shard)[0], id);
  return accountsBefore(block).find(({ left }) => left === isLeft)?.cell;
}

/** The entry of an account in a dictionary that may hide it. */
function lookUp(table: CellTable, accounts: number | undefined, id: Buffer): ShardAccount | 'none' | 'hidden' {
  if (accounts === undefined || table.kind(accounts) === 'pruned') return 'hidden';
  try {
    return findShardAccount(table, accounts, id) ?? 'none';
  } catch (error) {
    if (error instanceof DecodeError && error.code === 'pruned_branch') return 'hidden';
    throw error;
  }
}

/**
 * Accounts that a block changes without a transaction. Visits only branches of the two dictionaries that the Merkle update shows: a pruned
 * branch is equal on both sides. Misses a change of an account without code that the old side hides; blocks of this service show it.
 * @param shown accounts on the new side of the update
 * Throws DecodeError `too_big` after a million nodes of a side.
 */
export function findAccountEdits(
  block: BlockReader,
  activities: readonly AccountActivity[],
  shown: readonly ChangedAccount[],
): AccountEdit[] {
  const { table, info, stateUpdate } = block;
  const { accounts } = readShardState(table, table.ref(stateUpdate, 1));
  const settled = new Set(activities.map(({ id }) => hashKey(id)));
  const edits: AccountEdit[] = [];
  for (const { id, account } of shown) {
    const key = hashKey(id);
    if (settled.has(key)) continue;
    settled.add(key);
    if (hasChanged(table, lookUp(table, accountsBeforeOf(block, id), id), account)) edits.push({ id, after: account });
  }
  for (const { cell } of accountsBefore(block)) {
    walkShardAccounts(
      table,
      cell,
      (id) => {
        // After a split the old side has the accounts of both halves.
        if (settled.has(hashKey(id)) || !shardContains(info.shard, id) || lookUp(table, accounts, id) !== 'none')
          return;
        edits.push({ id, after: undefined });
      },
      { skipPruned: true },
    );
  }
  return edits;
}

/**
 * A new label of the dictionary shows an entry whose account did not change. An update hides the old position of such an entry. It hides
 * the account too unless the account is a cell without references.
 */
function hasChanged(table: CellTable, before: ShardAccount | 'none' | 'hidden', after: ShardAccount): boolean {
  if (before === 'none') return true;
  if (before === 'hidden') return table.kind(after.account) !== 'pruned' && table.refCount(after.account) > 0;
  return (
    before.lastTransactionLt !== after.lastTransactionLt ||
    !before.lastTransactionHash.equals(after.lastTransactionHash) ||
    !table.hash(before.account, 0).equals(table.hash(after.account, 0))
  );
}
