import { RawJson } from '#service/contract/json-stream.ts';
import type { Utf8Buffer } from '#service/runtime/utf8-buffer.ts';
import { parseBoc, type BagReader } from '#service/decode/boc.ts';
import { readTransaction } from '#service/decode/tlb/transaction.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { findStates, type FoundTransaction } from '#service/store/queries/transactions.ts';
import { viewBytes } from '../request/scalars.ts';
import type { RenderedTransaction } from '../views/trace-tree.ts';
import type { PartialTransactionJson } from './transaction-json.ts';
import {
  knowsStates,
  viewTail,
  type ShownTransaction,
  type StatesByHash,
  type TransactionTail,
  type TransactionView,
} from '../views/transaction-views.ts';

/** Settled: all rendered data is final. */
export type NewlyRendered = RenderedTransaction & { readonly isSettled: boolean };

/** Columns that a transaction is rendered from. */
type RenderRow = Pick<
  FoundTransaction,
  'hash' | 'trace_id' | 'boc' | 'workchain' | 'shard' | 'seqno' | 'mc_seqno' | 'global_version'
>;

/** A rendered transaction without its account's states, and the data to complete it. */
export type BegunTransaction = Pick<RenderedTransaction, 'hash' | 'traceId'> &
  Omit<PartialTransactionJson, 'accounts'> & { readonly tail: TransactionTail };

/** Completes the JSON of a transaction with the states of its account. The result is settled if `states` has both states. */
export function assembleTransaction(
  { pieces, tail, ...names }: BegunTransaction,
  states: StatesByHash,
  slab: Utf8Buffer,
): NewlyRendered {
  const end = slab.place(`,${JSON.stringify(viewTail(tail, states)).slice(1)}`);
  return { ...names, json: new RawJson<TransactionView>([...pieces, end]), isSettled: knowsStates(tail, states) };
}

/** Reads the stored cell of a transaction. @throws DecodeError the cell is no transaction */
export function openTransaction(row: RenderRow, readBag: BagReader = parseBoc): ShownTransaction {
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
