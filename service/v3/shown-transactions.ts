import { markFlat, writePaced, Written, type Pacer } from '../contract/paced.ts';
import type { TextSlab } from '../contract/text-slab.ts';
import { formatRawAddress } from '../decode/address.ts';
import { parseBoc, type BagReader } from '../decode/boc.ts';
import type { CellStore } from '../decode/cell-store.ts';
import { addressText } from '../decode/messages/addresses.ts';
import { readTransaction } from '../decode/tlb/transaction.ts';
import type { StoreReader } from '../store/queries/reader.ts';
import { findStates, type FoundTransaction } from '../store/queries/transactions.ts';
import { viewBytes } from './scalars.ts';
import type { TreeTransaction } from './trace-tree.ts';
import {
  knowsStates,
  viewHead,
  viewMessages,
  viewTail,
  type ShownTransaction,
  type StatesByHash,
  type TransactionTail,
  type TransactionView,
} from './transaction-views.ts';

/** A transaction as answers show it, and what of it says where it hangs in its trace. */
export type WrittenTransaction = TreeTransaction & {
  readonly traceId: string | undefined;
  readonly json: Written<TransactionView>;
};

/** Settled: all is known that it shows. */
export type NewlyWritten = WrittenTransaction & { readonly isSettled: boolean };

/** A transaction that is written up to what the states of its account say; its cells are not needed any more. */
export type BegunTransaction = TreeTransaction & {
  readonly traceId: string | undefined;
  /** JSON of an object, without its closing brace, in UTF-8. */
  readonly pieces: readonly Buffer[];
  readonly tail: TransactionTail;
};

/** What the transactions of one answer are written with. */
export type Desk = {
  readonly pacer: Pacer;
  /** Takes cells that have to be made to show them. */
  readonly store: CellStore;
  readonly slab: TextSlab;
};

export async function beginTransaction(
  shown: ShownTransaction,
  { pacer, store, slab }: Desk,
): Promise<BegunTransaction> {
  const { stateUpdate, originalStatus, endStatus } = shown.transaction;
  const { emulated, finality } = shown;
  const view = { ...viewHead(shown), ...(await viewMessages(shown, pacer, store)) };
  const { hash, trace_id: traceId, in_msg, out_msgs } = view;
  const text = out_msgs.length <= SENT_AT_ONCE ? JSON.stringify(view) : await writePaced(markFlat(view), pacer);
  const pieces = typeof text === 'string' ? [slab.place(text)] : text;
  return {
    hash,
    traceId,
    in_msg: in_msg && { hash: in_msg.hash },
    out_msgs: out_msgs.map((sent) => ({ hash: sent.hash })),
    pieces: pieces.with(-1, pieces.at(-1)!.subarray(0, -1)),
    tail: { stateUpdate, originalStatus, endStatus, emulated, finality },
  };
}

export function finishTransaction(
  { pieces, tail, ...names }: BegunTransaction,
  states: StatesByHash,
  slab: TextSlab,
): NewlyWritten {
  const end = slab.place(`,${JSON.stringify(viewTail(tail, states)).slice(1)}`);
  return { ...names, json: new Written<TransactionView>([...pieces, end]), isSettled: knowsStates(tail, states) };
}

/** Messages of a transaction that are written at once: decoded, each is some milliseconds of JSON at most. */
const SENT_AT_ONCE = 3;

/** @throws DecodeError the stored cell is no transaction */
export function openTransaction(row: FoundTransaction, readBag: BagReader = parseBoc): ShownTransaction {
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
    softwareVersion: row.software_version,
    emulated: false,
    finality: 'finalized',
  };
}

/** States of accounts by their hashes. */
export async function readStates(store: StoreReader, hashes: readonly Buffer[]): Promise<StatesByHash> {
  if (hashes.length === 0) return new Map();
  const distinct = [...new Map(hashes.map((one) => [viewBytes(one), one])).values()];
  return new Map((await findStates(store, distinct)).map((row) => [viewBytes(row.hash), row]));
}

/** Account of a transaction and both ends of its messages, as `addressesOf` names them of what is shown of it. */
export function* accountsOf({ workchain, transaction }: ShownTransaction): Generator<string> {
  yield formatRawAddress({ workchain, id: transaction.account }, 'upper');
  const { inMessage, outMessages } = transaction;
  if (inMessage !== undefined && inMessage.info.kind !== 'externalIn') yield addressText(inMessage.info.source);
  for (const { info } of outMessages) if (info.kind !== 'externalOut') yield addressText(info.destination);
}

/** Accounts of the transactions and both ends of their messages (v3 sheet 5.1). */
export function* addressesOf(transactions: readonly TransactionView[]): Generator<string | null> {
  for (const { account, in_msg, out_msgs } of transactions) {
    yield account;
    if (in_msg !== null) yield in_msg.source;
    for (const { destination } of out_msgs) yield destination;
  }
}
