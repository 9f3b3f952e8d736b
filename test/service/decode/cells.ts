import { beginCell } from '@ton/core';
import type { Cell } from '@ton/core';
import * as fc from 'fast-check';

/** Bits of any length up to a cell's, as a string of 0 and 1. */
export const bitText = fc
  .array(fc.boolean(), { maxLength: 1023, size: 'max' })
  .map((bits) => bits.map((bit) => (bit ? '1' : '0')).join(''));

/** Trees of ordinary cells with shared branches. Each cell takes its references from earlier cells. */
export const cellTree: fc.Arbitrary<Cell> = fc
  .array(fc.record({ bits: bitText, refs: fc.array(fc.nat(), { maxLength: 4 }) }), { minLength: 1, maxLength: 24 })
  .map((plans) => {
    const cells: Cell[] = [];
    for (const { bits, refs } of plans) {
      const builder = beginCell();
      for (const bit of bits) builder.storeBit(bit === '1');
      if (cells.length > 0) for (const ref of refs) builder.storeRef(cells[ref % cells.length]!);
      cells.push(builder.endCell());
    }
    return cells.at(-1)!;
  });
