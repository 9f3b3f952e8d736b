import { formatRawAddress } from '../decode/address.ts';
import { BitWriter } from '../decode/bit-writer.ts';
import { parseBoc } from '../decode/boc.ts';
import { createCellStore } from '../decode/cell-store.ts';
import type { CellStore } from '../decode/cell-store.ts';
import { readAccount, storeAccount } from '../decode/tlb/account.ts';
import type { AccountState } from '../decode/tlb/account.ts';
import type { StateInit } from '../decode/tlb/state-init.ts';
import type { AccountId } from '../live/accounts/accounts.ts';
import type { ChainSnapshot, SimulatedAccounts } from '../live/contracts/chain-snapshot.ts';
import { writeShardAccount } from '../tvm/shard-account.ts';
import { openShardAccount } from './account-state.ts';

/** Parts of an account that a simulation replaces. */
export type AccountOverride = {
  readonly account: AccountId;
  /** Nanotons, below 2^120. */
  readonly balance?: bigint;
  /** Bags of cells with one root. An account without code becomes active. */
  readonly code?: Buffer;
  readonly data?: Buffer;
};

/**
 * Accounts of a snapshot with some parts replaced, as BoCs of `ShardAccount` by `workchain:hex`. All other parts are the chain's.
 * An account that the chain lacks has no last transaction and pays storage from the snapshot's block on.
 * Rejects as `ChainSnapshot.readShardAccount` does.
 */
export async function overrideAccounts(
  snapshot: Pick<ChainSnapshot, 'readShardAccount' | 'block'>,
  overrides: readonly AccountOverride[],
): Promise<SimulatedAccounts> {
  const entries = overrides.map(async (override): Promise<readonly [string, Buffer]> => {
    const found = await snapshot.readShardAccount(override.account);
    return [formatRawAddress(override.account), overrideAccount(found, override, snapshot.block.utime)];
  });
  return new Map(await Promise.all(entries));
}

/** @param utime of the snapshot's block, Unix seconds */
function overrideAccount(shardAccount: Buffer, override: AccountOverride, utime: number): Buffer {
  const { table, account: cell, lastTransaction } = openShardAccount(shardAccount);
  const store = createCellStore();
  const known = readAccount(table, cell);
  const kept = (of: number | undefined): number | undefined => (of === undefined ? undefined : store.import(table, of));
  const { workchain, id } = override.account;
  const account = storeAccount(store, {
    workchain,
    id,
    lastTransactionLt: known?.lastTransactionLt ?? 0n,
    balance: { grams: override.balance ?? known?.balance.grams ?? 0n, extra: kept(known?.balance.extra) },
    lastPaid: known?.storage.lastPaid ?? utime,
    duePayment: known?.storage.duePayment,
    state: overrideState(store, known?.state ?? { kind: 'uninit' }, { override, kept }),
  });
  return writeShardAccount({ table: store, cell: account }, lastTransaction);
}

type Replacing = {
  readonly override: AccountOverride;
  /** Copies a cell of the chain's account into the store. */
  readonly kept: (cell: number | undefined) => number | undefined;
};

function overrideState(store: CellStore, state: AccountState, { override, kept }: Replacing): AccountState {
  const { code, data } = override;
  if (code === undefined && data === undefined && state.kind !== 'active') return state;
  const init = state.kind === 'active' ? state.init : noInit;
  const given = (boc: Buffer): number => {
    const bag = parseBoc(boc);
    return store.import(bag, bag.roots[0]!);
  };
  return {
    kind: 'active',
    init: {
      ...init,
      libraries: kept(init.libraries),
      code: code === undefined ? kept(init.code) : given(code),
      // Contracts read their data without a check that the data is there.
      data: data === undefined ? (kept(init.data) ?? new BitWriter().finish(store)) : given(data),
    },
  };
}

const noInit: StateInit = {
  fixedPrefixLength: undefined,
  special: undefined,
  code: undefined,
  data: undefined,
  libraries: undefined,
};
