import { breadthFirst, mergeFragments, type TraceFragment, type NewFragment } from './trace-fragment.ts';
import { tryRead } from './body.ts';
import { match, type Context, type Found, type Pattern } from './pattern.ts';

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

/** Runs a matcher once over a tree, from its root down; returns the root, which may be a new block. */
export function applyMatcher(matcher: Matcher, root: TraceFragment, context: Context): TraceFragment {
  let top = root;
  for (const block of breadthFirst(root)) {
    if (block.mergedInto !== undefined) continue;
    const found = match(matcher.pattern, block, context);
    if (found === undefined) continue;
    const made = tryRead(() => matcher.build(block, found, context));
    if (made === undefined) continue;
    const merged = mergeFragments(made, [...found.blocks, ...(made.also ?? [])]);
    if (merged !== undefined && merged.previous === undefined) top = merged;
  }
  return top;
}
