import { parseBoc } from '../decode/boc.ts';
import { CellSlice } from '../decode/cell-slice.ts';
import type { CellTable } from '../decode/cell-table.ts';
import { DecodeError } from '../decode/errors.ts';
import { TvmError } from './errors.ts';
import { STACK_ENTRIES_MAX } from './stack.ts';
import type { StackEntry, StackWindow } from './stack.ts';

/** Most bytes of a stack's BoC: a stack of cells as large as the largest account. */
const STACK_BYTES_MAX = 16 * 1024 * 1024;

type Reading = { readonly table: CellTable; entries: number };

/**
 * Reads a stack, bottom first; `encodeStack` describes the form. Cells stay in the table of the parsed bytes. Throws TvmError `stack_invalid`,
 * `stack_too_big`.
 */
export function decodeStack(bytes: Uint8Array): StackEntry[] {
  try {
    // A contract may take cells with pruned branches from a Merkle proof.
    const boc = parseBoc(bytes, { rootsMax: 1, bytesMax: STACK_BYTES_MAX, rootLevelMax: 3 });
    return readStack({ table: boc, entries: 0 }, boc.roots[0]!);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new TvmError('stack_invalid', { detail: `the bytes are no VmStack: ${error.message}` }, error);
  }
}

/** `vm_stack#_ depth:(## 24) stack:(VmStackList depth)`, `vm_stk_cons#_ rest:^(VmStackList n) tos:VmStackValue`, `vm_stk_nil#_`. */
function readStack(reading: Reading, root: number): StackEntry[] {
  let slice = new CellSlice(reading.table, root);
  const depth = slice.uint(24);
  if (depth > STACK_ENTRIES_MAX) throw tooBig();
  const entries: StackEntry[] = [];
  for (let left = depth; left > 0; left--) {
    const rest = slice.ref();
    entries.push(readEntry(reading, slice));
    expectEnd(slice);
    slice = new CellSlice(reading.table, rest);
  }
  expectEnd(slice);
  return entries.toReversed();
}

function readEntryCell(reading: Reading, cell: number): StackEntry {
  const slice = new CellSlice(reading.table, cell);
  const entry = readEntry(reading, slice);
  expectEnd(slice);
  return entry;
}

function readEntry(reading: Reading, slice: CellSlice): StackEntry {
  if (++reading.entries > STACK_ENTRIES_MAX) throw tooBig();
  const { table } = reading;
  const tag = slice.uint(8);
  switch (tag) {
    case 0:
      return { type: 'null' };
    case 1:
      return { type: 'int', value: slice.int64() };
    case 2:
      return readLongInt(slice);
    case 3:
      return { type: 'cell', table, cell: slice.ref() };
    case 4:
      return { type: 'slice', ...readWindow(table, slice) };
    case 5:
      return { type: 'builder', table, cell: slice.ref() };
    case 6:
      return { type: 'continuation', ...takeRest(table, slice) };
    case 7:
      return { type: 'tuple', items: readTuple(reading, slice) };
    default:
      throw new DecodeError('bad_tag', 'The cell is no VmStackValue.', { cell: slice.cell, found: tag });
  }
}

/** Reads the rest of `vm_stk_int#0201_ value:int257` or `vm_stk_nan#02ff` after its first byte. */
function readLongInt(slice: CellSlice): StackEntry {
  const tag = slice.uint(7);
  if (tag === 0) return { type: 'int', value: slice.intBig(257) };
  if (tag === 0x7f && slice.bit()) return { type: 'nan' };
  throw new DecodeError('bad_tag', 'The cell is no VmStackValue.', { cell: slice.cell, found: tag });
}

/** `cell:^Cell st_bits:(## 10) end_bits:(## 10) { st_bits <= end_bits } st_ref:(#<= 4) end_ref:(#<= 4) { st_ref <= end_ref }`. */
function readWindow(table: CellTable, slice: CellSlice): StackWindow {
  const cell = slice.ref();
  const [startBit, endBit, startRef, endRef] = [slice.uint(10), slice.uint(10), slice.uint(3), slice.uint(3)];
  if (startBit > endBit || endBit > table.bitLength(cell) || startRef > endRef || endRef > table.refCount(cell)) {
    throw new DecodeError('bad_value', 'A slice of the stack is outside its cell.', { cell });
  }
  return { table, cell, startBit, endBit, startRef, endRef };
}

/** Takes the rest of a slice. A `VmCont` is always the last thing in its cell. */
function takeRest(table: CellTable, slice: CellSlice): StackWindow {
  const { cell, position } = slice;
  const [endBit, endRef] = [table.bitLength(cell), table.refCount(cell)];
  const startRef = endRef - slice.remainingRefs;
  slice.skip(slice.remainingBits);
  while (slice.remainingRefs > 0) slice.ref();
  return { table, cell, startBit: position, endBit, startRef, endRef };
}

/** `vm_tuple_nil`, `vm_tuple_tcons head:(VmTupleRef n) tail:^VmStackValue`; a head of two or more items is a cell of the same form. */
function readTuple(reading: Reading, slice: CellSlice): StackEntry[] {
  const length = slice.uint(16);
  if (length > STACK_ENTRIES_MAX) throw tooBig();
  const items: StackEntry[] = [];
  let here = slice;
  for (let left = length; left > 0; left--) {
    const head = left > 1 ? here.ref() : undefined;
    items.push(readEntryCell(reading, here.ref()));
    if (here !== slice) expectEnd(here);
    if (head === undefined) break;
    if (left === 2) {
      items.push(readEntryCell(reading, head));
      break;
    }
    here = new CellSlice(reading.table, head);
  }
  return items.toReversed();
}

function expectEnd(slice: CellSlice): void {
  if (slice.remainingBits === 0 && slice.remainingRefs === 0) return;
  throw new DecodeError('bad_value', 'Something follows the value.', { cell: slice.cell, found: slice.remainingBits });
}

function tooBig(): TvmError {
  return new TvmError('stack_too_big', {
    detail: `the stack has more than ${STACK_ENTRIES_MAX} entries`,
    limit: STACK_ENTRIES_MAX,
  });
}
