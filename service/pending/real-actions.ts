import type { Classified } from '../actions/classify.ts';
import type { ReadContext } from '../contract/answer.ts';
import type { Detector } from '../interfaces/detector.ts';
import type { ChainSnapshots, SimulatedAccounts } from '../live/contracts/chain-snapshot.ts';
import type { ExternalMessage } from '../live/send/external-message.ts';
import { createTimeSlice } from '../runtime/time-slice.ts';
import { createSimulatedDetection } from '../simulation/detection.ts';
import { simulateMessage } from '../simulation/simulate-message.ts';
import { classifySimulated, type ClassifiedTransactions } from '../simulation/simulated-actions.ts';
import { BOUNDS, RUN_MS } from './simulation-bounds.ts';

/** Actions of real transactions that no masterchain block has yet. */
export type RealActions = {
  /**
   * Classifies transactions of one trace. Kinds of contracts come from the head, and from a simulation of the message for contracts that the trace
   * makes. Rejects as lite servers do.
   */
  readonly classify: (
    message: ExternalMessage,
    transactions: ClassifiedTransactions['transactions'],
    signal: AbortSignal,
  ) => Promise<Classified>;
};

export type RealActionsDependencies = {
  readonly worlds: Pick<ChainSnapshots, 'open'>;
  readonly detector: Detector;
  /** Milliseconds of `performance.now()`. */
  readonly now: () => number;
};

const noAccounts: SimulatedAccounts = new Map();

export function createRealActions({ worlds, detector, now }: RealActionsDependencies): RealActions {
  return {
    async classify(message, transactions, ending) {
      const signal = AbortSignal.any([ending, AbortSignal.timeout(RUN_MS)]);
      const context: ReadContext = { deadlineMs: now() + RUN_MS, signal, caller: 'signed blocks' };
      const before = await worlds.open(undefined, context);
      const simulated = await simulateMessage(before, message.boc, { ...BOUNDS, signal });
      const after = simulated.kind === 'trace' ? simulated.after : noAccounts;
      const detection = createSimulatedDetection({ after }, { before, detector });
      return classifySimulated(message, { transactions }, { detection, timeSlice: createTimeSlice(signal) });
    },
  };
}
