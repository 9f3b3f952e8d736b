import type { Action } from '#service/actions/engine/action-rows.ts';
import { mapInSlices, type TimeSlice } from '#service/runtime/time-slice.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { ACCOUNT_STATUS_TAGS } from '#service/decode/tlb/account-status.ts';
import type { Transaction } from '#service/decode/tlb/transaction.ts';
import type { SimulatedState } from '#service/simulation/account-state.ts';
import type { SimulatedTransaction } from '#service/simulation/simulate-message.ts';
import { isVisible } from '../request/action-versions.ts';
import { viewBytes, viewBytesOrNull } from '../request/scalars.ts';
import { ofAction, type ShownAction } from './action-views.ts';
import type { MessageView } from './message-views.ts';
import {
  openMessages,
  viewHead,
  viewTail,
  type ShownTransaction,
  type StatesByHash,
  type TransactionView,
} from './transaction-views.ts';

/** Simulated trace as answers show it. */
export type SimulatedSource = {
  /** Hash of the message from outside as it was sent; null for a message between accounts. */
  readonly messageHash: Buffer | null;
  /** Normalised hash of that message. */
  readonly key: Buffer | null;
  /** Hash of the first transaction when a block has it. Default null: a simulated hash does not last. */
  readonly traceId?: Buffer | null;
  /** Ordered by lt, then account. */
  readonly transactions: readonly Omit<SimulatedTransaction, 'boc'>[];
  readonly states: readonly SimulatedState[];
  /** Version of the chain's rules that it was run by. */
  readonly version: number;
};

export type SimulatedViewOptions = {
  readonly timeSlice: TimeSlice;
  /** Receives cells that rendering has to build: a single store for an answer. */
  readonly store: CellStore;
  /** Called with each message once it is rendered; throws to end the rendering of a too large answer. */
  readonly onMessage?: (message: MessageView) => void;
  /** Bytes of bodies and states of a transaction (`openMessages`); default: no bound. */
  readonly contentsMax?: number | undefined;
};

/** Renders the transactions of a trace, in their order. */
export async function viewSimulated(
  source: SimulatedSource,
  { timeSlice, store, onMessage, contentsMax }: SimulatedViewOptions,
): Promise<readonly TransactionView[]> {
  const states = statesByHash(source.states);
  const views: TransactionView[] = [];
  const noted = (message: MessageView): MessageView => {
    onMessage?.(message);
    return message;
  };
  for (const transaction of source.transactions) {
    await timeSlice.pause();
    const opened = placeSimulated(transaction, source);
    const tail = viewTail({ ...opened, ...opened.transaction }, states);
    const { taken, sent } = openMessages(opened, store, contentsMax);
    const in_msg = taken && noted(taken);
    views.push({ ...viewHead(opened), in_msg, out_msgs: await mapInSlices(sent, noted, timeSlice), ...tail });
  }
  return views;
}

/** A simulated transaction is in no block: its position is zeros (service/v3/README.md#pending). */
function placeSimulated(
  { workchain, table, transaction }: SimulatedSource['transactions'][number],
  { key, traceId = null, version }: SimulatedSource,
): ShownTransaction {
  return {
    table,
    transaction,
    hash: table.hash(transaction.cell),
    workchain,
    shard: 0n,
    seqno: 0,
    mcSeqno: 0,
    traceId,
    ...(key !== null && { traceExternalHash: key }),
    globalVersion: version,
    finality: 'pending',
    emulated: true,
  };
}

function statesByHash(states: readonly SimulatedState[]): StatesByHash {
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

/** Trace of simulated actions. `end` is its last transaction. */
export type SimulatedActionsSource = Pick<SimulatedSource, 'messageHash' | 'key' | 'traceId'> & {
  readonly end: Pick<Transaction, 'lt' | 'utime'>;
  /** Default `pending`. */
  readonly finality?: 'pending' | 'confirmed';
};

/** Actions of a simulated trace that its caller sees, newest first. @param supported types that the caller knows; null: all actions */
export function actionsOfSimulated(
  actions: readonly Action[],
  { messageHash, key, end, finality = 'pending', traceId = null }: SimulatedActionsSource,
  supported: ReadonlySet<string> | null,
): readonly ShownAction[] {
  const ofTrace = {
    traceEndLt: end.lt,
    traceEndUtime: end.utime,
    traceMcSeqnoEnd: 0,
    externalHash: viewBytesOrNull(messageHash),
    externalHashNorm: viewBytesOrNull(key),
    finality,
  };
  const id = viewBytesOrNull(traceId);
  const shown = actions.map((action) => ofAction(action, ofTrace, id));
  const visible = supported === null ? shown : shown.filter((action) => isVisible(action, supported));
  return visible.toSorted(newestFirst);
}

function newestFirst(one: ShownAction, other: ShownAction): number {
  return compare(other.endLt, one.endLt) || compare(other.startLt, one.startLt);
}

/** Order of numbers that a subtraction in doubles would round. */
export function compare(one: bigint, other: bigint): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
