import { basicBlocks } from './engine/basic-blocks.ts';
import type { TraceFragment } from './engine/trace-fragment.ts';
import { joinDedustDeposits } from './protocols/dedust-liquidity.ts';
import { eventTree, type ClassifierNode, type ClassifierTrace } from './engine/classifier-input.ts';
import { actionsOfRejectedOrder, unknownAction } from './rejected-wallet-orders.ts';
import type { Interfaces } from './engine/interfaces.ts';
import { applyMatcher, type Matcher } from './engine/matcher.ts';
import { indivisibleTypes, matchers as allMatchers } from './families.ts';
import { actionsOf, type Action } from './engine/action-rows.ts';
import { runSteps, type Steps } from './engine/steps.ts';

/**
 * Result of classification. `failed`: only its messages could be classified. `unclassified`: the trace was skipped.
 */
export type ClassificationState = 'ok' | 'failed' | 'unclassified';

export type Classified = { readonly state: ClassificationState; readonly actions: readonly Action[] };

/** Larger traces are not classified, because their actions would have no use (service/actions/README.md#outcomes). */
export const CLASSIFIED_TRANSACTIONS_MAX = 4000;

/** The same of messages with logs: one log for each transaction. Recorded traces have one for 20 transactions; a contract can write 255. */
export const CLASSIFIED_MESSAGES_MAX = 8000;

/**
 * Classifies a trace (service/actions/README.md). Depends only on its arguments.
 * If a matcher fails, the trace has only the actions of its single messages.
 */
export function classify(
  trace: ClassifierTrace,
  interfaces: Interfaces,
  matchers: readonly Matcher[] = allMatchers,
): Classified {
  return runSteps(classifySteps(trace, interfaces, matchers));
}

/** The same in steps, so that others may run in between: the largest traces take half a second. */
export function* classifySteps(
  trace: ClassifierTrace,
  interfaces: Interfaces,
  matchers: readonly Matcher[] = allMatchers,
): Steps<Classified> {
  if (isTooLarge(trace)) return { state: 'unclassified', actions: [] };
  const tree = yield* eventTree(trace);
  if (tree === undefined) return { state: 'ok', actions: [] };
  try {
    let root = yield* basicBlocks(tree);
    for (const matcher of matchers) {
      root = yield* applyMatcher(matcher, root, { interfaces });
      yield;
    }
    root = joinDedustDeposits(root);
    yield;
    return { state: 'ok', actions: yield* tell(trace, tree, root, interfaces) };
  } catch {
    return { state: 'failed', actions: yield* basicActions(trace, tree) };
  }
}

function isTooLarge({ transactions }: ClassifierTrace): boolean {
  if (transactions.length > CLASSIFIED_TRANSACTIONS_MAX) return true;
  let messages = transactions.length;
  for (const { outMessages } of transactions) {
    for (const { destination } of outMessages) if (destination === null) messages++;
  }
  return messages > CLASSIFIED_MESSAGES_MAX;
}

function* tell(
  trace: ClassifierTrace,
  tree: ClassifierNode,
  root: TraceFragment,
  interfaces: Interfaces,
): Steps<readonly Action[]> {
  if (trace.transactions.length === 1 && tree.transaction.kind === 'tick_tock') return [];
  const actions = yield* actionsOf(trace, root, indivisibleTypes);
  if (actions.length > 0) return actions;
  const isGhost = tree.message?.source === null && tree.children.length === 0;
  return isGhost ? actionsOfRejectedOrder(trace, tree.transaction, interfaces) : [unknownAction(trace)];
}

function* basicActions(trace: ClassifierTrace, tree: ClassifierNode): Steps<readonly Action[]> {
  if (tree.children.length === 0) return [unknownAction(trace)];
  return yield* actionsOf(trace, yield* basicBlocks(tree), indivisibleTypes);
}
