import type { CellTable } from '../decode/cell-table.ts';
import type { StackEntry } from '../tvm/stack.ts';
import {
  isPruned,
  listElements,
  resultTooBig,
  resultTooDeep,
  viewHexNumber,
  writeBagsInSteps,
  type BagTypes,
  type ResultBags,
} from '../contract/stack-results.ts';
import type { LegacyCellView, LegacyEntryView, StackEntryView } from './stack-shapes.ts';

/** Maximum levels of tuples and lists in an answer, as in the hosted service (service/v2/README.md#stack). */
export const LEGACY_DEPTH_MAX = 100;
export const TYPED_DEPTH_MAX = 256;

/** Cells written as objects in one answer, each as often as it is referred to: 20 ms of work. */
const OBJECT_CELLS_MAX = 16_384;

/** Bags of cells of an answer, and its deepest level. */
type Room = { readonly bags: ResultBags; readonly depthMax: number };

const bagTypes: BagTypes = new Set(['cell', 'slice']);

/** A result in the typed form, in steps. Throws ContractError `result_too_deep`, `result_too_big`. */
export function* viewTypedStack(stack: readonly StackEntry[]): Generator<undefined, readonly StackEntryView[]> {
  const room = { bags: yield* writeBagsInSteps(stack, bagTypes), depthMax: TYPED_DEPTH_MAX };
  return stack.map((entry) => viewTyped(room, entry, 1));
}

/**
 * A result in the legacy form, in steps; what is in tuples and lists is typed. Throws ContractError `result_too_deep`, `result_too_big`.
 */
export function* viewLegacyStack(stack: readonly StackEntry[]): Generator<undefined, readonly LegacyEntryView[]> {
  takeObjectCells(stack);
  const bags = yield* writeBagsInSteps(stack, bagTypes);
  const room = { bags, depthMax: LEGACY_DEPTH_MAX };
  const views: LegacyEntryView[] = [];
  for (const entry of stack) views.push(yield* viewLegacy(room, entry));
  return views;
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
    case 'cell': {
      const bag = room.bags(entry);
      if (bag === undefined) break;
      return { '@type': 'tvm.stackEntryCell', cell: { '@type': 'tvm.cell', bytes: bag.text } };
    }
    case 'slice': {
      const bag = room.bags(entry);
      if (bag === undefined) break;
      return { '@type': 'tvm.stackEntrySlice', slice: { '@type': 'tvm.slice', bytes: bag.text } };
    }
    case 'tuple':
      return { '@type': 'tvm.stackEntryTuple', tuple: viewTuple(room, entry.items, depth) };
  }
  return { '@type': 'tvm.stackEntryUnsupported' };
}

function* viewLegacy(room: Room, entry: StackEntry): Generator<undefined, LegacyEntryView> {
  const elements = listElements(entry);
  if (elements !== undefined) return ['list', viewList(room, elements, 0)];
  switch (entry.type) {
    case 'int':
      return ['num', viewHexNumber(entry.value)];
    case 'cell':
    case 'slice': {
      const bag = room.bags(entry);
      if (bag === undefined) return ['unsupported', ''];
      return ['cell', { bytes: bag.text, object: yield* viewCellObject(bag.table, bag.cell) }];
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

/** A cell is in a tree as often as it is referred to. A step is a cell, so a large result costs no more than the bound. */
function takeObjectCells(stack: readonly StackEntry[]): void {
  let left = OBJECT_CELLS_MAX;
  for (const entry of stack) {
    if ((entry.type !== 'cell' && entry.type !== 'slice') || isPruned(entry)) continue;
    const { table, cell: top } = entry;
    const [startRef, endRef] = entry.type === 'slice' ? [entry.startRef, entry.endRef] : [0, table.refCount(top)];
    left--;
    const waiting: number[] = [];
    for (let at = startRef; at < endRef; at++) waiting.push(table.ref(top, at));
    for (let cell = waiting.pop(); cell !== undefined; cell = waiting.pop()) {
      if (--left < 0) break;
      for (let at = 0; at < table.refCount(cell); at++) waiting.push(table.ref(cell, at));
    }
    if (left < 0) throw resultTooBig(`more than ${OBJECT_CELLS_MAX} cells as objects`);
  }
}

type CellObject = LegacyCellView & { readonly refs: LegacyCellView[] };

/** The tree below a cell as objects, in a step a cell. */
function* viewCellObject(table: CellTable, root: number): Generator<undefined, LegacyCellView> {
  const objectOf = (cell: number): CellObject => {
    const [start, len] = [table.dataOffset(cell), table.bitLength(cell)];
    const b64 = table.bytes.toString('base64', start, start + ((len + 7) >> 3));
    return { data: { b64, len }, refs: [], special: table.kind(cell) !== 'ordinary' };
  };
  const top = objectOf(root);
  const waiting = [{ cell: root, object: top }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    yield;
    for (let at = 0; at < table.refCount(next.cell); at++) {
      const cell = table.ref(next.cell, at);
      const object = objectOf(cell);
      next.object.refs.push(object);
      waiting.push({ cell, object });
    }
  }
  return top;
}
