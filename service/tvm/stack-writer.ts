import { writeBoc, writeBocInSteps } from '../decode/boc-writer.ts';
import { DEPTH_MAX } from '../decode/cell-table.ts';
import { createCellStore } from '../decode/cell-store.ts';
import type { CellStore } from '../decode/cell-store.ts';
import { DecodeError } from '../decode/errors.ts';
import { BitWriter } from '../decode/bit-writer.ts';
import { TvmError } from './errors.ts';
import { STACK_ENTRIES_MAX, copyWindow } from './stack.ts';
import type { StackCell, StackEntry } from './stack.ts';

/** Most items of a tuple in the VM. */
const TUPLE_ITEMS_MAX = 255;

const INT_MAX = (1n << 256n) - 1n;
const INT_MIN = -(1n << 256n);
const SHORT_BITS = 64;

type Writing = { readonly store: CellStore; entries: number };

/**
 * Writes a stack, bottom first, like the node (CRC-32C, no index): `vm_stack#_ depth:(## 24) stack:(VmStackList depth)`. Throws TvmError
 * `stack_too_deep`, `stack_too_big`, `stack_invalid`.
 */
export function encodeStack(entries: readonly StackEntry[]): Buffer {
  return runSteps(encodeStackInSteps(entries));
}

/**
 * Writes a stack like `encodeStack` in steps, so that a caller may do other work between two steps. A step is an entry with its cells, or a
 * part of the bag.
 */
export function* encodeStackInSteps(entries: readonly StackEntry[]): Generator<undefined, Buffer> {
  if (entries.length > STACK_ENTRIES_MAX) throw tooBig();
  // Each entry is a cell deeper than the entry before.
  if (entries.length > DEPTH_MAX) throw tooDeep();
  const writing: Writing = { store: createCellStore(), entries: 0 };
  try {
    const root = yield* writeEntries(writing, entries);
    return yield* writeBag(writing, root);
  } catch (error) {
    throw refusalOf(error);
  }
}

function* writeEntries(writing: Writing, entries: readonly StackEntry[]): Generator<undefined, number> {
  let rest = new BitWriter();
  for (const [index, entry] of entries.entries()) {
    const cell = rest.finish(writing.store);
    rest = new BitWriter();
    if (index === entries.length - 1) rest.int(entries.length, 24);
    rest.ref(cell);
    yield* writeEntry(writing, rest, entry, 0);
  }
  return (entries.length === 0 ? rest.int(0, 24) : rest).finish(writing.store);
}

/** Cells that are written at once. Steps need arrays of their own, which cost more than a small bag. */
const CELLS_AT_ONCE = 1024;

function* writeBag({ store }: Writing, root: number): Generator<undefined, Buffer> {
  if (store.size <= CELLS_AT_ONCE) return writeBoc(store, [root], { crc32c: true });
  return yield* writeBocInSteps(store, root, { crc32c: true });
}

/** Writes one `VmStackValue` as a bag of cells of its own. Throws like `encodeStack`. */
export function encodeStackEntry(entry: StackEntry): Buffer {
  const writing: Writing = { store: createCellStore(), entries: 0 };
  try {
    return writeBoc(writing.store, [runSteps(writeEntryCell(writing, entry, 0))], { crc32c: true });
  } catch (error) {
    throw refusalOf(error);
  }
}

function runSteps<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The failure of a write as a refusal of the stack. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof DecodeError)) return error;
  if (error.code === 'too_big') return tooDeep(error);
  return invalid(`an entry of the stack is no value: ${error.message}`, undefined, error);
}

function* writeEntryCell(writing: Writing, entry: StackEntry, nesting: number): Generator<undefined, number> {
  const writer = new BitWriter();
  yield* writeEntry(writing, writer, entry, nesting);
  return writer.finish(writing.store);
}

/**
 * `vm_stk_null#00`, `vm_stk_tinyint#01 value:int64`, `vm_stk_int#0201_ value:int257`, `vm_stk_nan#02ff`, `vm_stk_cell#03`,
 * `vm_stk_slice#04`, `vm_stk_builder#05`, `vm_stk_cont#06`, `vm_stk_tuple#07`.
 */
