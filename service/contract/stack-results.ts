import { writeBoc, writeBocInSteps } from '../decode/boc-writer.ts';
import { createCellStore, type CellStore } from '../decode/cell-store.ts';
import type { CellTable } from '../decode/cell-table.ts';
import { cellOfSlice, isWhole, type StackCell, type StackEntry, type StackWindow } from '../tvm/stack.ts';
import { ContractError } from './errors.ts';

// Values of a get-method's result, for every form of a stack (service/v2/README.md#stack).

/**
 * Bytes of the bags of cells in one answer. One cell may stand in a stack many times, so that a small result could make an answer
 * without end.
 */
const BAG_BYTES_MAX = 4 * 1024 * 1024;

/** A cell, or the cell with the rest of a slice, and its bag in base64. */
export type ResultBag = StackCell & { readonly text: string };

/** Bags of the cells and slices of a result; undefined for one with pruned branches. */
export type ResultBags = (shown: StackCell | StackWindow) => ResultBag | undefined;

/** Types of entries that a form shows as bags of cells. */
export type BagTypes = ReadonlySet<'cell' | 'slice' | 'builder' | 'continuation'>;

/** A bag to write, and how often it stands in the result. */
type WantedBag = { readonly shown: StackCell | StackWindow; times: number };

type Writing = {
  /** Takes cells that have to be made to show slices. */
  readonly store: CellStore;
  /** Number of the last bag that has a cell, by cell of a table. */
  readonly marks: Map<CellTable, Uint16Array>;
  bags: number;
  bytesLeft: number;
};

/**
 * Writes the bags of a result in steps, so that other requests run between them. Each distinct cell is written once. Its bytes are counted
 * before, as often as it is shown. Throws ContractError `result_too_big`.
 */
export function* writeBagsInSteps(stack: readonly StackEntry[], types: BagTypes): Generator<undefined, ResultBags> {
  const wanted = listBags(stack, types);
  const writing: Writing = { store: createCellStore(), marks: new Map(), bags: 0, bytesLeft: BAG_BYTES_MAX };
  const measured: (readonly [shown: WantedBag['shown'], cells: readonly number[]])[] = [];
  for (const bags of wanted.values())
    for (const { shown, times } of bags.values()) {
      if (isPruned(shown)) continue;
      measured.push([shown, yield* measureBag(writing, shown, times)]);
    }
  const written = new Map<CellTable, Map<string, ResultBag>>();
  for (const table of wanted.keys()) written.set(table, new Map());
  for (const [shown, cells] of measured)
    written.get(shown.table)!.set(keyOf(shown), yield* writeBag(writing, shown, cells));
  return (shown) => written.get(shown.table)?.get(keyOf(shown));
}

/** Distinct cells and slices of a result, by table. */
function listBags(stack: readonly StackEntry[], types: BagTypes): Map<CellTable, Map<string, WantedBag>> {
  const wanted = new Map<CellTable, Map<string, WantedBag>>();
  const waiting = [...stack];
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    if (entry.type === 'tuple') waiting.push(...entry.items);
    if (!('table' in entry) || !types.has(entry.type)) continue;
    const bags = wanted.get(entry.table) ?? new Map<string, WantedBag>();
    wanted.set(entry.table, bags);
    const key = keyOf(entry);
    const known = bags.get(key);
    if (known === undefined) bags.set(key, { shown: entry, times: 1 });
    else known.times++;
  }
  return wanted;
}

/** Name of a cell or slice among those of its table. A slice of a whole ordinary cell is the cell. */
function keyOf(shown: StackCell | StackWindow): string {
  const part = partOf(shown);
  if (part === undefined) return `${shown.cell}`;
  return `${part.cell} ${part.startBit} ${part.endBit} ${part.startRef} ${part.endRef}`;
}

/** A slice that is no whole cell. */
function partOf(shown: StackCell | StackWindow): StackWindow | undefined {
  return 'startBit' in shown && !isWhole(shown) ? shown : undefined;
}

/**
 * True if a cell has pruned branches without their Merkle proof.
 * Readers of bags, the VM among them, refuse such a root, so no answer shows it.
 */
export function isPruned(shown: StackCell | StackWindow): boolean {
  const { table, cell } = shown;
  const part = partOf(shown);
  if (part === undefined) return table.levelMask(cell) !== 0;
  for (let at = part.startRef; at < part.endRef; at++) if (table.levelMask(table.ref(cell, at)) !== 0) return true;
  return false;
}

