import { Written } from '../contract/paced.ts';
import type { TextSlab } from '../contract/text-slab.ts';
import { parseBoc, type BagReader } from '../decode/boc.ts';
import { readTransaction } from '../decode/tlb/transaction.ts';
import type { StoreReader } from '../store/queries/reader.ts';
import { findStates } from '../store/queries/transactions.ts';
import type { HeadRow } from './head-job.ts';
import { viewBytes } from './scalars.ts';
import type { TreeTransaction } from './trace-tree.ts';
import type { TransactionHead } from './transaction-heads.ts';
import {
  knowsStates,
  viewTail,
  type ShownTransaction,
  type StatesByHash,
  type TransactionTail,
  type TransactionView,
} from './transaction-views.ts';

/** A rendered transaction, and its links in the trace. */
export type WrittenTransaction = TreeTransaction & {
  readonly traceId: string | undefined;
  readonly json: Written<TransactionView>;
};

/** Settled: all rendered data is final. */
export type NewlyWritten = WrittenTransaction & { readonly isSettled: boolean };

/** A rendered transaction without its account's states, and the data to complete it. */
export type BegunTransaction = Pick<WrittenTransaction, 'hash' | 'traceId'> &
  TransactionHead & { readonly tail: TransactionTail };

export function finishTransaction(
  { pieces, tail, ...names }: BegunTransaction,
  states: StatesByHash,
  slab: TextSlab,
): NewlyWritten {
  const end = slab.place(`,${JSON.stringify(viewTail(tail, states)).slice(1)}`);
  return { ...names, json: new Written<TransactionView>([...pieces, end]), isSettled: knowsStates(tail, states) };
}

/** @throws DecodeError the stored cell is no transaction */
export function openTransaction(row: HeadRow, readBag: BagReader = parseBoc): ShownTransaction {
  const table = readBag(row.boc);
  return {
    table,
    transaction: readTransaction(table, table.roots[0]!),
    hash: row.hash,
    workchain: row.workchain,
    shard: row.shard,
    seqno: row.seqno,
    mcSeqno: row.mc_seqno,
    traceId: row.trace_id,
    globalVersion: row.global_version,
    ...indexedMarks,
  };
}

/** Marks of every indexed transaction. */
export const indexedMarks = { emulated: false, finality: 'finalized' } as const;

/** States of accounts by their hashes. */
export async function readStates(store: StoreReader, hashes: readonly Buffer[]): Promise<StatesByHash> {
  if (hashes.length === 0) return new Map();
  const distinct = [...new Map(hashes.map((one) => [viewBytes(one), one])).values()];
  return new Map((await findStates(store, distinct)).map((row) => [viewBytes(row.hash), row]));
}

/** Accounts of the transactions and both ends of their messages (service/v3/README.md#address-book). */
export function* addressesOf(transactions: readonly TransactionView[]): Generator<string | null> {
  for (const { account, in_msg, out_msgs } of transactions) {
    yield account;
    if (in_msg !== null) yield in_msg.source;
    for (const { destination } of out_msgs) yield destination;
  }
}
