import type { Values } from '#service/contract/parameter.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import type { Detected } from '#service/interfaces/detector.ts';
import type { ChainSnapshot } from '#service/live/contracts/chain-snapshot.ts';
import type { IncomingMessage } from '#service/live/send/external-message.ts';
import { createTimeSlice, restTurns } from '#service/runtime/time-slice.ts';
import type { SimulatedDetection } from '#service/simulation/detection.ts';
import { classifySimulated } from '#service/simulation/simulated-actions.ts';
import type { SimulatedMessage } from '#service/simulation/simulate-message.ts';
import type { ActionNetwork } from '#service/v3/action-details/action-derived.ts';
import { addressesOf } from '#service/v3/rendering/assemble-transaction.ts';
import { supportedBy } from '#service/v3/request/action-parameters.ts';
import type { V3Request } from '#service/v3/request/operation.ts';
import { viewAccountKey, viewBytes } from '#service/v3/request/scalars.ts';
import type { DescribedAccount } from '#service/v3/annotations/token-info-cache.ts';
import type { AccountCode } from '#service/v3/views/account-interfaces.ts';
import {
  accountsAlone,
  addressesOfActions,
  viewAction,
  type ActionView,
  type ShownAction,
} from '#service/v3/views/action-views.ts';
import { actionsOfSimulated, viewSimulated, type SimulatedSource } from '#service/v3/views/simulated-views.ts';
import { growTree } from '#service/v3/views/trace-tree.ts';
import type { TransactionView } from '#service/v3/views/transaction-views.ts';
import type { traceParameters } from '../request/trace-parameters.ts';
import {
  annotateFromIndex,
  annotateWithoutIndex,
  type Annotations,
  type AnnotationsAsked,
  type EmulateIndex,
} from './annotations.ts';
import { createAnswerBudget, refuseTooLarge, takeMessage } from './answer-budget.ts';
import { noCells, viewContractCells } from './contract-cells.ts';
import { describeDetected } from './detected-tokens.ts';
import { readCodes } from './simulated-codes.ts';
import type { EmulateTraceResponse } from './trace-response.ts';

/** Fields that a request of either operation has. */
export type TraceValues = Values<typeof traceParameters>;

/** A run and everything that its answer shows. */
export type ShownRun = {
  readonly values: TraceValues;
  readonly trace: Extract<SimulatedMessage, { kind: 'trace' }>;
  readonly detection: SimulatedDetection;
  readonly snapshot: ChainSnapshot;
  readonly message: IncomingMessage;
  readonly randSeed: Buffer;
};

/** Renders the answer for a run. Rejects with V3Error `answer_too_large`, and as `ChainSnapshot` and the index do. */
export type ShowTrace = (run: ShownRun, context: V3Request) => Promise<EmulateTraceResponse>;

/** @param index absent: names and tokens are unknown */
export function createTraceView(
  network: ActionNetwork,
  { index }: { readonly index: EmulateIndex | undefined },
): ShowTrace {
  async function show(ran: ShownRun, context: V3Request): Promise<EmulateTraceResponse> {
    const { values, trace, detection, snapshot, message } = ran;
    const budget = createAnswerBudget();
    const timeSlice = createTimeSlice(context.signal);
    const source = sourceOf(message, trace);
    try {
      const onMessage = takeMessage.bind(undefined, budget);
      const render = async (): Promise<readonly TransactionView[]> => {
        // Get-methods of the accounts reach their threads first, and run beside the rendering.
        await restTurns();
        return viewSimulated(source, { timeSlice, store: createCellStore(), onMessage });
      };
      const [actions, transactions] = await Promise.all([
        values.withActions ? classify(ran, source, context) : noActions,
        render(),
      ]);
      const cells = values.includeCodeData ? await viewContractCells(trace.after, budget, timeSlice) : noCells;
      const annotations = await annotate(ran, { transactions, actions }, context);
      return {
        mc_block_seqno: snapshot.block.block.seqno,
        trace: growTree(transactions, transactions[0]!.hash)!.root,
        transactions: Object.fromEntries(transactions.map((shown) => [shown.hash, shown])),
        actions: actions.views,
        ...cells,
        ...annotations,
        rand_seed: viewBytes(ran.randSeed),
        is_incomplete: trace.left > 0 || detection.isIncomplete,
        ...((values.overrides ?? []).length > 0 && { overridden: true }),
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
    const classified = await classifySimulated(message.isInternal ? undefined : message, trace, {
      detection,
      timeSlice: createTimeSlice(context.signal),
    });
    const supported = supportedBy({ supportedActionTypes: [] }, context);
    const end = trace.transactions.at(-1)!.transaction;
    const shown = actionsOfSimulated(classified.actions, { ...source, end }, supported);
    return { shown, views: shown.map((action) => viewAction(action, network, accountsAlone)) };
  }

  async function annotate(
    { values, detection }: ShownRun,
    { transactions, actions }: { transactions: readonly TransactionView[]; actions: ShownActions },
    context: V3Request,
  ): Promise<Annotations> {
    const asked: AnnotationsAsked = { addressBook: values.includeAddressBook, metadata: values.includeMetadata };
    if (!asked.addressBook && !asked.metadata) return {};
    const own = [...new Set(transactions.map(({ account }) => account))];
    const shown = [...addressesOf(transactions), ...addressesOfActions(actions.shown, actions.views)];
    const codes = asked.addressBook
      ? await readCodes(detection.after, own, createTimeSlice(context.signal))
      : new Map<string, AccountCode>();
    if (index === undefined) {
      const labels = { ...network, codes, tokens: new Map() };
      return annotateWithoutIndex({ addresses: shown, labels, asked }, context.signal);
    }
    const detected = asked.metadata ? await detection.detect(own) : nothingDetected;
    const tokens = new Map<string, DescribedAccount>();
    for (const [raw, one] of detected) {
      const described = describeDetected(one);
      if (described !== undefined) tokens.set(raw, described);
      if (one.jettonWallet !== undefined) shown.push(viewAccountKey(one.jettonWallet.jetton));
    }
    const labels = { ...network, codes, tokens };
    return annotateFromIndex(index, { addresses: shown, labels, asked }, context);
  }

  return show;
}

type ShownActions = { readonly shown: readonly ShownAction[]; readonly views: readonly ActionView[] };

const nothingDetected: ReadonlyMap<string, Detected> = new Map();

const noActions: ShownActions = { shown: [], views: [] };

function sourceOf(
  { hash, normalizedHash, isInternal }: IncomingMessage,
  { transactions, states, version }: ShownRun['trace'],
): SimulatedSource {
  return {
    messageHash: isInternal ? null : hash,
    key: isInternal ? null : normalizedHash,
    transactions,
    states,
    version,
  };
}
