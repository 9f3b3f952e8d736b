import { createTimeSlice, mapInSlices } from '#service/runtime/time-slice.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { ACCOUNT_STATUS_TAGS } from '#service/decode/tlb/account-status.ts';
import { readTransaction } from '#service/decode/tlb/transaction.ts';
import type { PendingState, PendingTrace } from '#service/pending/pending.ts';
import type { ActionNetwork } from '../action-details/action-derived.ts';
import { isVisible } from '../request/action-versions.ts';
import { noExtras, ofAction, viewAction, type ShownAction } from './action-views.ts';
import { viewBytes } from '../request/scalars.ts';
import { growTree } from './trace-tree.ts';
import type { TraceView } from './trace-views.ts';
import {
  openMessages,
  viewHead,
  viewTail,
  type ShownTransaction,
  type StatesByHash,
  type TransactionView,
} from './transaction-views.ts';

/** A pending trace with its transactions as answers show them. */
export type ViewedTrace = { readonly trace: PendingTrace; readonly transactions: readonly TransactionView[] };

/** Renders traces, in the given order. */
export async function viewPending(
  traces: readonly PendingTrace[],
  signal: AbortSignal,
): Promise<readonly ViewedTrace[]> {
  const pacer = createTimeSlice(signal);
  const store = createCellStore();
  const viewed: ViewedTrace[] = [];
  for (const one of traces) {
    const states = statesByHash(one.states);
    const transactions: TransactionView[] = [];
    for (const foreseen of one.transactions) {
      await pacer.pause();
      const opened = openSimulated(foreseen, one);
      const tail = viewTail({ ...opened, ...opened.transaction }, states);
      const { taken, sent } = openMessages(opened, store);
      const out_msgs = await mapInSlices(sent, (message) => message, pacer);
      transactions.push({ ...viewHead(opened), in_msg: taken, out_msgs, ...tail });
    }
    viewed.push({ trace: one, transactions });
  }
  return viewed;
}

/** A simulated transaction is in no block: its position is zeros (service/v3/README.md#pending). */
function openSimulated(
  foreseen: PendingTrace['transactions'][number],
  { key, rootHash, version }: PendingTrace,
): ShownTransaction {
  const table = parseBoc(foreseen.boc);
  return {
    table,
    transaction: readTransaction(table, table.roots[0]!),
    hash: table.hash(table.roots[0]!),
    workchain: foreseen.workchain,
    shard: 0n,
    seqno: 0,
    mcSeqno: 0,
    traceId: rootHash,
    traceExternalHash: key,
    globalVersion: version,
    finality: 'pending',
    emulated: true,
  };
}

function statesByHash(states: readonly PendingState[]): StatesByHash {
  return new Map(
    states.map((state) => [
      viewBytes(state.hash),
      {
        balance: state.balance,
        extra_currencies: Object.keys(state.extraCurrencies).length === 0 ? null : state.extraCurrencies,
        status: ACCOUNT_STATUS_TAGS[state.status],
        frozen_hash: state.frozenHash,
        data_hash: state.dataHash,
        code_hash: state.codeHash,
      },
    ]),
  );
}

/** Actions of a pending trace that its caller sees. */
export function actionsOfPending(one: PendingTrace, supported: ReadonlySet<string>): readonly ShownAction[] {
  const last = one.transactions.at(-1);
  if (last === undefined) return [];
  const { lt, utime } = openSimulated(last, one).transaction;
  const ofTrace = {
    traceEndLt: lt,
    traceEndUtime: utime,
    traceMcSeqnoEnd: 0,
    externalHash: viewBytes(one.messageHash),
    externalHashNorm: viewBytes(one.key),
    finality: 'pending',
  } as const;
  return one.actions.map((action) => ofAction(action, ofTrace, null)).filter((action) => isVisible(action, supported));
}

/** A pending trace with its actions. */
export function viewPendingTrace(
  { trace: one, transactions }: ViewedTrace,
  actions: readonly ShownAction[],
  network: ActionNetwork,
): TraceView {
  const [first] = transactions;
  const last = transactions.at(-1);
  const traceId = viewBytes(one.rootHash);
  const tree = growTree(transactions, traceId);
  return {
    trace_id: traceId,
    external_hash: viewBytes(one.messageHash),
    mc_seqno_start: '0',
    mc_seqno_end: '0',
    start_lt: first?.lt ?? '0',
    start_utime: first?.now ?? 0,
    end_lt: last?.lt ?? null,
    end_utime: last?.now ?? null,
    trace_info: {
      trace_state: 'pending',
      messages: countArrived(transactions),
      transactions: transactions.length,
      pending_messages: one.left,
      classification_state: one.classificationState,
    },
    is_incomplete: one.left > 0,
    actions: actions.map((action) => viewAction(action, network, noExtras)),
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
