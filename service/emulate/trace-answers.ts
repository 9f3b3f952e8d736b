import type { Registry } from 'prom-client';

import type { LiveAnswer } from '../contract/answer.ts';
import type { Values } from '../contract/parameter.ts';
import { createCellStore } from '../decode/cell-store.ts';
import { DecodeError } from '../decode/errors.ts';
import type { Detector } from '../interfaces/detector.ts';
import type { ChainSnapshot, ChainSnapshots } from '../live/contracts/chain-snapshot.ts';
import type { IncomingMessage } from '../live/send/external-message.ts';
import { createSemaphore } from '../runtime/semaphore.ts';
import { createTimeSlice } from '../runtime/time-slice.ts';
import { overrideAccounts } from '../simulation/account-overrides.ts';
import { createSimulatedDetection, type SimulatedDetection } from '../simulation/detection.ts';
import { classifySimulated } from '../simulation/simulated-actions.ts';
import { simulateMessage, type SimulatedMessage, type SimulationBounds } from '../simulation/simulate-message.ts';
import { TvmError } from '../tvm/errors.ts';
import type { ActionNetwork } from '../v3/action-details/action-derived.ts';
import { addressesOf } from '../v3/rendering/assemble-transaction.ts';
import { supportedBy } from '../v3/request/action-parameters.ts';
import type { V3Request } from '../v3/request/operation.ts';
import { viewBytes } from '../v3/request/scalars.ts';
import { addressesOfActions, viewAction, type ActionView, type ShownAction } from '../v3/views/action-views.ts';
import { actionsOfSimulated, viewSimulated, type SimulatedSource } from '../v3/views/simulated-views.ts';
import { growTree } from '../v3/views/trace-tree.ts';
import type { TransactionView } from '../v3/views/transaction-views.ts';
import { createEmulateMetrics, type RunOutcome } from './metrics.ts';
import { EmulateError, notAccepted } from './request/errors.ts';
import type { traceParameters } from './request/trace-parameters.ts';
import {
  annotateFromIndex,
  annotateWithoutIndex,
  type Annotations,
  type AnnotationsAsked,
  type EmulateIndex,
} from './views/annotations.ts';
import { createAnswerBudget, refuseTooLarge, takeMessage } from './views/answer-budget.ts';
import { noCells, viewContractCells } from './views/contract-cells.ts';
import { describeDetected, readCodes } from './views/simulated-labels.ts';
import type { EmulateTraceResponse } from './views/trace-response.ts';

/** Fields that a request of either operation has. */
export type TraceValues = Values<typeof traceParameters>;

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
   * Makes the answer for the message that `make` returns.
   * @param make receives the wanted block, with the accounts that the request overrides
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
};

/**
 * 255 messages of a wallet and the wallet itself. The gas is that of 256 transactions of 15,000, and takes at most the time below on the
 * slowest contracts.
 */
const BOUNDS: SimulationBounds = { transactionsMax: 256, depthMax: 32, gasMax: 4_000_000 };

/** Thread time of the transactions and get-methods of one request. */
const THREAD_MS = 2000;

/** Emulations in progress: with at most 20 MB each, 640 MB for the largest answers and some 30 MB for usual traces. */
const RUNS_AT_ONCE = 32;

const SEED_BYTES = 32;

