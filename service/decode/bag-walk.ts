import type { BagCells } from './bag-cells.ts';
import type { CellSlice } from './cell-slice.ts';
import { DEPTH_MAX } from './cell-table.ts';
import type { CellTable } from './cell-table.ts';
import { DecodeError } from './errors.ts';
import type { ReadBudget } from './read-budget.ts';

/** Steps of one written cell: hashing, lookup and copy. */
const CELL_STEPS = 2;

/** Largest weight of a cell in a bag. */
const WEIGHT_MAX = 255;

/** Adds trees of cells to a bag, each hash once. Returns the numbers of the roots. Throws DecodeError `too_big`. */
export function collectAll(
  table: CellTable,
  bag: BagCells,
  roots: readonly number[],
  budget?: ReadBudget,
): readonly number[] {
  const [root] = roots;
  if (root === undefined || roots.length > 1 || table.refCount(root) > 0) {
    return roots.map((cell) => {
      const walk = startWalk(table, bag, budget);
      const number = enter(walk, cell);
      walkOn(walk, Infinity);
      return number;
    });
  }
  // Most bodies of messages are one cell, which needs no hash.
  budget?.step(CELL_STEPS);
  bag.raise(bag.append(root, 0, 0));
  return [0];
}

/** Adds the rest of a slice like `collectAll`. The rest stands for the cell; no cell below has its hash. */
export function collectRest(bag: BagCells, { table, cell, remainingRefs }: CellSlice, budget?: ReadBudget): number {
  budget?.step(CELL_STEPS);
  const number = bag.append(cell, remainingRefs, 0);
  const walk = startWalk(table, bag, budget, table.refCount(cell) - remainingRefs);
  descend(walk, number);
  walkOn(walk, Infinity);
  return number;
}

/** Walk down a tree that adds its cells to a bag, each hash once. It may stop between two cells and go on. */
export type Walk = {
  readonly table: CellTable;
  readonly bag: BagCells;
  readonly budget: ReadBudget | undefined;
  /** References of the first cell that are left out. */
  readonly skipped: number;
  /** Cells from the first one down, by number, and the position of the next reference of each. */
  readonly path: number[];
  readonly positions: number[];
};

/** A walk that has no cell yet: `enter` the first one. */
export function startWalk(table: CellTable, bag: BagCells, budget: ReadBudget | undefined, skipped = 0): Walk {
  return { table, bag, budget, skipped, path: [], positions: [] };
}

function descend({ path, positions }: Walk, number: number): void {
  path.push(number);
  positions.push(0);
}

/** Goes on with at most so many references. Returns true when all cells are in the bag. */
export function walkOn(walk: Walk, references: number): boolean {
  const { table, bag, skipped, path, positions } = walk;
  for (let left = references; path.length > 0;) {
    const top = path.length - 1;
    const number = path[top]!;
    const position = positions[top]!++;
    if (position === bag.refCount[number]!) {
      raise(bag, number);
      path.pop();
      positions.pop();
      continue;
    }
    if (left-- === 0) {
      positions[top] = position;
      return false;
    }
    const child = table.ref(bag.cell[number]!, top === 0 ? skipped + position : position);
    // The call may replace the arrays of the bag.
    const entered = enter(walk, child);
    bag.refs[number * 4 + position] = entered;
  }
  return true;
}

/** Adds a cell whose references come next, unless the bag has its hash. Returns its number. */
export function enter(walk: Walk, cell: number): number {
  const { table, bag, budget, path } = walk;
  const prefix = table.hashPrefix(cell);
  for (let known = bag.findAlike(prefix); known >= 0; known = bag.findAlike(prefix, known)) {
    if (!isSame(table, bag.cell[known]!, cell)) continue;
    bag.shared[known] = 1;
    return known;
  }
  if (path.length > DEPTH_MAX)
    throw new DecodeError('too_big', 'Cells are nested too deep.', { found: path.length, limit: DEPTH_MAX });
  budget?.step(CELL_STEPS);
  const number = bag.append(cell, table.refCount(cell), prefix);
  descend(walk, number);
  return number;
}

/** Ends a cell: all cells below it are in the bag. */
function raise(bag: BagCells, number: number): void {
  const end = number * 4 + bag.refCount[number]!;
  let weight = 1;
  for (let at = number * 4; at < end; at++) weight += bag.weight[bag.refs[at]!]!;
  bag.weight[number] = Math.min(WEIGHT_MAX, weight);
  bag.raise(number);
}

/** Reports whether two indexes of one table are cells of one hash. */
function isSame(table: CellTable, one: number, other: number): boolean {
  return one === other || table.hashEquals(one, table.hash(other));
}
