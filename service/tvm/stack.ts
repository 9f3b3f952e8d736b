import { createCellStore } from '../decode/cell-store.ts';
import type { CellStore } from '../decode/cell-store.ts';
import type { CellTable } from '../decode/cell-table.ts';
import { BitWriter } from '../decode/bit-writer.ts';

/** Cell as a stack entry: its index in a table. */
export type StackCell = { readonly table: CellTable; readonly cell: number };

/** Part of a cell: bits `[startBit, endBit)` and references `[startRef, endRef)`. */
export type StackWindow = StackCell & {
  readonly startBit: number;
  readonly endBit: number;
  readonly startRef: number;
  readonly endRef: number;
};

/** Value of the VM. A list is nested pairs (head, tail) that end with null; the VM has no other lists. */
export type StackEntry =
  | { readonly type: 'null' }
  | { readonly type: 'nan' }
  /** -2^256 to 2^256 - 1. */
  | { readonly type: 'int'; readonly value: bigint }
  | ({ readonly type: 'cell' } & StackCell)
  | ({ readonly type: 'slice' } & StackWindow)
  /** Content of the builder so far, as a cell. */
  | ({ readonly type: 'builder' } & StackCell)
  /** `VmCont`, not parsed. */
  | ({ readonly type: 'continuation' } & StackWindow)
  | { readonly type: 'tuple'; readonly items: readonly StackEntry[] };

/**
 * Most entries of one stack, entries in tuples included, as in the reference client's library. A BoC can spell far more, because cells may be shared.
 */
export const STACK_ENTRIES_MAX = 8000;

/** The whole of a cell as a slice. */
export function sliceEntry({ table, cell }: StackCell): StackEntry {
  return { type: 'slice', ...wholeCell(table, cell) };
}

export function wholeCell(table: CellTable, cell: number): StackWindow {
  return { table, cell, startBit: 0, endBit: table.bitLength(cell), startRef: 0, endRef: table.refCount(cell) };
}

/** True if a slice has all of an ordinary cell. */
export function isWhole({ table, cell, startBit, endBit, startRef, endRef }: StackWindow): boolean {
  return (
    table.kind(cell) === 'ordinary' &&
    endBit - startBit === table.bitLength(cell) &&
    endRef - startRef === table.refCount(cell)
  );
}

/**
 * Returns the ordinary cell with exactly the rest of a slice. A slice of an exotic cell has its bits and references; the VM has no other kind of
 * slice.
 * @param store takes the cell, if it has to be made
 */
export function cellOfSlice(window: StackWindow, store: CellStore = createCellStore()): StackCell {
  const { table, cell } = window;
  if (isWhole(window)) return { table, cell };
  const writer = new BitWriter();
  copyWindow(writer, store, window);
  return { table: store, cell: writer.finish(store) };
}

/** Appends a window's bits and references. */
export function copyWindow(writer: BitWriter, store: CellStore, window: StackWindow): void {
  const { table, cell, startBit, endBit } = window;
  writer.copy(table.bytes, table.dataOffset(cell) * 8 + startBit, endBit - startBit);
  for (let at = window.startRef; at < window.endRef; at++) writer.ref(store.import(table, table.ref(cell, at)));
}
