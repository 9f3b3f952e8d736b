import { hashRepresentation, representation } from './cell-hash.ts';
import type { CellSlice } from './cell-slice.ts';
import type { CellTable } from './cell-table.ts';
import { DecodeError } from './errors.ts';
import { ownBytes } from './own-bytes.ts';

/** Hash and depth that a parent needs of a cell without pruned branches. */
export type CellDigest = {
  /** 32 bytes. */
  readonly hash: Buffer;
  readonly depth: number;
};

const EMPTY_CELL: CellDigest = {
  hash: Buffer.from('96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7', 'hex'),
  depth: 0,
};

/** Digests a cell of the table. Throws DecodeError `pruned_branch`. */
export function digestCell(table: CellTable, cell: number): CellDigest {
  if (table.levelMask(cell) === 0) return { hash: table.hash(cell), depth: table.depth(cell) };
  throw new DecodeError('pruned_branch', 'A part of the cell is pruned.', { cell });
}

/** Digests the cell made of the rest of a slice; the slice is used up. Throws DecodeError `pruned_branch`. */
export function digestRest(slice: CellSlice): CellDigest {
  const bitLength = slice.remainingBits;
  const count = slice.remainingRefs;
  if (bitLength === 0 && count === 0) return EMPTY_CELL;
  const children: CellDigest[] = [];
  for (let position = 0; position < count; position++) children.push(digestCell(slice.table, slice.ref()));
  return digestOrdinary(slice.bits(bitLength), bitLength, children);
}

/** Digests the ordinary cell with these bits, high bit first, and these references. */
export function digestOrdinary(data: Uint8Array, bitLength: number, children: readonly CellDigest[]): CellDigest {
  const length = (bitLength + 7) >> 3;
  const out = representation;
  out[0] = children.length;
  out[1] = (bitLength >> 3) + length;
  for (let index = 0; index < length; index++) out[2 + index] = data[index]!;
  const rest = bitLength & 7;
  if (rest !== 0) {
    // The completion tag is a 1 after the last bit, then zeros.
    const tag = 128 >> rest;
    out[1 + length] = (out[1 + length]! & -tag) | tag;
  }
  let at = 2 + length;
  let depth = 0;
  for (const child of children) {
    at = out.writeUInt16BE(child.depth, at);
    if (child.depth >= depth) depth = child.depth + 1;
  }
  for (const child of children) at += child.hash.copy(out, at);
  const hash = ownBytes(32);
  hashRepresentation(at, hash, 0);
  return { hash, depth };
}
