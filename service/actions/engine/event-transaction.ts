import { formatRawAddress } from '#service/decode/address.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import { addressText } from '#service/decode/messages/addresses.ts';
import { extraCurrenciesById } from '#service/decode/tlb/currency-collection.ts';
import { initCell, type CellAt } from '#service/decode/tlb/message-cells.ts';
import { openBody, readOpcode, type Message, type MessageInit } from '#service/decode/tlb/message.ts';
import type { TransactionDescr } from '#service/decode/tlb/transaction-descr.ts';
import type { Transaction } from '#service/decode/tlb/transaction.ts';
import type { EventMessage, EventTransaction } from './classifier-input.ts';

/** Parsed transaction with data that its own cell lacks. */
export type ReadTransaction = {
  readonly table: CellTable;
  readonly transaction: Transaction;
  /** Hash of the transaction, if the caller has it. Computing it takes most of the time for a trace's hashes. */
  readonly hash?: Buffer;
  /** Workchain of the account. */
  readonly workchain: number;
  /** The masterchain block that brought it. */
  readonly mcSeqno: number;
};

/** Kinds of transactions under their names in v3 (service/v3/README.md#values). */
export const transactionKinds = {
  ordinary: 'ord',
  storage: 'storage',
  tickTock: 'tick_tock',
  splitPrepare: 'split_prepare',
  splitInstall: 'split_install',
  mergePrepare: 'merge_prepare',
  mergeInstall: 'merge_install',
} as const satisfies Record<TransactionDescr['kind'], string>;

/**
 * Converts a transaction for classification. The table stays open while bodies and hashes are read.
 * Hashes take most of the time, and few are requested. Throws DecodeError.
 */
export function eventTransaction({
  table,
  transaction,
  hash: known,
  workchain,
  mcSeqno,
}: ReadTransaction): EventTransaction {
  const { descr, inMessage } = transaction;
  let hash: string | undefined;
  return {
    get hash() {
      return (hash ??= (known ?? table.hash(transaction.cell)).toString('base64'));
    },
    account: formatRawAddress({ workchain, id: transaction.account }, 'upper'),
    lt: transaction.lt,
    utime: transaction.utime,
    mcSeqno,
    kind: transactionKinds[descr.kind],
    aborted: 'aborted' in descr && descr.aborted,
    originalStatus: transaction.originalStatus,
    endStatus: transaction.endStatus,
    ...computed(descr),
    inMessage: inMessage === undefined ? null : eventMessage(table, inMessage),
    // Their dictionary is in the order in which they were sent, and so by lt.
    outMessages: transaction.outMessages.map((message) => eventMessage(table, message)),
  };
}

function computed(descr: TransactionDescr): Pick<EventTransaction, 'skippedReason' | 'exitCode'> {
  if (!('compute' in descr)) return { skippedReason: null, exitCode: null };
  const { compute } = descr;
  return compute.kind === 'skipped'
    ? { skippedReason: compute.reason, exitCode: null }
    : { skippedReason: null, exitCode: compute.exitCode };
}

function eventMessage(table: CellTable, message: Message): EventMessage {
  const { cell, body, init } = message;
  let hash: string | undefined;
  return {
    get hash() {
      return (hash ??= hashText(table, cell));
    },
    ...messageInfo(table, message),
    opcode: readOpcode(table, body) ?? null,
    body: table.kind(body.cell) === 'ordinary' ? openBody(table, body) : undefined,
    init: init && openInit(table, init),
  };
}

type Info = Omit<EventMessage, 'hash' | 'opcode' | 'body' | 'init'>;

function messageInfo(table: CellTable, { info }: Message): Info {
  const none = { value: null, extraCurrencies: null, bounce: false };
  if (info.kind === 'externalIn') {
    return { ...none, source: null, destination: addressText(info.destination), createdLt: null, createdAt: null };
  }
  const { createdLt, createdAt } = info;
  const sent = { source: addressText(info.source), createdLt, createdAt };
  if (info.kind === 'externalOut') return { ...none, ...sent, destination: null };
  return {
    ...sent,
    destination: addressText(info.destination),
    value: info.value.grams,
    extraCurrencies: extraCurrenciesById(table, info.value.extra),
    bounce: info.bounce,
  };
}

function openInit(table: CellTable, init: MessageInit): CellSlice | undefined {
  if (init.cell === undefined) return sliceOf(initCell(createCellStore(), table, init));
  return init.state && new CellSlice(table, init.cell);
}

const sliceOf = ({ table, cell }: CellAt): CellSlice => new CellSlice(table, cell);

function hashText(table: CellTable, cell: number): string {
  return table.hash(cell).toString('base64');
}
