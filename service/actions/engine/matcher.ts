import { ReadBudget } from '#service/decode/read-budget.ts';
import { breadthFirst, mergeFragments, type TraceFragment, type NewFragment } from './trace-fragment.ts';
import { tryRead } from './body.ts';
import { match, type Context, type Found, type Pattern } from './pattern.ts';
import type { Steps } from './steps.ts';

/** Kind of operation: the shape of its blocks, and the content of the resulting block, whose type is one of `Type`. */
export type Matcher<Type extends string = string> = {
  /** Shape of the block that the operation starts at, with all blocks around it. */
  readonly pattern: Pattern;
  /**
   * Makes the block; undefined when the blocks mean something else. What it cannot read (DecodeError) drops the match. `also` names blocks that belong to
   * it beyond those found.
   */
  readonly build: (
    root: TraceFragment,
    found: Found,
    context: Context,
  ) => (NewFragment<Type> & { readonly also?: readonly TraceFragment[] }) | undefined;
};

/**
 * Steps of one matcher in one trace, each a pattern tried on a block. The largest trace has 8,000 messages. Recorded traces take at most 4
 * steps for each.
 */
export const MATCHER_STEPS_MAX = 100_000;

/** Steps between two pauses: some 0.2 ms, or 2 ms of bodies that cannot be read. */
const PAUSE_STEPS = 256;

/**
 * Runs a matcher once over a tree, from its root down; returns the root, which may be a new block. Steps bound the work, because time differs
 * between machines. Blocks after the last step stay as they are.
 */
export function* applyMatcher(matcher: Matcher, root: TraceFragment, context: Context): Steps<TraceFragment> {
  const budget = new ReadBudget({ steps: MATCHER_STEPS_MAX });
  let pauseAt = PAUSE_STEPS;
  let top = root;
  for (const block of breadthFirst(root)) {
    if (block.mergedInto !== undefined) continue;
    if (budget.stepsTaken >= pauseAt) {
      pauseAt = budget.stepsTaken + PAUSE_STEPS;
      yield;
    }
    const found = matchWithin(budget, matcher.pattern, block, context);
    if (budget.isSpent) return top;
    if (found === undefined) continue;
    const made = tryRead(() => matcher.build(block, found, context));
    // Its bodies may be long.
    yield;
    if (made === undefined) continue;
    const merged = mergeFragments(made, [...found.blocks, ...(made.also ?? [])]);
    if (merged !== undefined && merged.previous === undefined) top = merged;
  }
  return top;
}

/** Undefined without a match, and when the budget is spent. */
function matchWithin(budget: ReadBudget, pattern: Pattern, block: TraceFragment, context: Context): Found | undefined {
  try {
    return match(pattern, block, context, budget);
  } catch (error) {
    if (budget.isSpent) return undefined;
    throw error;
  }
}