function* writeEntry(
  writing: Writing,
  writer: BitWriter,
  entry: StackEntry,
  nesting: number,
): Generator<undefined, void> {
  yield;
  if (++writing.entries > STACK_ENTRIES_MAX) throw tooBig();
  switch (entry.type) {
    case 'null':
      writer.int(0, 8);
      break;
    case 'nan':
      writer.int(0x02ff, 16);
      break;
    case 'int':
      writeInt(writer, entry.value);
      break;
    case 'cell':
      writer.int(3, 8).ref(importCell(writing, entry));
      break;
    case 'slice':
      writer.int(4, 8).ref(importOrdinary(writing, entry));
      writer.int(entry.startBit, 10).int(entry.endBit, 10).int(entry.startRef, 3).int(entry.endRef, 3);
      break;
    case 'builder':
      writer.int(5, 8).ref(importOrdinary(writing, entry));
      break;
    case 'continuation':
      copyWindow(writer.int(6, 8), writing.store, entry);
      break;
    case 'tuple':
      yield* writeTuple(writing, writer, entry.items, nesting + 1);
      break;
  }
}

/** Imports a cell. The VM accepts only a bag of cells whose root has level 0. */
function importCell({ store }: Writing, { table, cell }: StackCell): number {
  if (table.levelMask(cell) !== 0) throw invalid('a cell of the stack has pruned branches without their Merkle proof');
  return store.import(table, cell);
}

/** Imports an ordinary cell. The VM loads the cell of a slice or builder as ordinary data. */
function importOrdinary(writing: Writing, entry: StackCell): number {
  if (entry.table.kind(entry.cell) !== 'ordinary') throw invalid('a slice or builder of the stack is an exotic cell');
  return importCell(writing, entry);
}

function writeInt(writer: BitWriter, value: bigint): void {
  if (value > INT_MAX || value < INT_MIN) {
    throw invalid('a number of the stack does not fit 257 bits', 257);
  }
  if (BigInt.asIntN(SHORT_BITS, value) === value) writer.int(1, 8).int(value, SHORT_BITS);
  else writer.int(0x0100, 15).int(value, 257);
}

/**
 * `vm_stk_tuple#07 len:(## 16) data:(VmTuple len)`. The last item is in a reference, after the earlier items. One earlier item is written as itself,
 * several are a cell of the same form.
 */
function* writeTuple(
  writing: Writing,
  writer: BitWriter,
  items: readonly StackEntry[],
  nesting: number,
): Generator<undefined, void> {
  // An argument, an item of a tuple and an element of a list each take a cell of depth.
  if (nesting > DEPTH_MAX) throw tooDeep();
  if (items.length > TUPLE_ITEMS_MAX) {
    throw invalid('a tuple has at most 255 items', TUPLE_ITEMS_MAX);
  }
  writer.int(7, 8).int(items.length, 16);
  let earlier: number | undefined;
  for (const [index, item] of items.entries()) {
    const last = yield* writeEntryCell(writing, item, nesting);
    if (index === items.length - 1) {
      if (earlier !== undefined) writer.ref(earlier);
      writer.ref(last);
    } else {
      earlier = earlier === undefined ? last : new BitWriter().ref(earlier).ref(last).finish(writing.store);
    }
  }
}

function invalid(detail: string, limit?: number, cause?: unknown): TvmError {
  return new TvmError('stack_invalid', { detail, ...(limit !== undefined && { limit }) }, cause);
}

function tooBig(): TvmError {
  return new TvmError('stack_too_big', {
    detail: `the stack has more than ${STACK_ENTRIES_MAX} entries`,
    limit: STACK_ENTRIES_MAX,
  });
}

function tooDeep(cause?: unknown): TvmError {
  return new TvmError(
    'stack_too_deep',
    { detail: `the stack is deeper than ${DEPTH_MAX} cells`, limit: DEPTH_MAX },
    cause,
  );
}
