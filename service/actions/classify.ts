import { basicBlocks, tickTockType } from './basic-blocks.ts';
import { breadthFirst, type Block } from './block.ts';
import { eventTree, type EventTrace } from './event.ts';
import { ghostActions } from './ghosts.ts';
import type { Interfaces } from './interfaces.ts';
import { applyMatcher } from './matcher.ts';
import { matchers } from './matchers.ts';
import { actionsOf, type Action } from './rows.ts';

/** What became of a trace: `ok`, `broken` when something in it contradicts what is known of its accounts, `failed` when only its messages could be told. */
export type ClassificationState = 'ok' | 'broken' | 'failed';

export type Classified = { readonly state: ClassificationState; readonly actions: readonly Action[] };

/** The actions of a trace (indexing sheet 9). Depends on nothing but its arguments. */
export function classify(trace: EventTrace, interfaces: Interfaces): Classified {
  const tree = eventTree(trace);
  if (tree === undefined) return { state: 'ok', actions: [] };
  let root = basicBlocks(tree);
  for (const matcher of matchers) root = applyMatcher(matcher, root, { interfaces });
  if (root.type === tickTockType && root.next.length === 0) return { state: 'ok', actions: [] };
  const actions = actionsOf(trace, root);
  const isGhost = actions.length === 0 && tree.message?.source === null && tree.children.length === 0;
  return {
    state: isBroken(root) ? 'broken' : 'ok',
    actions: isGhost ? ghostActions(trace, tree.transaction, interfaces) : actions,
  };
}

function isBroken(root: Block): boolean {
  for (const block of breadthFirst(root)) if (block.broken) return true;
  return false;
}
