import type { Classified, ClassificationState } from '../actions/classify.ts';
import type { ClassifierTrace } from '../actions/engine/classifier-input.ts';
import type { Action } from '../actions/engine/action-rows.ts';
import { columnsJson } from '../actions/engine/stored-columns.ts';
import { parseAddress } from '../decode/address.ts';
import { mapInSlices, type TimeSlice } from '../runtime/time-slice.ts';
import { accountKey } from '../store/account-key.ts';
import type { ActionAccountRow, ActionRow, TraceClassificationRow } from '../store/classification-tables.ts';

/** `trace_classifications.state`; 3 is `broken`, which only earlier versions wrote. */
export const CLASSIFICATION_STATES = { unclassified: 0, failed: 1, ok: 2 } as const satisfies Record<
  ClassificationState,
  number
>;

/** Classification of a trace, with its rows. */
export type TraceMeaning = {
  readonly trace: TraceClassificationRow;
  readonly actions: readonly ActionRow[];
  readonly accounts: readonly ActionAccountRow[];
};

/** @param version of the interpreter */
export function traceMeaning(trace: ClassifierTrace, classified: Classified, version: number): TraceMeaning {
  return meaningOf(
    trace,
    classified,
    version,
    classified.actions.map((action) => actionRow(trace, action)),
  );
}

/** The same, with other work between the rows: a trace may have thousands. */
export async function traceMeaningInSlices(
  trace: ClassifierTrace,
  classified: Classified,
  version: number,
  timeSlice: TimeSlice,
): Promise<TraceMeaning> {
  const rows = await mapInSlices(classified.actions, (action) => actionRow(trace, action), timeSlice);
  return meaningOf(trace, classified, version, rows);
}

function meaningOf(
  trace: ClassifierTrace,
  { state }: Classified,
  version: number,
  actions: readonly ActionRow[],
): TraceMeaning {
  return {
    trace: { trace_id: hashOf(trace.traceId), state: CLASSIFICATION_STATES[state], version },
    actions,
    accounts: actions.flatMap(accountRows),
  };
}

function actionRow(trace: ClassifierTrace, action: Action): ActionRow {
  return {
    trace_id: hashOf(trace.traceId),
    action_id: hashOf(action.actionId),
    type: action.type,
    start_lt: action.startLt,
    end_lt: action.endLt,
    start_utime: action.startUtime | 0,
    end_utime: action.endUtime | 0,
    trace_end_lt: trace.endLt,
    trace_end_utime: trace.endUtime | 0,
    trace_mc_seqno_end: trace.mcSeqnoEnd,
    trace_external_hash: trace.externalHash === null ? null : hashOf(trace.externalHash),
    trace_external_hash_norm: trace.externalHashNorm === null ? null : hashOf(trace.externalHashNorm),
    success: action.success,
    parent_action_id: action.parentActionId === null ? null : hashOf(action.parentActionId),
    ancestor_types: action.ancestorTypes,
    tx_hashes: action.transactions.map(hashOf),
    accounts: accountsOf(action),
    columns: columnsJson(action),
  };
}

/** Accounts among the addresses, without duplicates. */
function accountsOf({ accounts }: Action): readonly Uint8Array[] {
  const keys = accounts.flatMap((text) => {
    const account = parseAddress(text);
    const key = account === undefined ? undefined : accountKey(account);
    return key === undefined || key.length === 0 ? [] : [[text, key] as const];
  });
  return [...new Map(keys).values()];
}

/** An action in the lists of its accounts. */
export function accountRows(row: ActionRow): ActionAccountRow[] {
  const { trace_id, action_id, trace_end_lt, trace_end_utime, end_lt, end_utime, type, ancestor_types } = row;
  const shared = { trace_id, action_id, trace_end_lt, trace_end_utime, end_lt, end_utime, type, ancestor_types };
  return row.accounts.map((account) => ({ account, ...shared }));
}

function hashOf(text: string): Buffer {
  return Buffer.from(text, 'base64');
}
