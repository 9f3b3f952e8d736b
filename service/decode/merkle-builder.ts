import { MERKLE_PROOF, MERKLE_UPDATE } from './cell-table.ts';
import type { CellTable } from './cell-table.ts';
import type { CellStore } from './cell-store.ts';
import { DecodeError } from './errors.ts';

/** A tree of which only a part is shown: cells that are not opened become pruned branches. */
export type PartialTree = {
  readonly source: CellTable;
  readonly root: number;
  opened(cell: number): boolean;
};

/**
 * A Merkle proof in `target` of a tree that stands elsewhere: what is not opened is pruned, but, as in the reference node, no
 * cell without references. Returns the proof's cell.
 * @param replaced cells of the tree in whose place others stand, which are in `target`
 */
export function addMerkleProof(target: CellStore, tree: PartialTree, replaced?: ReadonlyMap<number, number>): number {
  const below = addPruned(target, tree, replaced);
  const data = Buffer.alloc(35);
  data[0] = MERKLE_PROOF;
  target.hash(below, 0).copy(data, 1);
  data.writeUInt16BE(target.depth(below, 0), 33);
  return target.add({ kind: 'merkleProof', data, bitLength: 280, refs: [below] });
}

/** A Merkle update in `target` from one partial tree to another. Whoever applies it must find in the first what the second prunes. */
function addMerkleUpdate(target: CellStore, from: PartialTree, to: PartialTree): number {
  const sides = [addPruned(target, from), addPruned(target, to)];
  const data = Buffer.alloc(69);
  data[0] = MERKLE_UPDATE;
  sides.forEach((side, index) => {
    target.hash(side, 0).copy(data, 1 + 32 * index);
    data.writeUInt16BE(target.depth(side, 0), 65 + 2 * index);
  });
  return target.add({ kind: 'merkleUpdate', data, bitLength: 552, refs: sides });
}

const none: ReadonlySet<number> = new Set();

/**
 * The Merkle update from one state to the next, both in `states`: shows what is new, and of the old state the ways to what is
 * kept.
 * @param firstNew cells from this index on did not exist when the old state was the newest
 * @param shown `anew`: older cells that are shown too, where they stand: the reference node prunes what it took over from the old state as
 * it was, not what it wrote again and found to be the same. `ways`: cells of the old state that are shown beside the ways
 */
export function addStateUpdate(
  target: CellStore,
  states: CellTable,
  oldRoot: number,
  newRoot: number,
  firstNew: number,
  { anew = none, ways: also = none }: { readonly anew?: ReadonlySet<number>; readonly ways?: ReadonlySet<number> } = {},
): number {
  const kept = new Set<number>();
  const isNew = (cell: number): boolean => cell >= firstNew || anew.has(cell);
  walk(states, newRoot, (cell) => {
    if (isNew(cell)) return true;
    // A cell without references is never pruned: nobody has to look for it.
    if (states.refCount(cell) > 0) kept.add(cell);
    return false;
  });
  const { ways, found } = findWays(states, oldRoot, kept);
  // A new state may by chance have a part that only states long past had: it is shown whole.
  const shown = new Set<number>();
  for (const cell of kept) {
    if (found.has(cell)) continue;
    walk(states, cell, (below) => {
      if (found.has(below)) return false;
      shown.add(below);
      return true;
    });
  }
  const from = { source: states, root: oldRoot, opened: (cell: number) => ways.has(cell) || also.has(cell) };
  const to = { source: states, root: newRoot, opened: (cell: number) => isNew(cell) || shown.has(cell) };
  return addMerkleUpdate(target, from, to);
}

/** Visits each cell below a root once, down to where `enter` says no. */
function walk(table: CellTable, root: number, enter: (cell: number) => boolean): void {
  const seen = new Set([root]);
  for (const cell of seen) {
    if (!enter(cell)) continue;
    for (let position = 0; position < table.refCount(cell); position++) seen.add(table.ref(cell, position));
  }
}

/** Which of the cells wanted are below the root, and the cells on the ways to them. Recursion is as deep as the tree, which is bounded. */
function findWays(
  table: CellTable,
  root: number,
  wanted: ReadonlySet<number>,
): { readonly ways: ReadonlySet<number>; readonly found: ReadonlySet<number> } {
  const ways = new Set<number>();
  const found = new Set<number>();
  const done = new Map<number, boolean>();
  const visit = (cell: number): boolean => {
    if (wanted.has(cell)) {
      found.add(cell);
      return true;
    }
    const known = done.get(cell);
    if (known !== undefined) return known;
    let leads = false;
    for (let position = 0; position < table.refCount(cell); position++) {
      if (visit(table.ref(cell, position))) leads = true;
    }
    if (leads) ways.add(cell);
    done.set(cell, leads);
    return leads;
  };
  visit(root);
  return { ways, found };
}

/** Merkle cells stand in each other at most this deep: a hash has three levels above the lowest. */
const NESTING_MAX = 2;

function addPruned(target: CellStore, tree: PartialTree, replaced?: ReadonlyMap<number, number>): number {
  // One memo for each nesting of Merkle cells: the level of a pruned branch depends on it.
  const done = [new Map(replaced), new Map<number, number>(), new Map<number, number>()];
  return addBelow(target, tree, tree.root, 0, done);
}

/** @param nesting Merkle cells above: a branch pruned below `nesting` of them is of level `nesting + 1` */
function addBelow(
  target: CellStore,
  tree: PartialTree,
  cell: number,
  nesting: number,
  done: readonly Map<number, number>[],
): number {
  if (nesting > NESTING_MAX) {
    throw new DecodeError('too_big', 'Merkle cells are nested too deep.', { cell, found: nesting, limit: NESTING_MAX });
  }
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
      refs.push(addBelow(target, tree, source.ref(cell, position), inner, done));
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
