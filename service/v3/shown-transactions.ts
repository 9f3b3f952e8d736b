import { createPacer, markFlat, writePaced, Written, type PacedText } from '../contract/paced.ts';
import { formatRawAddress } from '../decode/address.ts';
import { parseBoc } from '../decode/boc.ts';
import { createCellStore } from '../decode/cell-store.ts';
import { addressText } from '../decode/messages/addresses.ts';
import { readTransaction } from '../decode/tlb/transaction.ts';
import type { StoreReader } from '../store/queries/reader.ts';
import { findStates, type FoundTransaction } from '../store/queries/transactions.ts';
import { viewBytes } from './scalars.ts';
import type { TreeTransaction } from './trace-tree.ts';
import {
  knowsStates,
  viewAround,
  viewMessages,
  type ShownTransaction,
  type StatesByHash,
  type TransactionView,
} from './transaction-views.ts';

/** A transaction as answers show it, and what of it says where it hangs in its trace. */
export type WrittenTransaction = TreeTransaction & {
  readonly traceId: string | undefined;
  readonly json: Written<TransactionView>;
};

/** Settled: all is known that it shows. */
export type NewlyWritten = WrittenTransaction & { readonly isSettled: boolean };

/** Transactions as answers show them, in the order given. Their messages, most of the work, are written while the states of their accounts are read. */
export async function writeTransactions(
  reader: StoreReader,
  opened: readonly ShownTransaction[],
): Promise<readonly NewlyWritten[]> {
  const [states, messages] = await Promise.all([readStates(reader, opened), writeMessages(opened)]);
  const pacer = createPacer();
  const written: NewlyWritten[] = [];
  for (const [at, one] of opened.entries()) {
    await pacer.pause();
    const { text, ...names } = messages[at]!;
    const [before, after] = viewAround(one, states);
    const { hash, trace_id: traceId } = before;
    const json = new Written<TransactionView>(joinFields(before, text, after));
    written.push({ hash, traceId, ...names, json, isSettled: knowsStates(one, states) });
  }
  return written;
}

/** Messages of a transaction in JSON, as an object of two fields, and their hashes. */
type WrittenMessages = Pick<TreeTransaction, 'in_msg' | 'out_msgs'> & { readonly text: PacedText };

async function writeMessages(opened: readonly ShownTransaction[]): Promise<readonly WrittenMessages[]> {
  const pacer = createPacer();
  const store = createCellStore();
  const written: WrittenMessages[] = [];
  for (const one of opened) {
    await pacer.pause();
    const view = await viewMessages(one, pacer, store);
    const { in_msg, out_msgs } = view;
    written.push({
      in_msg: in_msg && { hash: in_msg.hash },
      out_msgs: out_msgs.map(({ hash }) => ({ hash })),
      text: out_msgs.length <= SENT_AT_ONCE ? JSON.stringify(view) : await writePaced(markFlat(view), pacer),
    });
  }
  return written;
}

/** Messages of a transaction that are written at once: decoded, each is some milliseconds of JSON at most. */
const SENT_AT_ONCE = 3;

/** Fields of three objects as those of one. @param middle the JSON of an object with fields */
function joinFields(before: object, middle: PacedText, after: object): PacedText {
  const pieces = [middle].flat();
  pieces[0] = `${JSON.stringify(before).slice(0, -1)},${pieces[0]!.slice(1)}`;
  pieces[pieces.length - 1] = `${pieces.at(-1)!.slice(0, -1)},${JSON.stringify(after).slice(1)}`;
  return pieces.length === 1 ? pieces[0] : pieces;
}

/** @throws DecodeError the stored cell is no transaction */
export function openTransaction(row: FoundTransaction): ShownTransaction {
  const table = parseBoc(row.boc);
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

async function readStates(store: StoreReader, shown: readonly ShownTransaction[]): Promise<StatesByHash> {
  if (shown.length === 0) return new Map();
  const all = shown.flatMap(({ transaction: { stateUpdate } }) => [stateUpdate.oldHash, stateUpdate.newHash]);
  const distinct = [...new Map(all.map((one) => [viewBytes(one), one])).values()];
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
