import { writeBocText, writeRestText } from '../boc-writer.ts';
import type { BocOptions } from '../boc-writer.ts';
import { CellSlice } from '../cell-slice.ts';
import { DecodeError } from '../errors.ts';

/**
 * A value of a decoded body: numbers of any size as decimal text, bits as upper-case hex, an address as `workchain:HEX` or
 * `addr_none`, `addr_extern`, `addr_var`, a cell of unknown content as a base64 BoC, a dictionary as an object by key.
 */
export type DecodedValue = string | boolean | null | DecodedObject;
export type DecodedObject = { [name: string]: DecodedValue };

/** A decoded body; `@type` names the constructor. */
export type DecodedBody = { '@type': string } & DecodedObject;

/** A field's cell, or the rest of one, whose content is looked at when the constructor around it has been read whole. */
export class RawCell {
  readonly slice: CellSlice;

  constructor(slice: CellSlice) {
    this.slice = slice;
  }
}

/** A cell that no slice can open: a library or a Merkle cell. */
export class ExoticCell {
  readonly table: CellSlice['table'];
  readonly cell: number;

  constructor(table: CellSlice['table'], cell: number) {
    this.table = table;
    this.cell = cell;
  }
}

export type ReadValue = string | boolean | null | RawCell | ExoticCell | ReadObject;
export type ReadObject = { [name: string]: ReadValue };

/**
 * What one body may cost. Cells can be shared, so that a small bag may spell a tree without end; real bodies are far below:
 * 254 messages of a highload wallet with a jetton transfer in each take less than 9,000 steps.
 */
const STEPS_MAX = 20_000;
/** A message has at most 8192 cells and 2^21 bits, which is some 400 KiB in a BoC; fields share them. */
const BOC_BYTES_MAX = 1 << 20;
/** References that one value may be deep: a list of 255 actions is the longest real one. */
const REFS_DEEP_MAX = 300;

/** Counts down what a body may cost; `deep` is the current depth. */
export type Budget = {
  steps: number;
  bocBytes: number;
  deep: number;
  /** Where in the value that is being read cells stand. */
  cells: CellPlace[];
  /** Whether a cell was not looked into because it lies too deep. */
  isCut: boolean;
};

/** A field, or an entry of a dictionary, that is a cell. */
export type CellPlace = { of: ReadObject; readonly name: string };

/** A full budget. */
export function newBudget(): Budget {
  return { steps: STEPS_MAX, bocBytes: BOC_BYTES_MAX, deep: 0, cells: [], isCut: false };
}

/** Sets a field, and notes it where it is a cell. */
export function setValue(of: ReadObject, name: string, value: ReadValue, { cells }: Budget): void {
  of[name] = value;
  if (value instanceof RawCell || value instanceof ExoticCell) cells.push({ of, name });
}

/** True when a failure is that the budget is used up, so that trying another constructor is of no use. */
export function isExhausted(budget: Budget): boolean {
  return budget.steps <= 0 || budget.bocBytes <= 0;
}

function exhausted(limit: number): DecodeError {
  return new DecodeError('too_big', 'The body takes too much work to decode.', { limit });
}

/** Counts one field, cell or entry. Throws DecodeError `too_big`. */
export function takeStep(budget: Budget): void {
  if (--budget.steps <= 0) throw exhausted(STEPS_MAX);
}

/** Opens a reference for `read` and counts how deep that is. Throws DecodeError `too_big`. */
export function insideRef<Value>(budget: Budget, read: () => Value): Value {
  if (++budget.deep > REFS_DEEP_MAX) throw exhausted(REFS_DEEP_MAX);
  const value = read();
  budget.deep--;
  return value;
}

/** The rest of a slice as a value; the slice is then at its end. */
export function takeRest(slice: CellSlice): RawCell {
  const rest = new RawCell(slice.clone());
  slice.skip(slice.remainingBits);
  while (slice.remainingRefs > 0) slice.ref();
  return rest;
}

/** The next reference's cell as a value. */
export function takeRef(slice: CellSlice): RawCell | ExoticCell {
  const { table } = slice;
  const cell = slice.ref();
  return table.kind(cell) === 'ordinary' ? new RawCell(new CellSlice(table, cell)) : new ExoticCell(table, cell);
}

const BOC_OPTIONS: BocOptions = { crc32c: true };

/** The cell as base64 of a BoC with CRC-32C. Throws DecodeError `too_big`. */
export function bocText(raw: RawCell | ExoticCell, budget: Budget, options: BocOptions = BOC_OPTIONS): string {
  const text =
    raw instanceof ExoticCell ? writeBocText(raw.table, [raw.cell], options) : writeRestText(raw.slice, options);
  budget.bocBytes -= Buffer.byteLength(text, 'base64');
  if (budget.bocBytes <= 0) throw exhausted(BOC_BYTES_MAX);
  return text;
}
