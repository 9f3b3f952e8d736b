import type { Classified } from '../actions/classify.ts';
import { eventTransaction } from '../actions/engine/event-transaction.ts';
import type { ClassifierTrace, EventTransaction } from '../actions/engine/classifier-input.ts';
import type { CellTable } from '../decode/cell-table.ts';
import { classifyWithLookups, type LookUpFacts } from '../interfaces/classify-with-lookups.ts';
import type { ExternalMessage } from '../live/send/external-message.ts';
import { mapInSlices, type TimeSlice } from '../runtime/time-slice.ts';
import type { SimulatedDetection } from './detection.ts';
import type { SimulatedTransaction } from './simulate-message.ts';

/** A trace that no block has, has no masterchain block (service/v3/README.md#pending). */
const NO_SEQNO = 0;

/** Transactions of a trace, by lt. */
export type ClassifiedTransactions = {
  readonly transactions: readonly (Pick<SimulatedTransaction, 'workchain' | 'transaction'> & {
    readonly table: CellTable;
  })[];
};

/** Classifies a simulated trace by the states that it leaves. Rejects as `SimulatedDetection.detect` does, and when the time slice ends. */
export async function classifySimulated(
  message: Pick<ExternalMessage, 'hash' | 'normalizedHash'> | undefined,
  trace: ClassifiedTransactions,
  { detection, timeSlice }: { readonly detection: SimulatedDetection; readonly timeSlice: TimeSlice },
): Promise<Classified> {
  const lookUp: LookUpFacts = async (accounts) => {
    const detected = await detection.detect(accounts);
    return new Map([...detected].map(([account, { facts }]) => [account, facts]));
  };
  return classifyWithLookups(await eventTraceOf(message, trace, timeSlice), lookUp, timeSlice);
}

/** @param message the message from outside; undefined for a message between accounts */
async function eventTraceOf(
  message: Pick<ExternalMessage, 'hash' | 'normalizedHash'> | undefined,
  { transactions }: ClassifiedTransactions,
  timeSlice: TimeSlice,
): Promise<ClassifierTrace> {
  const events = await mapInSlices(transactions, eventOf, timeSlice);
  const last = events.at(-1)!;
  return {
    traceId: events[0]!.hash,
    externalHash: message?.hash.toString('base64') ?? null,
    externalHashNorm: message?.normalizedHash.toString('base64') ?? null,
    endLt: last.lt,
    endUtime: last.utime,
    mcSeqnoEnd: NO_SEQNO,
    transactions: events,
  };
}

function eventOf({ table, transaction, workchain }: ClassifiedTransactions['transactions'][number]): EventTransaction {
  return eventTransaction({ table, transaction, workchain, mcSeqno: NO_SEQNO });
}
