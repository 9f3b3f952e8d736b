import type { Action } from '../actions/engine/action-rows.ts';
import type { ReadContext } from '../contract/answer.ts';
import { writeBoc } from '../decode/boc-writer.ts';
import type { CellTable } from '../decode/cell-table.ts';
import type { Detector } from '../interfaces/detector.ts';
import type { ChainSnapshots } from '../live/contracts/chain-snapshot.ts';
import type { ExternalMessage } from '../live/send/external-message.ts';
import { createTimeSlice, mapInSlices, type TimeSlice } from '../runtime/time-slice.ts';
import { createSimulatedDetection } from '../simulation/detection.ts';
import { simulateTail, type SimulatedTrace } from '../simulation/simulate-message.ts';
import { classifySimulated, type ClassifiedTransactions } from '../simulation/simulated-actions.ts';
import { BOUNDS, RUN_MS } from './simulation-bounds.ts';

/** A trace whose first transactions are final, while messages are on their way. */
export type BegunTrace = ClassifiedTransactions & {
  /** Message from outside that began it. */
  readonly message: Pick<ExternalMessage, 'hash' | 'normalizedHash'>;
  /** Masterchain block that has its newest transactions. */
  readonly mcSeqno: number;
};

/** Transactions that a trace is going to have, and the actions of the whole trace. */
export type Tail = Pick<SimulatedTrace, 'transactions' | 'states' | 'version' | 'left'> & {
  readonly actions: readonly Action[];
};

/** Simulates the rest of traces that have begun. */
export type Tails = {
  /** Undefined for a trace without a message on its way that can run. Rejects as lite servers do, and when the classification fails. */
  readonly simulate: (trace: BegunTrace, signal: AbortSignal) => Promise<Tail | undefined>;
};

export type TailsDependencies = {
  readonly worlds: Pick<ChainSnapshots, 'open'>;
  readonly detector: Detector;
  /** Milliseconds of `performance.now()`. */
  readonly now: () => number;
};

export function createTails({ worlds, detector, now }: TailsDependencies): Tails {
  return {
    async simulate({ message, transactions, mcSeqno }, ending) {
      const signal = AbortSignal.any([ending, AbortSignal.timeout(RUN_MS)]);
      const onWay = await messagesOnWay(transactions, createTimeSlice(signal));
      if (onWay.length === 0) return undefined;
      const context: ReadContext = { deadlineMs: now() + RUN_MS, signal, caller: 'begun traces' };
      const before = await worlds.open(mcSeqno, context);
      const messages = await mapInSlices(onWay.slice(0, BOUNDS.transactionsMax), writeMessage, createTimeSlice(signal));
      const simulated = await simulateTail(before, messages, { ...BOUNDS, signal });
      if (simulated.transactions.length === 0) return undefined;
      const tail = { ...simulated, left: simulated.left + onWay.length - messages.length };
      const detection = createSimulatedDetection(tail, { before, detector });
      const whole = { transactions: [...transactions, ...tail.transactions] };
      const { actions } = await classifySimulated(message, whole, { detection, timeSlice: createTimeSlice(signal) });
      return { ...tail, actions };
    },
  };
}

type OnWay = { readonly table: CellTable; readonly cell: number };

/** Messages between accounts that no transaction of the trace has taken, in their order. */
async function messagesOnWay(
  transactions: BegunTrace['transactions'],
  timeSlice: TimeSlice,
): Promise<readonly OnWay[]> {
  const taken = new Set(await mapInSlices(transactions, takenBy, timeSlice));
  const isOnWay = ({ table, cell }: OnWay): boolean => !taken.has(nameOf(table, cell));
  const onWay = await mapInSlices(transactions, (one) => sentBy(one).filter(isOnWay), timeSlice);
  return onWay.flat();
}

type BegunTransaction = BegunTrace['transactions'][number];

function takenBy({ table, transaction: { inMessage } }: BegunTransaction): string | undefined {
  return inMessage && nameOf(table, inMessage.cell);
}

function sentBy({ table, transaction: { outMessages } }: BegunTransaction): readonly OnWay[] {
  return outMessages.filter(({ info }) => info.kind === 'internal').map(({ cell }) => ({ table, cell }));
}

function nameOf(table: CellTable, cell: number): string {
  return table.hash(cell).toString('hex');
}

function writeMessage({ table, cell }: OnWay): Buffer {
  return writeBoc(table, [cell]);
}
