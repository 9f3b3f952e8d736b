import { hexOf } from './hex.ts';
import type { ActionRow } from '#service/store/classification-tables.ts';
import { isVisible } from '#service/v3/request/action-versions.ts';
import type { ActionNetwork } from '#service/v3/action-details/action-derived.ts';
import { viewBytes } from '#service/v3/request/scalars.ts';
import {
  accountsAlone,
  addressesOfActions,
  ofRow,
  viewAction,
  type ActionView,
} from '#service/v3/views/action-views.ts';
import { growTree, type TraceNode } from '#service/v3/views/trace-tree.ts';
import type { Position, StreamAction, StreamTransaction, TraceSnapshot } from '../changes.ts';
import type { OpenedTransaction } from './opened-transaction.ts';
import type { PlannedTrace } from './trace-plan.ts';

/** A trace of a block before it is a change. */
export type TraceOfBlock = {
  readonly plan: PlannedTrace;
  /** Its transactions that the change has, by lt and account, and the same as events show them. */
  readonly links: readonly OpenedTransaction[];
  readonly shown: readonly StreamTransaction[];
  /** True if no transaction of the trace so far is left out. */
  readonly isComplete: boolean;
  /** Newest first. */
  readonly actions: readonly ActionRow[];
  readonly position: Position;
};

export function viewTraceChange(
  { plan, links, shown, isComplete, actions, position }: TraceOfBlock,
  network: ActionNetwork,
): TraceSnapshot {
  const { row, stage, fresh } = plan;
  const isEnd = stage === undefined || stage === 'last';
  const id = viewBytes(row.trace_id);
  const isExternal = row.external_hash_norm !== null;
  const key = hexOf(row.external_hash_norm ?? row.trace_id);
  const names = [row.external_hash_norm, isExternal ? row.external_hash : null, row.trace_id];
  let tree: TraceNode | undefined;
  return {
    kind: 'trace',
    key,
    finality: 'finalized',
    position,
    hashes: [...new Set(names.flatMap((name) => (name === null ? [] : hexOf(name))))],
    transactions: shown.toReversed(),
    actions: actions.map((one) => viewStreamAction(one, network)),
    get tree() {
      // A cut trace shows its root alone.
      return (tree ??= (isComplete ? growTree(links, id)?.root : undefined) ?? { tx_hash: id, children: [] });
    },
    isIncomplete: !isEnd || !isComplete,
    traceId: isExternal ? null : id,
    ...(stage !== undefined && { stage }),
    ...(shown.length > fresh.length && { fresh: new Set(fresh.map(({ hash }) => viewBytes(hash))) }),
  };
}

/** An action is the same for each vocabulary that shows it. */
function viewStreamAction(row: ActionRow, network: ActionNetwork): StreamAction {
  const shown = ofRow(row);
  let view: ActionView | undefined;
  const made = (): ActionView => (view ??= viewAction(shown, network, accountsAlone));
  let named: readonly string[] | undefined;
  return {
    type: shown.type,
    ancestorTypes: shown.ancestorTypes,
    accounts: shown.accounts,
    viewFor: (supported) => (isVisible(shown, supported) ? made() : null),
    get named() {
      return (named ??= [...new Set(addressesOfActions([shown], [made()]))]);
    },
  };
}
