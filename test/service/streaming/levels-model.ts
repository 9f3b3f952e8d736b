import type { Finality, Subscription } from '#service/streaming/changes.ts';

/** An action of a step. */
export type ModelAction = {
  readonly id: string;
  readonly type: string;
  readonly accounts: readonly string[];
  /** Reports whether a vocabulary shows it. */
  readonly isIn: (supported: ReadonlySet<string>) => boolean;
};

/** A moment in the life of a trace. */
export type ModelStep =
  | {
      readonly kind: 'snapshot';
      readonly key: string;
      readonly finality: Finality;
      /** Newest first. */
      readonly transactions: readonly { readonly name: string; readonly account: string }[];
      readonly actions: readonly ModelAction[];
      readonly isIncomplete: boolean;
      /** Names of the transactions that became final with this step. */
      readonly fresh?: ReadonlySet<string>;
      /** A final step after which the trace goes on. */
      readonly isOpen?: boolean;
    }
  | { readonly kind: 'withdrawn'; readonly key: string; readonly reason: string };

type Snapshot = Extract<ModelStep, { kind: 'snapshot' }>;

const types = ['transactions', 'actions', 'trace'] as const;

type Type = (typeof types)[number];

const ranks: readonly Finality[] = ['pending', 'confirmed', 'finalized'];
const rankOf = (finality: Finality): number => ranks.indexOf(finality);

/** Name of an event, to compare what came with what must come. */
export function nameEvent(event: {
  readonly key: string;
  readonly type: string;
  readonly finality: string;
  readonly content: readonly string[];
  readonly isIncomplete: boolean;
}): string {
  const { key, type, finality, content, isIncomplete } = event;
  return `${key} ${type} ${finality}${isIncomplete ? ' incomplete' : ''}: ${content.join()}`;
}

/**
 * Lists the events that a caller must get, in order. The rules are those of the contract for snapshots, levels, portions and withdrawals
 * (service/streaming/README.md#finality). It is written without a look at the code of the service.
 */
export function demandedEvents(steps: readonly ModelStep[], wish: Subscription): readonly string[] {
  const events: string[] = [];
  const ended = new Set<string>();
  const shown = new Map<string, Map<Type, { readonly rank: number; readonly name: string }>>();
  for (const step of steps) {
    const { key } = step;
    const isEnd = step.kind === 'snapshot' && step.finality === 'finalized';
    // A message may begin two traces. Each becomes final.
    if (ended.has(key) && !isEnd) continue;
    const before = shown.get(key) ?? new Map<Type, { readonly rank: number; readonly name: string }>();
    if (step.kind === 'withdrawn') {
      if (before.size > 0) events.push(`${key} ${step.reason}`);
      shown.delete(key);
      continue;
    }
    const { finality, isIncomplete } = step;
    const isFinal = finality === 'finalized' && step.isOpen !== true;
    if (isFinal) ended.add(key);
    if (rankOf(finality) < rankOf(wish.minFinality)) continue;
    const isByTransaction = wish.finalityScope === 'transaction' && finality === 'finalized';
    if (step.isOpen === true && !isByTransaction) continue;
    const contents = contentsOf(step, wish, isByTransaction);
    const isNamed = wish.traces.has(key);
    const isLost = [...before].some(([type, last]) => rankOf(finality) >= last.rank && contents[type] === undefined);
    // An incomplete snapshot says nothing about messages that are on their way.
    if (isLost && !isNamed && (isFinal || !isIncomplete)) {
      events.push(`${key} unmatched`);
      before.clear();
    }
    for (const type of types) {
      const content = contents[type];
      if (content === undefined) continue;
      const last = before.get(type);
      const rank = rankOf(finality);
      const isMarked = isIncomplete && !(type === 'transactions' && isByTransaction);
      const name = nameEvent({ key, type, finality, content, isIncomplete: isMarked });
      const isNews = last === undefined || rank > last.rank || (rank === last.rank && name !== last.name);
      if (!isNews && !(type === 'transactions' && isByTransaction)) continue;
      events.push(name);
      if (!isByTransaction) before.set(type, { rank, name });
    }
    if (isFinal) shown.delete(key);
    else shown.set(key, before);
  }
  return events;
}

/** Content of each type that a caller wants, as far as there is any. */
function contentsOf(
  { key, transactions, actions, fresh, isOpen }: Snapshot,
  { types: wanted, accounts, traces, actionTypes, supportedActionTypes }: Subscription,
  isByTransaction: boolean,
): Partial<Record<Type, readonly string[]>> {
  const mine = transactions
    .filter(({ account, name }) => accounts.has(account) && (!isByTransaction || fresh?.has(name) !== false))
    .map(({ name }) => name);
  const passing = actions
    .filter(({ type, isIn }) => isIn(supportedActionTypes) && (actionTypes === null || actionTypes.has(type)))
    .filter((action) => action.accounts.some((account) => accounts.has(account)))
    .map(({ id }) => id)
    .toSorted();
  return {
    ...(wanted.has('transactions') && mine.length > 0 && { transactions: mine }),
    ...(wanted.has('actions') && isOpen !== true && passing.length > 0 && { actions: passing }),
    ...(wanted.has('trace') &&
      isOpen !== true &&
      traces.has(key) && { trace: transactions.map(({ name }) => name).toSorted() }),
  };
}
