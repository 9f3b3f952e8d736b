import { CellSlice } from '#service/decode/cell-slice.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import { walkHashmap } from '#service/decode/hashmap.ts';
import { walkAccountBlocks, walkAccountTransactions } from '#service/decode/tlb/account-blocks.ts';
import type { ShardAccount } from '#service/decode/tlb/shard-account.ts';
import { accountKey } from '#service/store/account-key.ts';
import type { ChangedAccount } from './changed-accounts.ts';
import type { BlockReader } from './block-reader.ts';

/** Fields of a transaction that rows need; the rest is in its BoC. */
export type FoundTransaction = {
  readonly cell: number;
  readonly hash: Buffer;
  readonly lt: bigint;
  /** 0 for an account's first. */
  readonly prevLt: bigint;
  readonly utime: number;
  /** Encoding of `AccountStatus`. */
  readonly originalStatus: number;
  readonly endStatus: number;
  /** Cells of messages. */
  readonly inMessage: number | undefined;
  readonly outMessages: readonly number[];
  /** Cell of the hashes of the account's state. */
  readonly stateUpdate: number;
};

/** Transactions of an account in a block, by lt. */
export type AccountActivity = {
  readonly id: Buffer;
  /** The account in the form of columns. */
  readonly account: Buffer;
  readonly transactions: readonly FoundTransaction[];
  /** Account in the shard's state after the block; undefined when it was deleted. */
  readonly after: ShardAccount | undefined;
};

/**
 * All transactions of a block, by account and lt.
 * @param changed accounts on the new side of the state update, by id
 */
export function findTransactions(block: BlockReader, changed: readonly ChangedAccount[]): AccountActivity[] {
  const { id, table, extra } = block;
  const places: { readonly id: Buffer; readonly read: readonly ReadTransaction[] }[] = [];
  walkAccountBlocks(table, extra.accountBlocks, (accountBlock) => {
    const read: ReadTransaction[] = [];
    walkAccountTransactions(accountBlock, (_, cell) => {
      read.push(readTransaction(table, cell, read.length > 0));
    });
    places.push({ id: accountBlock.account, read });
  });
  let next = 0;
  return places.map((place) => {
    while (next < changed.length && Buffer.compare(changed[next]!.id, place.id) < 0) next++;
    const after = changed[next]?.id.equals(place.id) === true ? changed[next]!.account : undefined;
    const account = accountKey({ workchain: id.workchain, id: place.id });
    return { id: place.id, account, transactions: withHashes(table, place.read, after), after };
  });
}

type ReadTransaction = Omit<FoundTransaction, 'hash'> & { readonly prevHash: Buffer | undefined };

/**
 * The block contains the hash of a transaction that something links to: the account's next transaction, or its new state. Validators refuse
 * a block with wrong links (the node's validate-query.cpp). Only the last transaction of a deleted account has to be hashed.
 */
function withHashes(
  table: CellTable,
  read: readonly ReadTransaction[],
  after: ShardAccount | undefined,
): FoundTransaction[] {
  return read.map((one, index) => {
    const { cell, lt, prevLt, utime, originalStatus, endStatus, inMessage, outMessages, stateUpdate } = one;
    const next = read[index + 1];
    const linked =
      next === undefined
        ? after?.lastTransactionLt === lt && after.lastTransactionHash
        : next.prevLt === lt && next.prevHash;
    const hash = linked || table.hash(cell);
    return { cell, hash, lt, prevLt, utime, originalStatus, endStatus, inMessage, outMessages, stateUpdate };
  });
}

/**
 * Same as `readTransaction` of decode, without copies of unused parts.
 * @param isLater true if the account's previous transaction is in this block too
 */
function readTransaction(table: CellTable, cell: number, isLater: boolean): ReadTransaction {
  const slice = new CellSlice(table, cell);
  slice.expectTag(4, 7, 'Transaction');
  slice.skip(256);
  const lt = slice.uint64();
  const prevHash = isLater ? slice.hash() : undefined;
  if (!isLater) slice.skip(256);
  const prevLt = slice.uint64();
  const utime = slice.uint(32) | 0;
  slice.skip(15);
  const originalStatus = slice.uint(2);
  const endStatus = slice.uint(2);
  const messages = slice.refSlice();
  const inMessage = messages.maybeRef();
  const outMessages = listOutMessages(table, messages);
  slice.skipVarUint(16);
  slice.maybeRef();
  const stateUpdate = slice.ref();
  return { cell, prevHash, lt, prevLt, utime, originalStatus, endStatus, inMessage, outMessages, stateUpdate };
}

const NO_MESSAGES: readonly number[] = [];

function listOutMessages(table: CellTable, messages: CellSlice): readonly number[] {
  const root = messages.maybeRef();
  if (root === undefined) return NO_MESSAGES;
  const cells: number[] = [];
  walkHashmap(table, root, 15, (_, value) => {
    cells.push(value.ref());
  });
  return cells;
}
