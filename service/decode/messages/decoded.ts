import type { BocOptions } from '../boc-writer.ts';
import type { ContractSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';
import { openContractCell, writeBagText } from '../contract-data.ts';
import { ReadBudget } from '../read-budget.ts';

/** Value of a decoded body (service/v3/README.md#decoding). */
export type DecodedValue = string | boolean | DecodedObject;
export type DecodedObject = { [name: string]: DecodedValue };

/** Decoded body; `@type` names the constructor. */
export type DecodedBody = { '@type': string } & DecodedObject;

/** Cell of a field, or the rest of a cell. Its content is decoded after the constructor around it has been read whole. */
export class RawCell {
  readonly slice: ContractSlice;

  constructor(slice: ContractSlice) {
    this.slice = slice;
  }
}

/** Cell that no slice can open: a library or a Merkle cell. */
export class ExoticCell {
  readonly table: CellTable;
  readonly cell: number;

  constructor(table: CellTable, cell: number) {
    this.table = table;
    this.cell = cell;
  }
}

export type ReadValue = string | boolean | RawCell | ExoticCell | ReadObject;
export type ReadObject = { [name: string]: ReadValue };

/** Budget of one body, and the positions of cells in the value that is being read. */
export class BodyBudget extends ReadBudget {
  cells: CellPlace[] = [];
  /** True when a cell was not decoded because it is too deep. */
  isCut = false;
}

/** Field that is a cell. */
type CellPlace = { readonly of: ReadObject; readonly name: string };

/** Bytes of JSON of a field besides its name and value. */
const FIELD_BYTES = 6;

/** Bytes of JSON of an object and its type besides the type's name. */
const TYPE_BYTES = 12;

/** Returns the object of a constructor before its fields. Throws DecodeError `too_big`. */
export function typed(name: string, budget: BodyBudget): ReadObject {
  budget.write(TYPE_BYTES + name.length);
  return { '@type': name };
}

/** Sets a field, and records it if it is a cell. Throws DecodeError `too_big`. */
export function setValue(of: ReadObject, name: string, value: ReadValue, budget: BodyBudget): void {
  budget.write(FIELD_BYTES + name.length + (typeof value === 'string' ? value.length : 0));
  of[name] = value;
  if (value instanceof RawCell || value instanceof ExoticCell) budget.cells.push({ of, name });
}

/** Returns the rest of a slice as a value; the slice is then at its end. */
export function takeRest(slice: ContractSlice): RawCell {
  const rest = new RawCell(slice.clone());
  slice.skip(slice.remainingBits);
  while (slice.remainingRefs > 0) slice.ref();
  return rest;
}

/** Returns the next reference's cell as a value. */
export function takeRef(slice: ContractSlice): RawCell | ExoticCell {
  const { table, budget } = slice;
  const cell = slice.ref();
  const isOrdinary = table.kind(cell) === 'ordinary';
  return isOrdinary ? new RawCell(openContractCell({ table, cell }, budget)) : new ExoticCell(table, cell);
}

/** Returns the cell as base64 of a BoC. Throws DecodeError `too_big`. */
export function bocText(raw: RawCell | ExoticCell, budget: ReadBudget, options: BocOptions = {}): string {
  return writeBagText(raw instanceof ExoticCell ? raw : raw.slice, budget, options);
}
