import { BitWriter } from '#service/decode/bit-writer.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import type { CellStore } from '#service/decode/cell-store.ts';

/** An active account to be made; code and data are cells of `store`. */
export type NewAccount = {
  /** Nanotons. */
  readonly balance: bigint;
  readonly store: CellStore;
  readonly code: number;
  readonly data: number;
  readonly special?: { readonly tick: boolean; readonly tock: boolean };
};

/**
 * Makes the cell of an account that has had no transaction: `account$1`. What it is charged for storing is reckoned here as the
 * node does: every cell of `AccountStorage` once.
 */
export function storeNewAccount(
  target: CellStore,
  { workchain, id }: { readonly workchain: number; readonly id: Buffer },
  account: NewAccount,
): number {
  const storage = storeStorage(target, account);
  const { cells, bits } = measure(target, storage);
  const writer = new BitWriter().bit(true).uint(0b100, 3).int(workchain, 8).bytes(id);
  writer.varUint(BigInt(cells), 7).varUint(BigInt(bits), 7).uint(0, 3).uint(0, 32).bit(false);
  return writer.rest(new CellSlice(target, storage)).finish(target);
}

/** `account_storage$_ last_trans_lt:uint64 balance:CurrencyCollection state:AccountState`, active. */
function storeStorage(target: CellStore, { balance, store, code, data, special }: NewAccount): number {
  const writer = new BitWriter().int(0n, 64).coins(balance).bit(false);
  writer
    .bit(true)
    .bit(false)
    .bit(special !== undefined);
  if (special !== undefined) writer.bit(special.tick).bit(special.tock);
  writer.maybeRef(target.import(store, code)).maybeRef(target.import(store, data)).bit(false);
  return writer.finish(target);
}

function measure(store: CellStore, root: number): { readonly cells: number; readonly bits: number } {
  const seen = new Set([root]);
  let bits = 0;
  for (const cell of seen) {
    bits += store.bitLength(cell);
    for (let position = 0; position < store.refCount(cell); position++) seen.add(store.ref(cell, position));
  }
  return { cells: seen.size, bits };
}
