import { createHash } from 'node:crypto';

import { breadthFirst, timesOf, transactionsOf, type TraceFragment, type NewFragment } from './trace-fragment.ts';
import { callType, deploymentsOf, deployType, tickTockType } from './basic-blocks.ts';
import { accountColumns, named, type ActionColumns } from './columns.ts';
import { nodeLt, type ClassifierTrace, type EventTransaction } from './classifier-input.ts';
import type { Steps } from './steps.ts';

/** Stored form of an action (service/actions/README.md#rows-of-actions). */
export type Action = Required<Omit<ActionColumns, 'data'>> & {
  readonly data: NonNullable<ActionColumns['data']>;
  readonly traceId: string;
  /** Base64 of 32 bytes; stays the same when the trace is classified again. */
  readonly actionId: string;
  readonly type: string;
  /** A set. */
  readonly transactions: readonly string[];
  /** A set. */
  readonly accounts: readonly string[];
  readonly startLt: bigint;
  readonly endLt: bigint;
  readonly startUtime: number;
  readonly endUtime: number;
  readonly mcSeqnoEnd: number;
  readonly success: boolean;
  /** Id of the action that contains this action; null at the first level. */
  readonly parentActionId: string | null;
  /** Types of the blocks that it is within: a set. */
  readonly ancestorTypes: readonly string[];
};

/**
 * Makes the rows of a classified tree: of each block, of parts that are actions too, and of all deployments.
 * @param indivisible types of blocks whose parts are no actions
 */
export function* actionsOf(
  trace: ClassifierTrace,
  root: TraceFragment,
  indivisible: ReadonlySet<string>,
): Steps<Action[]> {
  const actions: Action[] = [];
  function* emit(block: TraceFragment, parent: Action | undefined, ancestors: readonly string[]): Steps<void> {
    const action = isAction(block) ? actionOf(trace, block, parent?.actionId ?? null, ancestors) : undefined;
    yield;
    const isSame = action?.actionId === parent?.actionId;
    if (action !== undefined && !isSame) actions.push(action);
    if (indivisible.has(block.type)) return;
    const within = [...new Set([...ancestors, block.type])];
    for (const part of block.parts) if (part.type !== deployType) yield* emit(part, action ?? parent, within);
  }
  for (const block of breadthFirst(root)) {
    yield* emit(block, undefined, []);
    for (const deployment of deploymentsOf(block)) {
      actions.push(actionOf(trace, deployment, null, []));
      yield;
    }
  }
  return unique(actions);
}

/** Logs and messages from outside are no actions by themselves. */
function isAction({ type, columns }: TraceFragment): boolean {
  return type !== callType || (typeof columns.source === 'string' && typeof columns.destination === 'string');
}

function actionOf(
  trace: ClassifierTrace,
  block: TraceFragment,
  parentActionId: string | null,
  ancestorTypes: readonly string[],
): Action {
  const { begunBy } = block;
  const columns = withAccounts(block.columns);
  const transactions = [...new Set([...(begunBy === undefined ? [] : [begunBy]), ...transactionsOf(block)])];
  const { source = null, sourceSecondary = null, destination = null, destinationSecondary = null } = columns;
  const participants = [source, sourceSecondary, destination, destinationSecondary, ...block.accounts];
  const accounts = new Set([
    ...transactions.map(({ account }) => account),
    ...participants.filter((one) => one !== null),
  ]);
  return {
    ...noColumns,
    ...columns,
    source,
    sourceSecondary,
    destination,
    destinationSecondary,
    traceId: trace.traceId,
    actionId: actionIdOf(block),
    type: block.actionType,
    transactions: transactions.map(({ hash }) => hash),
    accounts: [...accounts],
    ...timesOf(block),
    mcSeqnoEnd: Math.max(...transactions.map(({ mcSeqno }) => mcSeqno)),
    success: !block.failed,
    parentActionId,
    ancestorTypes,
  };
}

/** Operations also begin outside and end in logs. Without a sender or receiver, no account is named. */
function withAccounts(columns: ActionColumns): ActionColumns {
  return { ...columns, ...Object.fromEntries(accountColumns.map((name) => [name, named(columns[name] ?? null)])) };
}

/** A message that was only asked for. Its receiver has no part in it. */
export function rejectedActionOf(
  trace: ClassifierTrace,
  block: TraceFragment,
  { account, hash, lt, utime, mcSeqno }: EventTransaction,
  instead: Pick<NewFragment, 'type' | 'columns'> | undefined,
): Action {
  const { type, columns } = instead ?? block;
  const { sourceSecondary = null } = columns;
  return {
    ...actionOf(trace, { ...block, type, actionType: type, columns }, null, []),
    transactions: [hash],
    accounts: sourceSecondary === null ? [account] : [account, sourceSecondary],
    startLt: lt,
    endLt: lt,
    startUtime: utime,
    endUtime: utime,
    mcSeqnoEnd: mcSeqno,
  };
}

/** Columns of an action without data. */
export const noColumns = {
  source: null,
  sourceSecondary: null,
  destination: null,
  destinationSecondary: null,
  asset: null,
  assetSecondary: null,
  asset2: null,
  asset2Secondary: null,
  opcode: null,
  value: null,
  amount: null,
  extraCurrencies: {},
  data: {},
} as const;

/** SHA-256 of the first message's hash and the block's type, as text. A tick-tock transaction uses its own hash. */
function actionIdOf({ nodes, type }: TraceFragment): string {
  const earliest = nodes.reduce((one, other) => (nodeLt(other) < nodeLt(one) ? other : one));
  const hash =
    type === tickTockType ? earliest.transaction.hash : (earliest.message?.hash ?? earliest.transaction.hash);
  return createHash('sha256').update(`${hash}${type}`, 'latin1').digest('base64');
}

/** Parts with the same content and first message are a single action. */
function unique(actions: readonly Action[]): Action[] {
  return [...new Map(actions.toReversed().map((action) => [action.actionId, action])).values()].toReversed();
}
