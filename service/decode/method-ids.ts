import { CellSlice } from './cell-slice.ts';
import type { CellTable } from './cell-table.ts';
import { DecodeError } from './errors.ts';
import { keyUint, walkHashmap } from './hashmap.ts';

/** Most methods, above any code. It bounds the walk over a dictionary that shares cells. */
const METHODS_MAX = 4096;

/**
 * Returns the ids of the methods, unsigned and ascending: the keys of the dictionary after `SETCP0` and `DICTPUSHCONST`
 * (service/indexer/README.md#rows). Null for code of another shape, for example of a public library, whose cell only names it.
 */
export function methodIds(table: CellTable, code: number): number[] | null {
  if (table.kind(code) !== 'ordinary' || table.bitLength(code) < 40 || table.refCount(code) === 0) return null;
  const slice = new CellSlice(table, code);
  // The code is FF00, then 13 bits of opcode and the dictionary's bit: F4A4.
  if (slice.uint(16) !== 0xff00 || slice.uint(14) !== 0xf4a4 >> 2) return null;
  const bits = slice.uint(10);
  if (bits < 1 || bits > 32) return null;
  const ids: number[] = [];
  try {
    const isWhole = walkHashmap(table, slice.ref(), bits, (key) => {
      ids.push(keyUint(key, bits) | 0);
      return ids.length < METHODS_MAX;
    });
    return isWhole ? ids : null;
  } catch (error) {
    if (error instanceof DecodeError) return null;
    throw error;
  }
}
