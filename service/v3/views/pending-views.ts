import { createTimeSlice, mapInSlices } from '#service/runtime/time-slice.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { readTransaction } from '#service/decode/tlb/transaction.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import type { PendingTrace } from '#service/pending/pending.ts';
import type { ActionNetwork } from '../action-details/action-derived.ts';
import { accountsAlone, viewAction, type ShownAction } from './action-views.ts';
import { viewBytes } from '../request/scalars.ts';
import { bytesOfContents, type MessageView } from './message-views.ts';
import {
  actionsOfSimulated,
  viewSimulated,
  type SimulatedSource,
  type SimulatedViewOptions,
} from './simulated-views.ts';
import { growTree } from './trace-tree.ts';
import type { TraceView } from './trace-views.ts';
import type { TransactionView } from './transaction-views.ts';

/** A pending trace with its transactions as answers show them. */
export type ViewedTrace = { readonly trace: PendingTrace; readonly transactions: readonly TransactionView[] };

export type PendingViewOptions = Pick<StoreReader, 'signal' | 'takeBytes'> & Pick<SimulatedViewOptions, 'contentsMax'>;

/** Renders traces, in the given order. Throws as `takeBytes`. */
export async function viewPending(
  traces: readonly PendingTrace[],
  { signal, takeBytes, contentsMax }: PendingViewOptions,
): Promise<readonly ViewedTrace[]> {
  const timeSlice = createTimeSlice(signal);
  const onMessage = (message: MessageView): void => takeBytes?.(bytesOfContents(message));
  const options = { timeSlice, store: createCellStore(), onMessage, contentsMax };
  const viewed: ViewedTrace[] = [];
  for (const trace of traces) {
    const transactions = await mapInSlices(trace.transactions, openStored, timeSlice);
    viewed.push({ trace, transactions: await viewSimulated({ ...trace, transactions }, options) });
  }
  return viewed;
}

/** Opens a transaction that was stored as a bag of cells. */
function openStored({ workchain, boc }: PendingTrace['transactions'][number]): SimulatedSource['transactions'][number] {
  const table = parseBoc(boc);
  return { workchain, table, transaction: readTransaction(table, table.roots[0]!) };
}

/** Actions of a pending trace that its caller sees, newest first. @param supported types that the caller knows; null: all actions */
export function actionsOfPending(trace: PendingTrace, supported: ReadonlySet<string> | null): readonly ShownAction[] {
  const last = trace.transactions.at(-1);
  if (last === undefined) return [];
  return actionsOfSimulated(trace.actions, { ...trace, end: openStored(last).transaction }, supported);
}

/** A pending trace with its actions. */
export function viewPendingTrace(
  { trace: one, transactions }: ViewedTrace,
  actions: readonly ShownAction[],
  network: ActionNetwork,
): TraceView {
  const [first] = transactions;
  const last = transactions.at(-1);
  const tree = growTree(transactions, viewBytes(one.rootHash));
  const awaited = transactions.filter((_shown, at) => one.transactions[at]?.isIndexed !== true);
  return {
    trace_id: null,
    external_hash: viewBytes(one.messageHash),
    mc_seqno_start: '0',
    mc_seqno_end: '0',
    start_lt: first?.lt ?? '0',
    start_utime: first?.now ?? 0,
    end_lt: last?.lt ?? null,
    end_utime: last?.now ?? null,
    trace_info: {
      trace_state: 'pending',
      messages: countArrived(transactions) + one.left,
      transactions: transactions.length,
      pending_messages: countArrived(awaited) + one.left,
      classification_state: one.classificationState,
    },
    is_incomplete: one.left > 0,
    actions: actions.map((action) => viewAction(action, network, accountsAlone)),
    ...(tree && { trace: tree.root }),
    transactions_order: transactions.map(({ hash }) => hash),
    transactions: Object.fromEntries(transactions.map((shown) => [shown.hash, shown])),
  };
}

/** Messages that arrive, counted as in a trace of the index (service/indexer/README.md#traces): a message per transaction, and logs. */
function countArrived(transactions: readonly TransactionView[]): number {
  const sent = transactions.flatMap(({ out_msgs }) => out_msgs);
  return transactions.length + sent.filter(({ destination }) => destination === null).length;
}