export function createTraceAnswers(network: ActionNetwork, dependencies: TraceAnswersDependencies): TraceAnswers {
  const { snapshots, detector, index, headSeqno, randomBytes, register } = dependencies;
  const slots = createSemaphore(RUNS_AT_ONCE);
  const metrics = createEmulateMetrics(register, { running: () => slots.taken, waiting: () => slots.waiting });

  async function open(seqno: number | undefined, context: V3Request): Promise<ChainSnapshot> {
    const head = headSeqno();
    if (seqno !== undefined && head !== undefined && seqno > head) {
      throw new EmulateError('seqno_too_new', 'mc block seqno is too new');
    }
    return snapshots.open(seqno, { ...context, threadBudget: { leftMs: THREAD_MS } });
  }

  async function show(ran: ShownRun, context: V3Request): Promise<EmulateTraceResponse> {
    const { values, trace, detection, snapshot, message } = ran;
    const budget = createAnswerBudget();
    const pacer = createTimeSlice(context.signal);
    const source = sourceOf(message, trace);
    try {
      const onMessage = takeMessage.bind(undefined, budget);
      const transactions = await viewSimulated(source, { pacer, store: createCellStore(), onMessage });
      const actions = values.withActions ? await classify(ran, source, context) : noActions;
      const cells = values.includeCodeData ? await viewContractCells(trace.after, budget, pacer) : noCells;
      const annotations = await annotate(ran, { transactions, actions }, context);
      return {
        mc_block_seqno: snapshot.block.block.seqno,
        trace: growTree(transactions, viewBytes(source.rootHash))!.root,
        transactions: Object.fromEntries(transactions.map((shown) => [shown.hash, shown])),
        actions: actions.views,
        ...cells,
        ...annotations,
        rand_seed: viewBytes(ran.randSeed),
        is_incomplete: trace.left > 0 || detection.isIncomplete,
        ...(values.overrides.length > 0 && { overridden: true }),
      };
    } catch (error) {
      throw refuseTooLarge(error, budget);
    }
  }

  async function classify(
    { message, trace, detection }: ShownRun,
    source: SimulatedSource,
    context: V3Request,
  ): Promise<ShownActions> {
    const classified = await classifySimulated(message.isInternal ? undefined : message, trace, detection);
    const supported = supportedBy({ supportedActionTypes: [] }, context);
    const shown = actionsOfSimulated(classified.actions, source, supported);
    const extras = { withAccounts: true, transactions: undefined };
    return { shown, views: shown.map((action) => viewAction(action, network, extras)) };
  }

  async function annotate(
    { values, trace, detection, snapshot }: ShownRun,
    { transactions, actions }: { transactions: readonly TransactionView[]; actions: ShownActions },
    context: V3Request,
  ): Promise<Annotations> {
    const asked: AnnotationsAsked = { addressBook: values.includeAddressBook, metadata: values.includeMetadata };
    if (!asked.addressBook && !asked.metadata) return {};
    const own = [...new Set(transactions.map(({ account }) => account))];
    const shown = [...addressesOf(transactions), ...addressesOfActions(actions.shown, actions.views)];
    if (index === undefined) {
      const labels = { ...network, codes: new Map(), tokens: new Map() };
      return annotateWithoutIndex({ addresses: shown, labels, asked }, context.signal);
    }
    const detected = asked.metadata ? await detection.detect(own) : new Map<string, never>();
    const tokens = new Map(
      [...detected].flatMap(([raw, one]) => {
        const described = describeDetected(one);
        return described === undefined ? [] : [[raw, described] as const];
      }),
    );
    const codes = asked.addressBook ? await readCodes(snapshot.foresee(trace.after), own) : new Map<string, never>();
    const labels = { ...network, codes, tokens };
    return annotateFromIndex(index, { addresses: shown, labels, asked }, context);
  }

  async function run(
    values: TraceValues,
    context: V3Request,
    make: Parameters<TraceAnswers['answer']>[2],
  ): Promise<LiveAnswer<EmulateTraceResponse>> {
    const snapshot = await open(values.mcSeqno, context);
    const overrides = await overrideAccounts(snapshot, values.overrides);
    const { readAccount } = snapshot.foresee(overrides);
    const { message, ignoreSignature } = await make({ block: snapshot.block, readAccount });
    const randSeed = values.randSeed ?? randomBytes(SEED_BYTES);
    const options = { ...BOUNDS, ignoreSignature, randSeed, overrides, withLog: true };
    const trace = await simulateMessage(snapshot, message.boc, options).catch((error: unknown) => {
      throw notRunnable(error);
    });
    if (trace.kind === 'rejected') throw notAccepted(trace);
    metrics.simulated(trace.transactions.length);
    const detection = createSimulatedDetection(trace, { snapshot, detector, overrides });
    const shown = await show({ values, trace, detection, snapshot, message, randSeed }, context);
    metrics.ran(shown.is_incomplete ? 'incomplete' : 'whole');
    return snapshot.answer(shown);
  }

  return {
    answer: (values, context, make) =>
      slots.run(context.signal, async () => {
        try {
          return await run(values, context, make);
        } catch (error) {
          metrics.ran(outcomeOf(error));
          throw error;
        }
      }),
  };
}

/** A run and everything that its answer shows. */
type ShownRun = {
  readonly values: TraceValues;
  readonly trace: Extract<SimulatedMessage, { kind: 'trace' }>;
  readonly detection: SimulatedDetection;
  readonly snapshot: ChainSnapshot;
  readonly message: IncomingMessage;
  readonly randSeed: Buffer;
};

type ShownActions = { readonly shown: readonly ShownAction[]; readonly views: readonly ActionView[] };

const noActions: ShownActions = { shown: [], views: [] };

function sourceOf(
  { hash, normalizedHash, isInternal }: IncomingMessage,
  { transactions, states, version }: ShownRun['trace'],
): SimulatedSource {
  const [first] = transactions;
  return {
    messageHash: isInternal ? null : hash,
    key: isInternal ? null : normalizedHash,
    rootHash: first!.table.hash(first!.transaction.cell),
    transactions,
    states,
    version,
  };
}

/** The VM refuses cells of the caller: a mistake of the caller, not of the service. */
function notRunnable(error: unknown): unknown {
  const isRefused = error instanceof DecodeError || (error instanceof TvmError && error.code === 'tvm_bad_request');
  if (!isRefused) return error;
  const reason = error instanceof TvmError ? error.data.detail : error.message;
  return new EmulateError('not_runnable', `the message cannot be run: ${reason}`);
}

function outcomeOf(error: unknown): RunOutcome {
  return error instanceof EmulateError && error.code === 'not_accepted' ? 'rejected' : 'failed';
}
