import { createCellStore } from '../decode/cell-store.ts';
import type { CellStore } from '../decode/cell-store.ts';
import type { CellTable } from '../decode/cell-table.ts';
import { BitWriter } from '../decode/bit-writer.ts';

/** A cell as an entry of the stack carries it: its index in a table. */
export type StackCell = { readonly table: CellTable; readonly cell: number };

/** A part of a cell: bits `[startBit, endBit)` and references `[startRef, endRef)`. */
export type StackWindow = StackCell & {
  readonly startBit: number;
  readonly endBit: number;
  readonly startRef: number;
  readonly endRef: number;
};

/** A value of the VM. A list is nested pairs (head, tail) that end with null, as the VM has no other. */
export type StackEntry =
  | { readonly type: 'null' }
  | { readonly type: 'nan' }
  /** -2^256 to 2^256 - 1. */
  | { readonly type: 'int'; readonly value: bigint }
  | ({ readonly type: 'cell' } & StackCell)
  | ({ readonly type: 'slice' } & StackWindow)
  /** What was built so far, as a cell. */
  | ({ readonly type: 'builder' } & StackCell)
  /** `VmCont`, not looked into. */
  | ({ readonly type: 'continuation' } & StackWindow)
  | { readonly type: 'tuple'; readonly items: readonly StackEntry[] };

/**
 * Entries of one stack, those in tuples included: what the reference client's library takes. A BoC can spell far more, as
 * cells may be shared.
 */
export const STACK_ENTRIES_MAX = 8000;

/** The whole of a cell as a slice. */
export function sliceEntry({ table, cell }: StackCell): StackEntry {
  return { type: 'slice', ...wholeCell(table, cell) };
}

export function wholeCell(table: CellTable, cell: number): StackWindow {
  return { table, cell, startBit: 0, endBit: table.bitLength(cell), startRef: 0, endRef: table.refCount(cell) };
}

/**
 * The ordinary cell that holds exactly what is left in a slice. A slice of an exotic cell has its bits and references, as the VM
 * has no slice of another kind.
 */
export function cellOfSlice(window: StackWindow): StackCell {
  const { table, cell } = window;
  if (
    table.kind(cell) === 'ordinary' &&
    window.endBit - window.startBit === table.bitLength(cell) &&
    window.endRef - window.startRef === table.refCount(cell)
  ) {
    return { table, cell };
  }
  const store = createCellStore();
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
