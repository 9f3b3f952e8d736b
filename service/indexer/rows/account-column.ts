import type { CellSlice } from '#service/decode/cell-slice.ts';
import { ownBytes } from '#service/decode/own-bytes.ts';

/** Added to the workchain in columns of kind `address`. */
const WORKCHAIN_BIAS = 128;

/**
 * Reads a `MsgAddress` as a column of kind `address`: `addr_std`, its prefix rewritten by anycast. Null for other kinds
 * (service/indexer/README.md#rows: `addr_none`, `addr_extern`, `addr_var`).
 */
export function readAccountColumn(slice: CellSlice): Buffer | null {
  const tag = slice.uint(2);
  if (tag === 0) return null;
  if (tag === 1) {
    slice.skip(slice.uint(9));
    return null;
  }
  const depth = slice.bit() ? slice.uint(5) : 0;
  const prefix = depth === 0 ? undefined : slice.bits(depth);
  if (tag === 3) {
    const bits = slice.uint(9);
    slice.skip(32 + bits);
    return null;
  }
  const column = ownBytes(33);
  column[0] = slice.int(8) + WORKCHAIN_BIAS;
  slice.bytesTo(column, 1, 32);
  if (prefix !== undefined) rewritePrefix(column, prefix, depth);
  return column;
}

function rewritePrefix(column: Buffer, prefix: Buffer, depth: number): void {
  for (let bit = 0; bit < depth; bit++) {
    const mask = 128 >> (bit & 7);
    const at = 1 + (bit >> 3);
    column[at] = (column[at]! & ~mask) | (prefix[bit >> 3]! & mask);
  }
}
