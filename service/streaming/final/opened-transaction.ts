import { parseBoc, type BagReader } from '#service/decode/boc.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { formatRawAddress } from '#service/decode/address.ts';
import { addressText } from '#service/decode/messages/addresses.ts';
import type { Message } from '#service/decode/tlb/message.ts';
import type { TimeSlice } from '#service/runtime/time-slice.ts';
import type { FoundTransaction } from '#service/store/queries/transactions.ts';
import { indexedMarks, openTransaction } from '#service/v3/rendering/assemble-transaction.ts';
import { viewBytes } from '#service/v3/request/scalars.ts';
import { withStateBefore } from '#service/v3/views/state-before.ts';
import type { TreeTransaction } from '#service/v3/views/trace-tree.ts';
import {
  openMessages,
  viewHead,
  viewTail,
  type ShownTransaction,
  type StatesByHash,
  type TransactionTail,
  type TransactionView,
} from '#service/v3/views/transaction-views.ts';
import { CONTENT_BYTES_MAX, type AccountKey, type StreamTransaction } from '../changes.ts';

/** A stored transaction with its names: accounts, and links in its trace. */
export type OpenedTransaction = TreeTransaction & {
  readonly row: FoundTransaction;
  readonly tail: TransactionTail;
  readonly account: AccountKey;
  /** Its account, and both ends of its messages. */
  readonly named: readonly AccountKey[];
};

/** @throws DecodeError the stored cell is no transaction */
export function openRow(row: FoundTransaction, readBag: BagReader = parseBoc): OpenedTransaction {
  return nameParts(row, openTransaction(row, readBag));
}

/** @param shown the same row, opened */
export function nameParts(row: FoundTransaction, { table, transaction }: ShownTransaction): OpenedTransaction {
  const { stateUpdate, originalStatus, endStatus, inMessage, outMessages } = transaction;
  const account = formatRawAddress({ workchain: row.workchain, id: transaction.account }, 'upper');
  const nameOf = ({ cell }: Message): { readonly hash: string } => ({ hash: viewBytes(table.hash(cell)) });
  return {
    row,
    tail: { stateUpdate, originalStatus, endStatus, ...indexedMarks },
    account,
    hash: viewBytes(row.hash),
    in_msg: inMessage === undefined ? null : nameOf(inMessage),
    out_msgs: outMessages.map(nameOf),
    named: [...new Set([account, ...partiesOf(inMessage, outMessages)])],
  };
}

function* partiesOf(inMessage: Message | undefined, outMessages: readonly Message[]): Generator<string> {
  if (inMessage?.info.kind === 'internal') yield addressText(inMessage.info.source);
  for (const { info } of outMessages) {
    if (info.kind === 'internal') yield addressText(info.destination);
  }
}

/** Size from which a transaction is shown in advance, in slices: smaller ones take a millisecond or two. */
const HEAVY_BYTES = 16 * 1024;

/** A transaction of an event. The view is made when it is first read, for most transactions concern no connection. */
export async function streamTransaction(
  opened: OpenedTransaction,
  states: StatesByHash,
  slice: TimeSlice,
): Promise<StreamTransaction> {
  const { account, hash, named } = opened;
  let made = opened.row.boc.length > HEAVY_BYTES ? await viewInSlices(opened, states, slice) : undefined;
  return {
    account,
    hash,
    named,
    get view() {
      return (made ??= viewWhole(opened, states));
    },
  };
}

function viewWhole(opened: OpenedTransaction, states: StatesByHash): TransactionView {
  const { head, taken, sent, tail } = begin(opened, states);
  return { ...head, in_msg: taken, out_msgs: [...sent], ...tail };
}

async function viewInSlices(
  opened: OpenedTransaction,
  states: StatesByHash,
  slice: TimeSlice,
): Promise<TransactionView> {
  const { head, taken, sent, tail } = begin(opened, states);
  const out_msgs: TransactionView['out_msgs'][number][] = [];
  for (const message of sent) {
    out_msgs.push(message);
    await slice.pause();
  }
  return { ...head, in_msg: taken, out_msgs, ...tail };
}

function begin({ row, tail }: OpenedTransaction, states: StatesByHash) {
  const shown = openTransaction(row);
  return {
    head: viewHead(shown),
    // A larger transaction is shown without its messages (hub/render.ts).
    ...openMessages(shown, createCellStore(), CONTENT_BYTES_MAX),
    tail: viewTail(tail, withStateBefore(row, tail, states)),
  };
}
