import type { ChainBlock } from './chain.ts';
import type { View } from './view.ts';
import { visitBlock } from './view.ts';
import type { VisitedCells } from './visited-cells.ts';
import { openBlock, openHeader, openPrevious } from './walk.ts';

/** The header of a block: root, info, and what the info refers to. */
export function visitHeader(tree: VisitedCells): {
  readonly valueFlow: number;
  readonly stateUpdate: number;
  readonly extra: number;
} {
  const { info, ...cells } = openBlock(tree, tree.root);
  const header = openHeader(tree, info);
  openPrevious(tree, header);
  for (const cell of [header.masterRef, header.prevVertRef]) if (cell !== undefined) tree.open(cell);
  return cells;
}

/** The header and the state update's own cell: proves the hash of the state after the block. */
export function visitHeaderAndState(view: View, block: ChainBlock): VisitedCells {
  const tree = visitBlock(view, block);
  tree.open(visitHeader(tree).stateUpdate);
  return tree;
}
