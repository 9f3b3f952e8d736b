import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { BitWriter } from '#service/decode/bit-writer.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { openExtra } from '#service/decode/hashmap-writer.ts';
import type { CurrencyCollection } from '#service/decode/tlb/currency-collection.ts';
import { NO_CURRENCIES, listExtraCurrencies, storeExtraCurrencies } from '#service/decode/tlb/currency-collection.ts';
import { readDepthBalanceInfo, writeDepthBalanceInfo } from '#service/decode/tlb/depth-balance-info.ts';
import type { ShardAccount } from '#service/decode/tlb/shard-account.ts';
import { findShardAccount, updateShardAccounts } from '#service/decode/tlb/shard-account.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import { VisitedCells } from './visited-cells.ts';
import type { PreviousState } from './previous-state.ts';
import { librariesOf, updatePublicLibraries } from './public-libraries.ts';

/**
 * Manual change of an account in the state, before a block's transactions. It allows any balance, code, data or configuration. No
 * transaction reports it. Added or removed money counts as minted or burned.
 */
export type AccountEdit = {
  readonly workchain: number;
  readonly id: Buffer;
  /** Makes the account's new cell from the old cell, in the store of states. Undefined removes the account. */
  readonly edit: (states: CellStore, account: number | undefined) => number | undefined;
  /** New last transaction; absent: unchanged. */
  readonly last?: Pick<ShardAccount, 'lastTransactionHash' | 'lastTransactionLt'>;
};

/** Cells of the accounts that a state has, as `HashmapAugE` and its root. */
export type StoredAccounts = {
  readonly root: number | undefined;
  readonly cell: number;
  readonly balance: CurrencyCollection;
};

/** Writes `ShardAccounts` by the root of its dictionary. */
export function storeShardAccounts(states: CellStore, root: number | undefined): StoredAccounts {
  const whole =
    root === undefined ? { splitDepth: 0, balance: NO_CURRENCIES } : readDepthBalanceInfo(openExtra(states, root, 256));
  const cell = writeDepthBalanceInfo(new BitWriter().maybeRef(root), whole).finish(states);
  return { root, cell, balance: whole.balance };
}

const noTransaction = { lastTransactionHash: Buffer.alloc(32), lastTransactionLt: 0n };

/** Money that edits added to accounts, and removed from them, by currency. */
export type Gained = { readonly added: CurrencyCollection; readonly lost: CurrencyCollection };

/** Returns the excess of `one` over `other`, by currency. */
function excess(states: CellStore, one: CurrencyCollection, other: CurrencyCollection): CurrencyCollection {
  const there = new Map(listExtraCurrencies(states, other.extra).map(({ id, amount }) => [id, amount]));
  const more = listExtraCurrencies(states, one.extra)
    .map(({ id, amount }) => ({ id, amount: amount - (there.get(id) ?? 0n) }))
    .filter(({ amount }) => amount > 0n);
  const grams = one.grams > other.grams ? one.grams - other.grams : 0n;
  return { grams, extra: storeExtraCurrencies(states, more) };
}

/** Returns the state with edited accounts. Its total is still the old total, so that the block can state the difference. */
export function applyEdits(
  states: CellStore,
  before: PreviousState,
  edits: readonly AccountEdit[],
): { readonly before: PreviousState; readonly gained: Gained } {
  if (edits.length === 0) return { before, gained: { added: NO_CURRENCIES, lost: NO_CURRENCIES } };
  const { accountsRoot, accounts } = before;
  const changes = edits.map(({ id, edit, last: given }) => {
    const found = findShardAccount(states, accounts, id);
    const account = edit(states, found?.account);
    const { lastTransactionHash, lastTransactionLt } = given ?? found ?? noTransaction;
    return {
      id,
      account: account === undefined ? undefined : { account, lastTransactionHash, lastTransactionLt },
      libraries: { id, before: librariesOf(states, found?.account), after: librariesOf(states, account) },
    };
  });
  // Only the masterchain's accounts publish.
  const published = edits.every(({ workchain }) => workchain === MASTERCHAIN)
    ? updatePublicLibraries(
        states,
        before.libraries,
        changes.map(({ libraries }) => libraries),
      )
    : before.libraries;
  const { root, cell, balance } = storeShardAccounts(states, updateShardAccounts(states, accountsRoot, changes));
  return {
    before: { ...before, accounts: cell, accountsRoot: root, libraries: published },
    gained: { added: excess(states, balance, before.totalBalance), lost: excess(states, before.totalBalance, balance) },
  };
}

/**
 * Returns cells of the previous state on the paths to edited accounts, or to their absent positions. The update shows these cells. It thus
 * states the accounts that a block changes without a transaction.
 * @param roots roots of the previous state, or of both halves
 */
export function waysToEdited(
  states: CellStore,
  roots: readonly number[],
  edits: readonly AccountEdit[],
): ReadonlySet<number> {
  const ways = new Set<number>();
  for (const root of roots) {
    const visited = new VisitedCells(states, root);
    const { accounts } = readShardState(visited, root);
    for (const { id } of edits) findShardAccount(visited, accounts, id);
    visited.cells().forEach((cell) => ways.add(cell));
  }
  return ways;
}