/** Takes the bytes of a bag, as often as it is shown. Returns its cells, without the first cell. */
function* measureBag(writing: Writing, shown: StackCell | StackWindow, times: number): Generator<undefined, number[]> {
  const { table } = shown;
  const marks = writing.marks.get(table) ?? new Uint16Array(table.size);
  writing.marks.set(table, marks);
  const mark = ++writing.bags;
  const cells: number[] = [];
  let dataBytes = 0;
  let refs = 0;
  const add = (of: number, bits: number, from: number, to: number): void => {
    dataBytes += 2 + ((bits + 7) >> 3);
    refs += to - from;
    for (let at = from; at < to; at++) {
      const below = table.ref(of, at);
      if (marks[below] === mark) continue;
      marks[below] = mark;
      cells.push(below);
    }
    if ((dataBytes + refs) * times > writing.bytesLeft) throw resultTooBig(`more than ${BAG_BYTES_MAX} bytes of cells`);
  };
  const { cell } = shown;
  const part = partOf(shown);
  if (part === undefined) add(cell, table.bitLength(cell), 0, table.refCount(cell));
  else add(cell, part.endBit - part.startBit, part.startRef, part.endRef);
  for (let at = 0; at < cells.length; at++) {
    yield;
    add(cells[at]!, table.bitLength(cells[at]!), 0, table.refCount(cells[at]!));
  }
  writing.bytesLeft -= bagBytes(cells.length + 1, dataBytes, refs) * times;
  if (writing.bytesLeft < 0) throw resultTooBig(`more than ${BAG_BYTES_MAX} bytes of cells`);
  return cells;
}

/** Bytes that a number takes. */
const bytesOf = (value: number): number => Math.ceil((32 - Math.clz32(value)) / 8);

/** Bytes of a bag with one root and a checksum. */
function bagBytes(cells: number, dataBytes: number, refs: number): number {
  const refBytes = bytesOf(cells);
  const data = dataBytes + refs * refBytes;
  return 6 + refBytes * 4 + bytesOf(data) + data + 4;
}

/** Cells that are written at once. Steps need arrays of their own, which cost more than a small bag. */
const CELLS_AT_ONCE = 1024;

/** @param cells those below the first cell */
function* writeBag(
  { store }: Writing,
  shown: StackCell | StackWindow,
  cells: readonly number[],
): Generator<undefined, ResultBag> {
  yield;
  const part = partOf(shown);
  // A parsed bag has each cell before the cells below it. So the work begins with the last one.
  for (const cell of cells.toSorted((one, other) => other - one)) {
    yield;
    if (part === undefined) shown.table.hashPrefix(cell);
    else store.import(shown.table, cell);
  }
  const { table, cell } = part === undefined ? shown : cellOfSlice(part, store);
  const options = { crc32c: true };
  const bag =
    cells.length < CELLS_AT_ONCE ? writeBoc(table, [cell], options) : yield* writeBocInSteps(table, cell, options);
  return { table, cell, text: bag.toString('base64') };
}

/** Hex with `0x`, the sign in front. */
export function viewHexNumber(value: bigint): string {
  return value < 0n ? `-0x${(-value).toString(16)}` : `0x${value.toString(16)}`;
}

/** Items of a list of the VM: nested pairs that end with null. Null alone is the empty list. */
export function listElements(entry: StackEntry): readonly StackEntry[] | undefined {
  const elements: StackEntry[] = [];
  for (let rest = entry; ;) {
    if (rest.type === 'null') return elements;
    if (rest.type !== 'tuple' || rest.items.length !== 2) return undefined;
    elements.push(rest.items[0]!);
    rest = rest.items[1]!;
  }
}

/** @param limit levels of tuples and lists that the answer may have */
export function resultTooDeep(limit: number): ContractError {
  return new ContractError('result_too_deep', `Result stack depth >= ${limit}`);
}

/** @param bound what the result has too much of, with the number and its unit */
export function resultTooBig(bound: string): ContractError {
  return new ContractError('result_too_big', `TVM stack size exceeds limit: the result has ${bound}`);
}

export function resultPruned(): ContractError {
  return new ContractError('result_pruned', 'The result has a cell with pruned branches without their Merkle proof');
}
