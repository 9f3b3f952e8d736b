import { BitWriter } from '../bit-writer.ts';
import { CellSlice } from '../cell-slice.ts';
import type { CellStore } from '../cell-store.ts';
import type { CellTable } from '../cell-table.ts';
import { DecodeError } from '../errors.ts';
import { readCurrencyCollection, writeCurrencyCollection } from './currency-collection.ts';
import type { CurrencyCollection } from './currency-collection.ts';
import { readInternalAddress, writeStandardAddress } from './message-address.ts';
import type { InternalAddress } from './message-address.ts';
import { readStateInit, writeStateInit } from './state-init.ts';
import type { StateInit } from './state-init.ts';

/** An account in a shard state. */
export type Account = {
  readonly address: InternalAddress;
  readonly storage: StorageInfo;
  /** Lt above that of the last transaction and its outgoing messages. */
  readonly lastTransactionLt: bigint;
  readonly balance: CurrencyCollection;
  readonly state: AccountState;
};

export type AccountState =
  | { readonly kind: 'uninit' }
  | { readonly kind: 'active'; readonly init: StateInit }
  | { readonly kind: 'frozen'; readonly stateHash: Buffer };

/** Data from which storage costs are computed. */
export type StorageInfo = {
  readonly cells: number;
  readonly bits: number;
  /** Hash of the dictionary of the account's cells, stored for large accounts since version 11. */
  readonly dictHash: Buffer | undefined;
  /** Unix seconds; 0 for special accounts. */
  readonly lastPaid: number;
  readonly duePayment: bigint | undefined;
};

/**
 * `account_none$0`, or `account$1 addr:MsgAddressInt storage_stat:StorageInfo storage:AccountStorage` with
 * `account_storage$_ last_trans_lt:uint64 balance:CurrencyCollection state:AccountState`.
 * @returns undefined for `account_none`
 */
export function readAccount(table: CellTable, cell: number): Account | undefined {
  const slice = new CellSlice(table, cell);
  if (!slice.bit()) return undefined;
  return {
    address: readInternalAddress(slice),
    storage: readStorageInfo(slice),
    lastTransactionLt: slice.uint64(),
    balance: readCurrencyCollection(slice),
    state: readAccountState(slice),
  };
}

/**
 * `storage_info$_ used:StorageUsed storage_extra:StorageExtraInfo last_paid:uint32 due_payment:(Maybe Grams)`, `storage_used$_ cells:(VarUInteger 7)
 * bits:(VarUInteger 7)`, `storage_extra_none$000`, `storage_extra_info$001 dict_hash:uint256`. Before version 11 a third number was in the place of
 * the extra part. The number was always 0, whose three bits are those of `storage_extra_none`.
 */
function readStorageInfo(slice: CellSlice): StorageInfo {
  const cells = slice.varUintNumber(7);
  const bits = slice.varUintNumber(7);
  const extra = slice.uint(3);
  if (extra > 1) {
    throw new DecodeError('bad_tag', 'The cell is no StorageExtraInfo.', { cell: slice.cell, found: extra, limit: 1 });
  }
  return {
    cells,
    bits,
    dictHash: extra === 1 ? slice.hash() : undefined,
    lastPaid: slice.uint(32),
    duePayment: slice.bit() ? slice.coins() : undefined,
  };
}

/** `account_uninit$00`, `account_active$1 _:StateInit`, `account_frozen$01 state_hash:bits256`. */
function readAccountState(slice: CellSlice): AccountState {
  if (slice.bit()) return { kind: 'active', init: readStateInit(slice) };
  return slice.bit() ? { kind: 'frozen', stateHash: slice.hash() } : { kind: 'uninit' };
}

/** Account to be written; its cells are in the store. Its storage use is computed. */
export type NewAccount = Pick<Account, 'lastTransactionLt' | 'balance' | 'state'> & {
  readonly workchain: number;
  /** 32 bytes. */
  readonly id: Buffer;
  readonly lastPaid: number;
  readonly duePayment: bigint | undefined;
};

/** Makes the cell of an account. Every cell of `AccountStorage` counts once, as in the node. */
export function storeAccount(store: CellStore, account: NewAccount): number {
  const storage = writeCurrencyCollection(new BitWriter().int(account.lastTransactionLt, 64), account.balance);
  writeAccountState(storage, account.state);
  const root = storage.finish(store);
  const { cells, bits } = measure(store, root);
  const writer = writeStandardAddress(new BitWriter().bit(true), account);
  writer.varUint(BigInt(cells), 7).varUint(BigInt(bits), 7).uint(0, 3).uint(account.lastPaid, 32);
  writer.bit(account.duePayment !== undefined);
  if (account.duePayment !== undefined) writer.coins(account.duePayment);
  return writer.rest(new CellSlice(store, root)).finish(store);
}

/** The reverse of `readAccountState`. */
function writeAccountState(writer: BitWriter, state: AccountState): void {
  if (state.kind === 'active') writeStateInit(writer.bit(true), state.init);
  else if (state.kind === 'uninit') writer.uint(0, 2);
  else writer.uint(1, 2).bytes(state.stateHash);
}

/** Counts cells and bits. Bytes for the cells of the store take less than half of the time of a set. */
function measure(store: CellStore, root: number): { readonly cells: number; readonly bits: number } {
  const isSeen = new Uint8Array(store.size);
  const seen = [root];
  isSeen[root] = 1;
  let bits = 0;
  for (const cell of seen) {
    bits += store.bitLength(cell);
    for (let position = 0; position < store.refCount(cell); position++) {
      const child = store.ref(cell, position);
      if (isSeen[child] === 1) continue;
      isSeen[child] = 1;
      seen.push(child);
    }
  }
  return { cells: seen.length, bits };
}
