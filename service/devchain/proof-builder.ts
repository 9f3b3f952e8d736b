import { writeBoc } from '../decode/boc-writer.ts';
import type { CellStore } from '../decode/cell-store.ts';
import { createCellStore } from '../decode/cell-store.ts';
import type { CellTable } from '../decode/cell-table.ts';
import { VisitedCells } from './visited-cells.ts';

/** Cells of one answer at most: a whole block or state of the largest kind that a frame carries. */
const answerCellsMax = 1 << 19;

/** A tree that an answer shows: whole, or only where it was visited. */
export type Shown = VisitedCells | { readonly table: CellTable; readonly cell: number };

/**
 * The bag of cells that the node makes of these roots: Merkle proofs of visited trees, whole trees as they are; no index,
 * no checksum, equal cells once.
 */
export function answerBoc(...roots: readonly Shown[]): Buffer {
  const store = createCellStore({ cellsMax: answerCellsMax });
  return writeBoc(
    store,
    roots.map((root) =>
      root instanceof VisitedCells ? addMerkleProof(store, root) : store.import(root.table, root.cell),
    ),
  );
}

/**
 * A Merkle proof in `target` of a tree that stands elsewhere: what was not visited is pruned. Returns the proof's cell.
 * @param replaced cells of the tree in whose place others stand, which are in `target`
 */
export function addMerkleProof(target: CellStore, tree: VisitedCells, replaced?: ReadonlyMap<number, number>): number {
  const done = [new Map(replaced), new Map<number, number>(), new Map<number, number>()];
  const below = addPruned(target, tree, tree.root, 0, done);
  const data = Buffer.alloc(35);
  data[0] = 3;
  target.hash(below, 0).copy(data, 1);
  data.writeUInt16BE(target.depth(below, 0), 33);
  return target.add({ kind: 'merkleProof', data, bitLength: 280, refs: [below] });
}

/** @param nesting Merkle cells above: a branch pruned below `nesting` of them is of level `nesting + 1` */
function addPruned(
  target: CellStore,
  tree: VisitedCells,
  cell: number,
  nesting: number,
  done: readonly Map<number, number>[],
): number {
  const known = done[nesting]!.get(cell);
  if (known !== undefined) return known;
  const { source } = tree;
  const refCount = source.refCount(cell);
  let added: number;
  if (refCount === 0) {
    added = target.addLike(source, cell, []);
  } else if (tree.opened(cell)) {
    const kind = source.kind(cell);
    const inner = kind === 'merkleProof' || kind === 'merkleUpdate' ? nesting + 1 : nesting;
    const refs: number[] = [];
    for (let position = 0; position < refCount; position++) {
      refs.push(addPruned(target, tree, source.ref(cell, position), inner, done));
    }
    added = target.addLike(source, cell, refs);
  } else {
    added = addPrunedBranch(target, source, cell, nesting);
  }
  done[nesting]!.set(cell, added);
  return added;
}

/** A pruned branch keeps the hashes and depths that its cell has, and stands for them on one level more. */
export function addPrunedBranch(target: CellStore, source: CellTable, cell: number, nesting: number): number {
  const mask = source.levelMask(cell);
  const levels = [0, 1, 2, 3].filter((level) => level === 0 || (mask & (1 << (level - 1))) !== 0);
  const hashes = levels.map((level) => source.hash(cell, level));
  const depths = Buffer.alloc(2 * levels.length);
  levels.forEach((level, at) => depths.writeUInt16BE(source.depth(cell, level), 2 * at));
  const data = Buffer.concat([Buffer.from([1, mask | (1 << nesting)]), ...hashes, depths]);
  return target.add({ kind: 'pruned', data, bitLength: data.length * 8, refs: [] });
}
