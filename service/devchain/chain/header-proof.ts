import { previousBlocks, readBlockInfo } from '#service/decode/tlb/block-info.ts';
import type { Block } from '#service/decode/tlb/block.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import type { ChainBlock } from './chain.ts';
import type { ChainView } from './chain-view.ts';
import { visitBlock } from './chain-view.ts';
import type { VisitedCells } from '../collator/visited-cells.ts';

/** The header of a block: root, info, and what the info refers to. */
export function visitHeader(tree: VisitedCells): Omit<Block, 'info'> {
  const { info, ...cells } = readBlock(tree, tree.root);
  const header = readBlockInfo(tree, info);
  previousBlocks(tree, header);
  for (const cell of [header.masterRef, header.prevVertRef]) if (cell !== undefined) tree.open(cell);
  return cells;
}

/** The header and the state update's own cell: proves the hash of the state after the block. */
export function visitHeaderAndState(view: ChainView, block: ChainBlock): VisitedCells {
  const tree = visitBlock(view, block);
  tree.open(visitHeader(tree).stateUpdate);
  return tree;
}

/** Visits root and info, which name a block and say whether it is a key block. */
export function visitInfo(view: ChainView, block: ChainBlock): VisitedCells {
  const tree = visitBlock(view, block);
  readBlockInfo(tree, readBlock(tree, tree.root).info);
  return tree;
}
