import type { CellSlice } from '../cell-slice.ts';
import { DecodeError } from '../errors.ts';
import { takeStep } from './decoded.ts';
import type { Budget } from './decoded.ts';

/**
 * A text over a chain of cells, whole bytes in each and at most one reference to go on (TEP-64 snake). What is no UTF-8 becomes
 * the replacement character. Throws DecodeError `bad_value`, `exotic_cell`, `too_big`.
 */
export function readSnakeText(slice: CellSlice, budget: Budget): string {
  const parts: Buffer[] = [];
  for (let part = slice; ; part = part.refSlice()) {
    takeStep(budget);
    if ((part.remainingBits & 7) !== 0 || part.remainingRefs > 1) {
      throw new DecodeError('bad_value', 'A text has whole bytes and one reference.', { cell: part.cell });
    }
    parts.push(part.bytes(part.remainingBits >> 3));
    if (part.remainingRefs === 0) return Buffer.concat(parts).toString('utf8');
  }
}

/**
 * `text$_ chunks:(## 8) rest:(TextChunks chunks)`, `text_chunk$_ len:(## 8) data:(bits (len * 8)) next:^...`: the text of a DNS
 * record (TEP-81). Throws DecodeError.
 */
export function readChunkedText(slice: CellSlice, budget: Budget): string {
  const parts: Buffer[] = [];
  let part = slice;
  for (let left = slice.uint(8); left > 0; left--) {
    takeStep(budget);
    parts.push(part.bytes(part.uint(8)));
    if (left > 1) part = part.refSlice();
  }
  return Buffer.concat(parts).toString('utf8');
}
