import type { Registry } from 'prom-client';

import type { LiveAnswer } from '../contract/answer.ts';
import { ContractError } from '../contract/errors.ts';
import { DecodeError } from '../decode/errors.ts';
import type { Detector } from '../interfaces/detector.ts';
import type { ChainSnapshot, ChainSnapshots } from '../live/contracts/chain-snapshot.ts';
import { LiveError } from '../live/errors.ts';
import type { IncomingMessage } from '../live/send/external-message.ts';
import { createTimeSlice } from '../runtime/time-slice.ts';
import { overrideAccounts } from '../simulation/account-overrides.ts';
import { createSimulatedDetection } from '../simulation/detection.ts';
import { simulateMessage, type SimulationBounds } from '../simulation/simulate-message.ts';
import type { Bill, ThreadBudget } from '../tvm/bill.ts';
import { TvmError } from '../tvm/errors.ts';
import type { ActionNetwork } from '../v3/action-details/action-derived.ts';
import { V3Error } from '../v3/request/errors.ts';
import type { V3Request } from '../v3/request/operation.ts';
import { createEmulateMetrics, type RunOutcome } from './metrics.ts';
import { cannotRun, EmulateError, notAccepted, ranTooLong, usedThreadTime } from './request/errors.ts';
import { openOverrides } from './request/overrides.ts';
import { createRunSlots } from './run-slots.ts';
import type { EmulateIndex } from './views/annotations.ts';
import type { EmulateTraceResponse } from './views/trace-response.ts';
import { createTraceView, type TraceValues } from './views/trace-view.ts';

/** A message to run. */
export type TracedMessage = {
  readonly message: IncomingMessage;
  readonly ignoreSignature: boolean;
};

/** Part of a snapshot that decides the message to run. */
export type MessageSource = Pick<ChainSnapshot, 'block' | 'readAccount'>;

/** Runs messages and shows what they lead to. */
export type TraceAnswers = {
  /**
   * Makes the answer for the message that `make` returns. `make` receives the wanted block, with the accounts that the request overrides.
   * Rejects with EmulateError, V3Error `answer_too_large`, and as `ChainSnapshot` and the index do.
   */
  answer(
    values: TraceValues,
    context: V3Request,
    make: (source: MessageSource) => TracedMessage | Promise<TracedMessage>,
  ): Promise<LiveAnswer<EmulateTraceResponse>>;
};

export type TraceAnswersDependencies = {
  readonly snapshots: Pick<ChainSnapshots, 'open'>;
  readonly detector: Detector;
  /** Absent: names and tokens are unknown. */
  readonly index?: EmulateIndex | undefined;
  /** Served head; undefined before the first block. */
  readonly headSeqno: () => number | undefined;
  /** Returns so many random bytes. */
  readonly randomBytes: (count: number) => Buffer;
  readonly register: Registry;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** Thread time of one request, in milliseconds; default 2,000. */
  readonly threadMs?: number;
};

/**
 * 255 messages of a wallet and the wallet itself. The gas is that of 256 transactions of 15,000. Each bound is a number of the trace, so the
 * same request on the same block meets the same bound.
 */
const BOUNDS: SimulationBounds = { transactionsMax: 256, depthMax: 32, gasMax: 4_000_000 };

/** Thread time of the transactions and get-methods of one request, in milliseconds. A request with the slowest instructions fails by it. */
const THREAD_MS = 2000;

const SEED_BYTES = 32;

