import type { BitWriter } from '../bit-writer.ts';
import { CellSlice } from '../cell-slice.ts';
import type { CellStore } from '../cell-store.ts';
import type { CellTable } from '../cell-table.ts';
import { openExtra, updateHashmap } from '../hashmap-writer.ts';
import { lookupHashmap, uintKey, walkHashmap } from '../hashmap.ts';
import type { WalkOptions } from '../hashmap.ts';
import { readBlock } from './block.ts';
import { readBlockExtra } from './block-extra.ts';
import {
  currencyAugmentation,
  readCurrencyCollection,
  skipCurrencyCollection,
  writeCurrencyCollection,
} from './currency-collection.ts';
import type { CurrencyCollection } from './currency-collection.ts';
import { readTransaction } from './transaction.ts';
import type { Transaction } from './transaction.ts';

/** All transactions of one account in one block. */
export type AccountBlock = {
  /** Account id, 32 bytes. */
  readonly account: Buffer;
  /** `HashmapAug 64 ^Transaction CurrencyCollection`, a slice at its root: see `walkAccountTransactions`. */
  readonly transactions: CellSlice;
  /** Cell of `HASH_UPDATE Account`. */
  readonly stateUpdate: number;
};

/** `acc_trans#5 account_addr:bits256 transactions:(HashmapAug 64 ^Transaction CurrencyCollection) state_update:^(HASH_UPDATE Account)`. */
function readAccountBlock(slice: CellSlice): AccountBlock {
  slice.expectTag(4, 5, 'AccountBlock');
  const account = slice.hash();
  return {
    account,
    transactions: slice,
    stateUpdate: slice.table.ref(slice.cell, slice.table.refCount(slice.cell) - 1),
  };
}

/** An account's block in `account_blocks:^ShardAccountBlocks`, `HashmapAugE 256 AccountBlock CurrencyCollection`. */
export function findAccountBlock(table: CellTable, accountBlocks: number, account: Buffer): AccountBlock | undefined {
  const root = new CellSlice(table, accountBlocks).maybeRef();
  const slice = lookupHashmap(table, root, 256, account, { readExtra: skipCurrencyCollection });
  return slice && readAccountBlock(slice);
}

/** Visits accounts in the order of their ids, until `visit` returns false. */
export function walkAccountBlocks(
  table: CellTable,
  accountBlocks: number,
  visit: (block: AccountBlock) => boolean | void,
  options: Omit<WalkOptions, 'readExtra'> = {},
): boolean {
  const root = new CellSlice(table, accountBlocks).maybeRef();
  return walkHashmap(table, root, 256, (_, slice) => visit(readAccountBlock(slice)), {
    ...options,
    readExtra: skipCurrencyCollection,
  });
}

/** Cell of the account's transaction with this lt; undefined when there is none. */
export function findAccountTransaction(block: AccountBlock, lt: bigint): number | undefined {
  const { table } = block.transactions;
  return lookupHashmap(table, block.transactions, 64, uintKey(lt, 64), { readExtra: skipCurrencyCollection })?.ref();
}

/** Visits the cells of the account's transactions in the order of their lt, until `visit` returns false. */
export function walkAccountTransactions(
  block: AccountBlock,
  visit: (lt: bigint, transaction: number) => boolean | void,
  options: Omit<WalkOptions, 'readExtra'> = {},
): boolean {
  const { table } = block.transactions;
  return walkHashmap(table, block.transactions, 64, (key, slice) => visit(key.readBigUInt64BE(0), slice.ref()), {
    ...options,
    readExtra: skipCurrencyCollection,
  });
}

/** Every transaction of a block, by account and lt, fully read. Some 5 us each: a large block takes 2 to 5 ms. */
export function readBlockTransactions(table: CellTable, block: number): Transaction[] {
  const { accountBlocks } = readBlockExtra(table, readBlock(table, block).extra);
  const transactions: Transaction[] = [];
  walkAccountBlocks(table, accountBlocks, (accountBlock) => {
    walkAccountTransactions(accountBlock, (_, cell) => {
      transactions.push(readTransaction(table, cell));
    });
  });
  return transactions;
}

/** New block of an account, to be written. */
export type NewAccountBlock = {
  readonly account: Buffer;
  /** At least one; cells of the store. */
  readonly transactions: readonly {
    readonly lt: bigint;
    readonly cell: number;
    readonly totalFees: CurrencyCollection;
  }[];
  /** Cell of `HASH_UPDATE Account`. */
  readonly stateUpdate: number;
};

/** Returns the root of `HashmapAug 256 AccountBlock CurrencyCollection`, whose augmentation is the fees; undefined for no blocks. */
export function storeAccountBlocks(store: CellStore, blocks: readonly NewAccountBlock[]): number | undefined {
  const changes = blocks.map(({ account, transactions, stateUpdate }) => {
    const root = updateHashmap(
      store,
      undefined,
      { bits: 64, augmentation: currencyAugmentation },
      transactions.map(({ lt, cell, totalFees }) => ({
        key: uintKey(lt, 64),
        write: (writer: BitWriter): void => void writeCurrencyCollection(writer, totalFees).ref(cell),
      })),
    )!;
    const write = (writer: BitWriter): void => {
      writeCurrencyCollection(writer, readCurrencyCollection(openExtra(store, root, 64)));
      // `HashmapAug` without E: the dictionary's root cell is inlined in this one.
      writer.uint(5, 4).bytes(account).rest(new CellSlice(store, root)).ref(stateUpdate);
    };
    return { key: account, write };
  });
  return updateHashmap(store, undefined, { bits: 256, augmentation: currencyAugmentation }, changes);
}
