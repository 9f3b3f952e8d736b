import { formatRawAddress } from '../decode/address.ts';
import { BitWriter } from '../decode/bit-writer.ts';
import type { Boc } from '../decode/boc.ts';
import { createCellStore } from '../decode/cell-store.ts';
import type { CellStore } from '../decode/cell-store.ts';
import { readAccount, storeAccount } from '../decode/tlb/account.ts';
import type { AccountState } from '../decode/tlb/account.ts';
import type { StateInit } from '../decode/tlb/state-init.ts';
import type { AccountId } from '../live/accounts/accounts.ts';
import type { ChainSnapshot, SimulatedAccounts } from '../live/contracts/chain-snapshot.ts';
import { createTimeSlice } from '../runtime/time-slice.ts';
import type { TimeSlice } from '../runtime/time-slice.ts';
import { storeShardAccount, type OpenedShardAccount } from '../tvm/shard-account.ts';
import { importInSlices, openInSlices, writePlainInSlices } from '../live/accounts/paced-cells.ts';

/** Parts of an account that a simulation replaces: at least one. */
export type AccountOverride = {
  readonly account: AccountId;
  /** Nanotons, below 2^120. */
  readonly balance?: bigint;
  /** Bags of cells with one root. An account without code becomes active. */
  readonly code?: Boc;
  readonly data?: Boc;
};

/**
 * Accounts of a snapshot with some parts replaced, by `workchain:hex`. All other parts are the chain's.
 * An account that the chain lacks has no last transaction and pays storage from the snapshot's block on.
 * Rejects with DecodeError for cells that no account can have, as `ChainSnapshot.readShardAccount` does, and with the reason of the
 * signal.
 */
export async function overrideAccounts(
  snapshot: Pick<ChainSnapshot, 'readShardAccount' | 'block'>,
  overrides: readonly AccountOverride[],
  signal: AbortSignal,
): Promise<SimulatedAccounts> {
  const found = await Promise.all(overrides.map(({ account }) => snapshot.readShardAccount(account)));
  const timeSlice = createTimeSlice(signal);
  const accounts = new Map<string, OpenedShardAccount>();
  for (const [index, override] of overrides.entries()) {
    const account = await overrideAccount(found[index]!, override, { utime: snapshot.block.utime, timeSlice });
    accounts.set(formatRawAddress(override.account), await openInSlices(account, timeSlice));
  }
  await timeSlice.pause();
  return accounts;
}

/** @param utime of the snapshot's block, Unix seconds */
async function overrideAccount(
  { table, account: cell, lastTransaction }: OpenedShardAccount,
  override: AccountOverride,
  { utime, timeSlice }: { readonly utime: number; readonly timeSlice: TimeSlice },
): Promise<Buffer> {
  const store = createCellStore();
  const known = readAccount(table, cell);
  const imported = (of: number | undefined): number | undefined =>
    of === undefined ? undefined : store.import(table, of);
  const { workchain, id } = override.account;
  const { code, data } = override;
  for (const bag of [table, code, data]) if (bag !== undefined) await importInSlices(store, bag, timeSlice);
  const account = storeAccount(store, {
    workchain,
    id,
    lastTransactionLt: known?.lastTransactionLt ?? 0n,
    balance: { grams: override.balance ?? known?.balance.grams ?? 0n, extra: imported(known?.balance.extra) },
    lastPaid: known?.storage.lastPaid ?? utime,
    duePayment: known?.storage.duePayment,
    state: overrideState(store, known?.state ?? { kind: 'uninit' }, { code, data, imported }),
  });
  await timeSlice.pause();
  return writePlainInSlices(store, storeShardAccount(store, account, lastTransaction), timeSlice);
}

type Replacing = {
  /** Bags with the new parts. */
  readonly code: Boc | undefined;
  readonly data: Boc | undefined;
  /** Copies a cell of the chain's account into the store. */
  readonly imported: (cell: number | undefined) => number | undefined;
};

function overrideState(store: CellStore, state: AccountState, { code, data, imported }: Replacing): AccountState {
  if (code === undefined && data === undefined && state.kind !== 'active') return state;
  const init = state.kind === 'active' ? state.init : noInit;
  const given = (bag: Boc): number => store.import(bag, bag.roots[0]!);
  return {
    kind: 'active',
    init: {
      ...init,
      libraries: imported(init.libraries),
      code: code === undefined ? imported(init.code) : given(code),
      // Contracts read their data without a check that the data is there.
      data: data === undefined ? (imported(init.data) ?? new BitWriter().finish(store)) : given(data),
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