export function createTraceAnswers(network: ActionNetwork, dependencies: TraceAnswersDependencies): TraceAnswers {
  const { snapshots, detector, index, headSeqno, randomBytes, register, now, threadMs = THREAD_MS } = dependencies;
  const show = createTraceView(network, { index });
  const slots = createRunSlots(now);
  const metrics = createEmulateMetrics(register, {
    running: () => slots.running,
    waiting: () => slots.waiting,
    paused: () => slots.paused,
  });

  async function open(seqno: number | undefined, context: RunContext): Promise<ChainSnapshot> {
    const head = headSeqno();
    if (seqno !== undefined && head !== undefined && seqno > head) {
      throw new EmulateError('seqno_too_new', 'mc block seqno is too new');
    }
    return snapshots.open(seqno, context);
  }

  async function run(
    values: TraceValues,
    context: RunContext,
    make: Parameters<TraceAnswers['answer']>[2],
  ): Promise<LiveAnswer<EmulateTraceResponse>> {
    const { signal } = context;
    const given = await openOverrides(values.overrides ?? [], createTimeSlice(signal));
    const snapshot = await open(values.mcSeqno, context);
    const overrides = await overrideAccounts(snapshot, given, signal).catch((error: unknown) => {
      throw notRunnable(error, true);
    });
    const before = overrides.size === 0 ? snapshot : snapshot.withAccounts(overrides);
    const { message, ignoreSignature } = await make({ block: snapshot.block, readAccount: before.readAccount });
    const randSeed = values.randSeed ?? randomBytes(SEED_BYTES);
    const terms = { withLog: true, rejectsTimeouts: true };
    const options = { ...BOUNDS, ...terms, ignoreSignature, randSeed, overrides, signal };
    const isInvented = message.isInternal || overrides.size > 0;
    const trace = await simulateMessage(inTurn(snapshot, context), message.boc, options).catch((error: unknown) => {
      throw notRunnable(error, isInvented);
    });
    if (trace.kind === 'rejected') throw message.isInternal ? cannotRun(trace.error) : notAccepted(trace);
    metrics.simulated(trace.transactions.length);
    const detection = createSimulatedDetection(trace, { before, detector, rejectsTimeouts: true });
    const shown = await show({ values, trace, detection, snapshot, message, randSeed }, context);
    metrics.ran(shown.is_incomplete ? 'incomplete' : 'whole');
    return snapshot.answer(shown);
  }

  return {
    answer: (values, context, make) =>
      slots.run({ ...context, bill: billOf(context) }, async (turn) => {
        const threadBudget: ThreadBudget = { leftMs: threadMs };
        try {
          return await run(
            values,
            { ...context, threadBudget, turn: () => turn(threadMs - threadBudget.leftMs) },
            make,
          );
        } catch (error) {
          const failure = withoutTimeout(error, threadBudget.leftMs > 0 ? undefined : threadMs);
          metrics.ran(outcomeOf(failure));
          throw failure;
        }
      }),
  };
}

type RunContext = V3Request & { readonly threadBudget: ThreadBudget; readonly turn: () => Promise<void> };

/** Lets each transaction wait for the turn of its run. */
function inTurn(snapshot: ChainSnapshot, { turn }: RunContext): ChainSnapshot {
  return {
    ...snapshot,
    async emulate(call) {
      await turn();
      return snapshot.emulate(call);
    },
  };
}

/**
 * Replaces the timeout of a run. Time depends on the machine, so it never shortens an answer, and the request is not at fault.
 * @param usedUpMs the thread time of the request when none of it is left
 */
function withoutTimeout(error: unknown, usedUpMs: number | undefined): unknown {
  if (!(error instanceof TvmError) || error.code !== 'tvm_timeout') return error;
  return usedUpMs === undefined ? ranTooLong(error.data.detail) : usedThreadTime(usedUpMs);
}

/**
 * The VM refuses cells of the caller: a fault of the caller.
 * @param isInvented the caller chose a message or a state that the chain cannot have
 */
function notRunnable(error: unknown, isInvented: boolean): unknown {
  if (error instanceof DecodeError) return cannotRun(error.message);
  if (!(error instanceof TvmError)) return error;
  if (error.code === 'tvm_bad_request' || needsTooManyLibraries(error)) return cannotRun(error.data.detail);
  return error.code === 'tvm_crashed' && isInvented ? cannotRun('the virtual machine failed') : error;
}

/** Only the bound on libraries has a limit. Other failures of libraries are those of lite servers. */
function needsTooManyLibraries({ code, data }: TvmError): boolean {
  return code === 'tvm_library_unavailable' && data.limit !== undefined;
}

/** Payer and caller of a request, as for thread time of the virtual machine. */
function billOf({ caller = '', getMethods }: V3Request): Bill {
  return { payer: getMethods?.payer ?? caller, caller };
}

function outcomeOf(error: unknown): RunOutcome {
  if (error instanceof EmulateError && error.code === 'not_accepted') return 'rejected';
  if (error instanceof EmulateError && error.code === 'emulation_timeout') return 'timeout';
  return isRefusal(error) ? 'refused' : 'failed';
}

/** True for a fault of the request. */
function isRefusal(error: unknown): boolean {
  if (error instanceof EmulateError) return error.code !== 'emulation_busy';
  if (error instanceof ContractError) return true;
  if (error instanceof LiveError) return error.code === 'bad_message';
  return error instanceof V3Error && error.code === 'answer_too_large';
}
