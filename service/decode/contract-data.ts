import { writeBoc, writeBocText, writeRestText } from './boc-writer.ts';
import type { BocOptions } from './boc-writer.ts';
import { CellSlice } from './cell-slice.ts';
import type { ContractSlice } from './cell-slice.ts';
import type { CellTable } from './cell-table.ts';
import { DecodeError } from './errors.ts';
import { lookupHashmap, walkHashmap } from './hashmap.ts';
import { ReadBudget } from './read-budget.ts';

// Readers of cells that a contract or a caller made. Each takes from a budget, and no other way into such cells exists.

/** Cell of such data. */
export type ContractCell = { readonly table: CellTable; readonly cell: number };

/** Opens a cell of a contract's data. Reads from it take from the budget. Throws DecodeError `exotic_cell`, `pruned_branch`, `too_big`. */
export function openContractCell({ table, cell }: ContractCell, budget: ReadBudget = new ReadBudget()): ContractSlice {
  budget.step();
  return new CellSlice(table, cell, budget) as ContractSlice;
}

/** Steps of an unreadable value: an error costs as much as some twenty references. */
const FAILED_STEPS = 20;

/**
 * Reads one of many values; undefined when `read` refuses it. Throws DecodeError `too_big` when the budget is spent, because the next value could not
 * be read either.
 */
export function attempt<Value>(budget: ReadBudget, read: () => Value): Value | undefined {
  const { depth } = budget;
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DecodeError) || budget.isSpent) throw error;
    budget.depth = depth;
    budget.step(FAILED_STEPS);
    return undefined;
  }
}

/** Visits the entries of a dictionary (see `walkHashmap`); undefined is an empty one. Each entry is a step besides its references. */
export function walkDictionary(
  root: ContractSlice | undefined,
  bits: number,
  visit: (key: Buffer, value: ContractSlice) => boolean | void,
): boolean {
  if (root === undefined) return true;
  return walkHashmap(root.table, root, bits, (key, value) => {
    root.budget.step();
    return visit(key, value);
  });
}

/** Returns the value under a key of a dictionary (see `lookupHashmap`); undefined is an empty one. */
export function lookUpEntry(root: ContractSlice | undefined, bits: number, key: Uint8Array): ContractSlice | undefined {
  if (root === undefined) return undefined;
  root.budget.step();
  return lookupHashmap(root.table, root, bits, key);
}

export type SnakeOptions = {
  /** Most bytes of the text. */
  readonly bytesMax?: number;
  /** True to cut a longer text before the cell that exceeds the bound, instead of refusing it. */
  readonly isCut?: boolean;
  /** True to refuse a cell with a second reference; else the second one is skipped. */
  readonly isStrict?: boolean;
};

/**
 * Reads the whole bytes of a cell, then of its first reference, and so on (TEP-64 snake). Undefined when a cell is not of whole bytes. Throws
 * DecodeError `exotic_cell`, `too_big`.
 */
export function readSnake(
  start: ContractSlice,
  { bytesMax = Infinity, isCut = false, isStrict = false }: SnakeOptions = {},
): Buffer | undefined {
  const parts: Buffer[] = [];
  let length = 0;
  for (let slice = start; ; slice = slice.refSlice()) {
    if (slice.remainingBits % 8 !== 0 || (isStrict && slice.remainingRefs > 1)) return undefined;
    const bytes = slice.remainingBits / 8;
    slice.budget.read(bytes);
    length += bytes;
    if (length > bytesMax) return isCut ? Buffer.concat(parts) : undefined;
    parts.push(slice.bytes(bytes));
    if (slice.remainingRefs === 0) return Buffer.concat(parts);
  }
}

/**
 * `text$_ chunks:(## 8) rest:(TextChunks chunks)`, `text_chunk$_ len:(## 8) data:(bits (len * 8)) next:^...`: the text of a DNS
 * record (TEP-81). Throws DecodeError.
 */
export function readChunkedText(slice: ContractSlice): Buffer {
  const { budget } = slice;
  const parts: Buffer[] = [];
  let part = slice;
  for (let left = slice.uint(8); left > 0; left--) {
    budget.step();
    const bytes = part.uint(8);
    budget.read(bytes);
    parts.push(part.bytes(bytes));
    if (left > 1) part = part.refSlice();
  }
  return Buffer.concat(parts);
}

/** Text that JSON writes without escapes, in one byte a character. */
const PLAIN_TEXT = /^[ !#-[\]-~]*$/;

/** Takes the JSON size of a text from the budget; returns the text. Throws DecodeError `too_big`. */
export function takeText(budget: ReadBudget, text: string): string {
  budget.write(PLAIN_TEXT.test(text) ? text.length + 2 : Buffer.byteLength(JSON.stringify(text)));
  return text;
}

const BAG_OPTIONS: BocOptions = { crc32c: true };

/** Returns the BoC with CRC-32C of a cell of any kind. Throws DecodeError `too_big` when the bag exceeds the budget. */
export function writeBag({ table, cell }: ContractCell, budget: ReadBudget = new ReadBudget()): Buffer {
  return writeBoc(table, [cell], { ...BAG_OPTIONS, budget });
}

/** Returns base64 of the BoC of a cell, or of the rest of a slice. Throws DecodeError `too_big`. */
export function writeBagText(
  of: ContractCell | ContractSlice,
  budget: ReadBudget,
  options: BocOptions = BAG_OPTIONS,
): string {
  const paid = { ...options, budget };
  const text = of instanceof CellSlice ? writeRestText(of, paid) : writeBocText(of.table, [of.cell], paid);
  budget.write(text.length);
  return text;
}
