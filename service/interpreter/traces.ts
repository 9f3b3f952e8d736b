import { eventTransaction } from '../actions/engine/event-transaction.ts';
import type { ClassifierTrace, EventTransaction } from '../actions/engine/classifier-input.ts';
import { parseBoc } from '../decode/boc.ts';
import { DecodeError } from '../decode/errors.ts';
import { readTransaction } from '../decode/tlb/transaction.ts';
import { mapInSlices, type TimeSlice } from '../runtime/time-slice.ts';
import type { StoredTransaction } from '../store/interpreted-rows.ts';
import type { TraceRow } from '../store/tables.ts';

/** A stored transaction, read. */
export type OpenTransaction = {
  readonly stored: StoredTransaction;
  readonly event: EventTransaction;
  /** Logical time of the account's previous transaction; 0 for its first. */
  readonly prevLt: bigint;
  /** Hashes of the account's state. */
  readonly stateBefore: Buffer;
  readonly stateAfter: Buffer;
};

/** Opens the readable transactions. Transactions that no reader understands are left out. */
export async function openReadable(
  stored: readonly StoredTransaction[],
  timeSlice: TimeSlice,
): Promise<OpenTransaction[]> {
  const opened = await mapInSlices(stored, tryOpen, timeSlice);
  return opened.filter((one) => one !== undefined);
}

function tryOpen(stored: StoredTransaction): OpenTransaction | undefined {
  try {
    return openTransaction(stored);
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

/** Throws DecodeError. */
export function openTransaction(stored: StoredTransaction): OpenTransaction {
  const table = parseBoc(stored.boc);
  const transaction = readTransaction(table, table.roots[0]!);
  const { hash, workchain, mc_seqno: mcSeqno } = stored;
  return {
    stored,
    event: eventTransaction({ table, transaction, hash: asBuffer(hash), workchain, mcSeqno }),
    prevLt: transaction.prevLt,
    stateBefore: transaction.stateUpdate.oldHash,
    stateAfter: transaction.stateUpdate.newHash,
  };
}

/** @param transactions all of the trace, by lt and account */
export function eventTraceOf(row: TraceRow, transactions: readonly OpenTransaction[]): ClassifierTrace {
  return {
    traceId: textOf(row.trace_id),
    externalHash: row.external_hash === null ? null : textOf(row.external_hash),
    externalHashNorm: row.external_hash_norm === null ? null : textOf(row.external_hash_norm),
    endLt: row.end_lt,
    endUtime: row.end_utime >>> 0,
    mcSeqnoEnd: row.mc_seqno_end,
    transactions: transactions.map(({ event }) => event),
  };
}

function textOf(hash: Uint8Array): string {
  return asBuffer(hash).toString('base64');
}

/** The same bytes. */
function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
