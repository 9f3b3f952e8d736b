import type { CellTable } from '../decode/cell-table.ts';
import { readAccount } from '../decode/tlb/account.ts';
import { extraCurrenciesById } from '../decode/tlb/currency-collection.ts';
import type { OpenedShardAccount } from '../tvm/shard-account.ts';

/** Data of an account's state, besides its transactions. */
export type SimulatedState = {
  /** Hash of the `Account` cell, 32 bytes. */
  readonly hash: Buffer;
  /** Nanotons. */
  readonly balance: bigint;
  /** Id, unsigned -> amount. */
  readonly extraCurrencies: Readonly<Record<string, string>>;
  readonly status: 'uninit' | 'frozen' | 'active' | 'nonexist';
  readonly frozenHash: Buffer | null;
  readonly dataHash: Buffer | null;
  readonly codeHash: Buffer | null;
};

/** A text that differs for different accounts: hash of the account and of its last transaction. */
export function versionOf({ table, account, lastTransaction }: OpenedShardAccount): string {
  return `${table.hash(account).toString('latin1')}${lastTransaction.hash.toString('latin1')}`;
}

/** The state of an account that is not there. */
export function noState(hash: Buffer): SimulatedState {
  const none = { frozenHash: null, dataHash: null, codeHash: null };
  return { hash, balance: 0n, extraCurrencies: {}, status: 'nonexist', ...none };
}

/** Reads an `Account` cell; undefined for `account_none`. Throws DecodeError. */
export function readState(table: CellTable, cell: number): SimulatedState | undefined {
  const account = readAccount(table, cell);
  if (account === undefined) return undefined;
  const { balance, state } = account;
  const init = state.kind === 'active' ? state.init : undefined;
  return {
    hash: table.hash(cell),
    balance: balance.grams,
    extraCurrencies: extraCurrenciesById(table, balance.extra),
    status: state.kind,
    frozenHash: state.kind === 'frozen' ? state.stateHash : null,
    dataHash: hashOf(table, init?.data),
    codeHash: hashOf(table, init?.code),
  };
}

function hashOf(table: CellTable, cell: number | undefined): Buffer | null {
  return cell === undefined ? null : table.hash(cell);
}
