import type { BlockId } from '#service/decode/block-id.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import type { Transaction } from '#service/decode/tlb/transaction.ts';
import type { AccountId } from '../accounts/accounts.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';
import type { ShardPlace } from '../blocks/blocks.ts';

/** A transaction in the table that holds its cells; the table may hold others too. */
export type LiveTransaction = {
  /** Signed 32 bits: a transaction itself names its account only within a workchain. */
  readonly workchain: number;
  readonly table: CellTable;
  readonly transaction: Transaction;
};

/** Position of a transaction: lt 0 and a zero hash for "before the first". */
export type TransactionPlace = { readonly lt: bigint; readonly hash: Buffer };

/** A stretch of an account's transactions, newest first, each named by the hash that the next newer one holds. */
export type LiveTransactionList = {
  readonly transactions: readonly LiveTransaction[];
  /** Start of the next stretch; lt 0 when this stretch reaches the account's first transaction. */
  readonly previous: TransactionPlace;
};

/** Range of wanted transactions of an account. */
export type TransactionRange = {
  /** The newest one, part of the answer; absent: the account's newest at the served head. */
  readonly from?: TransactionPlace | undefined;
  /** Limit of transactions, 1..1000. */
  readonly limit: number;
  /** Transactions at this lt and below are left out. */
  readonly toLt: bigint;
  /** Only history that an archival lite server has. */
  readonly archival?: boolean;
};

/** Block by shard and seqno, with both hashes if the caller has them. */
export type BlockName = ShardPlace & {
  readonly seqno: number;
  readonly hashes?: { readonly rootHash: Buffer; readonly fileHash: Buffer } | undefined;
};

/** Range of wanted transactions of a block, by account id and then by lt. */
export type BlockTransactionRange = {
  /** Limit of transactions, 1..10000. */
  readonly count: number;
  /** The place after which they start; absent: the block's first. */
  readonly after?: { readonly account: Buffer; readonly lt: bigint } | undefined;
};

/** A stretch of a block's transactions, complete between its ends; `incomplete` when the block has more behind it. */
export type BlockListing<T> = {
  readonly block: BlockId;
  readonly transactions: readonly T[];
  readonly incomplete: boolean;
};

/** A transaction by its name. */
export type TransactionName = { readonly account: Buffer; readonly lt: bigint; readonly hash: Buffer };

/** An internal message by both its ends and the lt it was created at. */
export type MessageName = {
  readonly source: AccountId;
  readonly destination: AccountId;
  readonly createdLt: bigint;
};

/**
 * Reads of transactions, each proved. A chain of hashes from the proved last transaction or a given hash proves an account's transactions.
 * The block's proof proves transactions of a block. Errors: PoolError, ProofError, LiteServerError (see their modules).
 */
export type LiveTransactions = {
  readTransactions(
    account: AccountId,
    range: TransactionRange,
    context: ReadContext,
  ): Promise<LiveAnswer<LiveTransactionList>>;
  listBlock(
    block: BlockName,
    range: BlockTransactionRange,
    context: ReadContext,
  ): Promise<LiveAnswer<BlockListing<TransactionName>>>;
  readBlockTransactions(
    block: BlockName,
    range: BlockTransactionRange,
    context: ReadContext,
  ): Promise<LiveAnswer<BlockListing<LiveTransaction>>>;
  /** The transaction that a message caused. Throws LiveError `transaction_not_found`. */
  findReceiver(message: MessageName, context: ReadContext): Promise<LiveAnswer<LiveTransaction>>;
  /** The transaction that sent a message. Throws LiveError `transaction_not_found`. */
  findSender(message: MessageName, context: ReadContext): Promise<LiveAnswer<LiveTransaction>>;
};
