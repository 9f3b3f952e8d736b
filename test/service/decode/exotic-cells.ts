import { beginCell, type Cell } from '@ton/core';

const leaf = beginCell().storeUint(0xabcdef, 24).endCell();

/** `leaf` as a Merkle tree prunes it: a cell of level 1. */
const prunedLeaf = beginCell()
  .storeUint(0x0101, 16)
  .storeBuffer(leaf.hash())
  .storeUint(leaf.depth(), 16)
  .endCell({ exotic: true });

const tree = beginCell().storeUint(7, 32).storeRef(prunedLeaf).endCell();

/** A cell of each exotic kind that may be the root of a bag. The Merkle cells have a pruned branch below. */
export const exoticCells = {
  library: beginCell().storeUint(2, 8).storeBuffer(leaf.hash()).endCell({ exotic: true }),
  merkleProof: beginCell()
    .storeUint(3, 8)
    .storeBuffer(tree.hash(0))
    .storeUint(tree.depth(0), 16)
    .storeRef(tree)
    .endCell({ exotic: true }),
  merkleUpdate: beginCell()
    .storeUint(4, 8)
    .storeBuffer(tree.hash(0))
    .storeBuffer(tree.hash(0))
    .storeUint(tree.depth(0), 16)
    .storeUint(tree.depth(0), 16)
    .storeRef(tree)
    .storeRef(tree)
    .endCell({ exotic: true }),
} as const satisfies Record<string, Cell>;

export type ExoticKind = keyof typeof exoticCells;

export const exoticBags = (Object.keys(exoticCells) as ExoticKind[]).map(
  (kind) => [kind, exoticCells[kind].toBoc()] as const,
);

/** Returns a chain of cells. @param depth references from its root to its leaf */
export function chainOfCells(depth: number): Cell {
  let chain = leaf;
  for (let level = 0; level < depth; level++) chain = beginCell().storeRef(chain).endCell();
  return chain;
}
