import type { CellTable } from '../decode/cell-table.ts';
import { cellOfSlice, type StackCell, type StackEntry } from '../tvm/stack.ts';
import {
  isPruned,
  listElements,
  makeBagRoom,
  resultTooBig,
  resultTooDeep,
  viewBag,
  viewHexNumber,
  type BagRoom,
} from '../contract/stack-results.ts';
import type { LegacyCellView, LegacyEntryView, StackEntryView } from './stack-shapes.ts';

/** Maximum levels of tuples and lists in an answer, as in the hosted service (service/v2/README.md#stack). */
export const LEGACY_DEPTH_MAX = 100;
export const TYPED_DEPTH_MAX = 256;

/** Cells written as objects in one answer, each as often as it is referred to: 20 ms of work. */
const OBJECT_CELLS_MAX = 16_384;

/** Rest of an answer's bounds, and its deepest level. */
type Room = BagRoom & { readonly depthMax: number; objectCells: number };

/** A result in the typed form. Throws ContractError `result_too_deep`, `result_too_big`. */
export function viewTypedStack(stack: readonly StackEntry[]): readonly StackEntryView[] {
  const room = makeRoom(TYPED_DEPTH_MAX);
  return stack.map((entry) => viewTyped(room, entry, 1));
}

/** A result in the legacy form; what is in tuples and lists is typed. Throws ContractError `result_too_deep`, `result_too_big`. */
export function viewLegacyStack(stack: readonly StackEntry[]): readonly LegacyEntryView[] {
  const room = makeRoom(LEGACY_DEPTH_MAX);
  return stack.map((entry) => viewLegacy(room, entry));
}

function makeRoom(depthMax: number): Room {
  return { ...makeBagRoom(), depthMax, objectCells: OBJECT_CELLS_MAX };
}

function viewTyped(room: Room, entry: StackEntry, depth: number): StackEntryView {
  if (depth >= room.depthMax) throw resultTooDeep(room.depthMax);
  const elements = listElements(entry);
  if (elements !== undefined) return { '@type': 'tvm.stackEntryList', list: viewList(room, elements, depth) };
  switch (entry.type) {
    case 'int':
      return {
        '@type': 'tvm.stackEntryNumber',
        number: { '@type': 'tvm.numberDecimal', number: entry.value.toString() },
      };
    case 'cell':
      if (isPruned(entry)) break;
      return { '@type': 'tvm.stackEntryCell', cell: { '@type': 'tvm.cell', bytes: viewBag(room, entry) } };
    case 'slice': {
      const cell = cellOfSlice(entry);
      if (isPruned(cell)) break;
      return { '@type': 'tvm.stackEntrySlice', slice: { '@type': 'tvm.slice', bytes: viewBag(room, cell) } };
    }
    case 'tuple':
      return { '@type': 'tvm.stackEntryTuple', tuple: viewTuple(room, entry.items, depth) };
  }
  return { '@type': 'tvm.stackEntryUnsupported' };
}

function viewLegacy(room: Room, entry: StackEntry): LegacyEntryView {
  const elements = listElements(entry);
  if (elements !== undefined) return ['list', viewList(room, elements, 0)];
  switch (entry.type) {
    case 'int':
      return ['num', viewHexNumber(entry.value)];
    case 'cell':
    case 'slice': {
      const cell = entry.type === 'slice' ? cellOfSlice(entry) : entry;
      return isPruned(cell) ? ['unsupported', ''] : ['cell', viewCell(room, cell)];
    }
    case 'tuple':
      return ['tuple', viewTuple(room, entry.items, 0)];
    default:
      return ['unsupported', ''];
  }
}

function viewList(room: Room, elements: readonly StackEntry[], depth: number) {
  return { '@type': 'tvm.list', elements: elements.map((element) => viewTyped(room, element, depth + 1)) } as const;
}

function viewTuple(room: Room, items: readonly StackEntry[], depth: number) {
  return { '@type': 'tvm.tuple', elements: items.map((item) => viewTyped(room, item, depth + 1)) } as const;
}

function viewCell(room: Room, cell: StackCell): { bytes: string; object: LegacyCellView } {
  const bytes = viewBag(room, cell);
  room.objectCells -= countCells(cell, new Map());
  if (room.objectCells < 0) throw resultTooBig(`more than ${OBJECT_CELLS_MAX} cells as objects`);
  return { bytes, object: viewCellObject(cell.table, cell.cell) };
}

/** Cells of the tree that a cell spells: as often as they are referred to. Recursion is as deep as the cells, at most 1,024. */
function countCells({ table, cell }: StackCell, counts: Map<number, number>): number {
  const known = counts.get(cell);
  if (known !== undefined) return known;
  let count = 1;
  for (let at = 0; at < table.refCount(cell); at++) count += countCells({ table, cell: table.ref(cell, at) }, counts);
  counts.set(cell, count);
  return count;
}

function viewCellObject(table: CellTable, cell: number): LegacyCellView {
  const [start, len] = [table.dataOffset(cell), table.bitLength(cell)];
  const b64 = table.bytes.toString('base64', start, start + ((len + 7) >> 3));
  const refs = Array.from({ length: table.refCount(cell) }, (_, at) => viewCellObject(table, table.ref(cell, at)));
  return { data: { b64, len }, refs, special: table.kind(cell) !== 'ordinary' };
}
