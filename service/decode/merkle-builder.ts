import { MERKLE_PROOF, MERKLE_UPDATE } from './cell-table.ts';
import type { CellTable } from './cell-table.ts';
import type { CellStore } from './cell-store.ts';
import { DecodeError } from './errors.ts';

/** Tree of which only a part is shown. Cells that are not opened become pruned branches. */
export type PartialTree = {
  readonly source: CellTable;
  readonly root: number;
  opened(cell: number): boolean;
};

/**
 * Adds a Merkle proof to `target` of a tree in another table, and returns the proof's cell. Cells that are not opened are pruned. Like in the
 * reference node, a cell without references is never pruned.
 * @param replaced replacements, which are in `target`, of cells of the tree
 */
export function addMerkleProof(target: CellStore, tree: PartialTree, replaced?: ReadonlyMap<number, number>): number {
  const below = addPruned(target, tree, replaced);
  const data = Buffer.alloc(35);
  data[0] = MERKLE_PROOF;
  target.hash(below, 0).copy(data, 1);
  data.writeUInt16BE(target.depth(below, 0), 33);
  return target.add({ kind: 'merkleProof', data, bitLength: 280, refs: [below] });
}

/** Adds a Merkle update to `target` from one partial tree to another. The first tree must have the cells that the second one prunes. */
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
 * Adds the Merkle update from one state to the next, both in `states`. It shows new cells, and in the old state the paths to the reused cells.
 * @param firstNew cells from this index on did not exist when the old state was the newest
 * @param shown `anew`: older cells that are shown too, in their positions. The reference node prunes parts that it took over unchanged from the old
 *   state. It does not prune parts that it wrote again with the same content. `ways`: cells of the old state that are shown besides the paths.
 */
export function addStateUpdate(
  target: CellStore,
  states: CellTable,
  oldRoot: number,
  newRoot: number,
  firstNew: number,
  { anew = none, ways: also = none }: { readonly anew?: ReadonlySet<number>; readonly ways?: ReadonlySet<number> } = {},
): number {
  const reused = new Set<number>();
  const isNew = (cell: number): boolean => cell >= firstNew || anew.has(cell);
  walk(states, newRoot, (cell) => {
    if (isNew(cell)) return true;
    // A cell without references is never pruned, so no path to it is needed.
    if (states.refCount(cell) > 0) reused.add(cell);
    return false;
  });
  const { ways, found, missing } = findReused(states, oldRoot, reused);
  // A new state may by chance have a part that only much older states had, or a block that was replaced. Such a part is shown.
  const shown = new Set<number>();
  for (const cell of missing) {
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

type Reused = ReturnType<typeof findWays> & {
  /** Wanted cells that are not below the root. */
  readonly missing: readonly number[];
};

/** Finds the wanted cells below the root. Of a missing one it finds what is below that and below the root. */
function findReused(table: CellTable, root: number, wanted: ReadonlySet<number>): Reused {
  const all = findWays(table, root, wanted);
  const missing = [...wanted].filter((cell) => !all.found.has(cell));
  if (missing.length === 0) return { ...all, missing };
  const more = new Set(all.found);
  for (const cell of missing) {
    walk(table, cell, (below) => {
      if (table.refCount(below) > 0) more.add(below);
      return !all.found.has(below);
    });
  }
  return { ...findWays(table, root, more), missing };
}

/** Visits each cell below a root once, down to where `enter` says no. */
function walk(table: CellTable, root: number, enter: (cell: number) => boolean): void {
  const seen = new Set([root]);
  for (const cell of seen) {
    if (!enter(cell)) continue;
    for (let position = 0; position < table.refCount(cell); position++) seen.add(table.ref(cell, position));
  }
}

/** Finds the wanted cells below the root, and the cells on the paths to them. Recursion is as deep as the tree, which is bounded. */
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

/** Most nested Merkle cells: a hash has three levels above the lowest. */
const NESTING_MAX = 2;

function addPruned(target: CellStore, tree: PartialTree, replaced?: ReadonlyMap<number, number>): number {
  // Each nesting of Merkle cells has a memo, because the level of a pruned branch depends on it.
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

/** Adds a pruned branch. It has the hashes and depths of its cell, and stands for them on one more level. */
export function addPrunedBranch(target: CellStore, source: CellTable, cell: number, nesting: number): number {
  const mask = source.levelMask(cell);
  const levels = [0, 1, 2, 3].filter((level) => level === 0 || (mask & (1 << (level - 1))) !== 0);
  const hashes = levels.map((level) => source.hash(cell, level));
  const depths = Buffer.alloc(2 * levels.length);
  levels.forEach((level, at) => depths.writeUInt16BE(source.depth(cell, level), 2 * at));
  const data = Buffer.concat([Buffer.from([1, mask | (1 << nesting)]), ...hashes, depths]);
  return target.add({ kind: 'pruned', data, bitLength: data.length * 8, refs: [] });
}
