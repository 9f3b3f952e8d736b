import { beginCell, type Builder, type Cell } from '@ton/core';
import * as fc from 'fast-check';

/**
 * A dictionary of 2^levels entries of which each level is one cell: both sides of every fork are the same cell.
 * @param bits of a key, at least `levels`; the bits below the forks are zeros
 */
export function sharedDictionary(bits: number, levels: number, value: Builder): Cell {
  let node = label(bits - levels, bits - levels)
    .storeBuilder(value)
    .endCell();
  for (let level = levels - 1; level >= 0; level--)
    node = label(0, bits - level)
      .storeRef(node)
      .storeRef(node)
      .endCell();
  return node;
}

/** The same with keys that count from 0 to 2^levels - 1, as chunks of a text have them: the bits above the forks are zeros. */
export function countedDictionary(bits: number, levels: number, value: Builder): Cell {
  let node = label(0, 0).storeBuilder(value).endCell();
  for (let level = levels - 1; level >= 0; level--) {
    const zeros = level === 0 ? bits - levels : 0;
    node = label(zeros, zeros + levels - level)
      .storeRef(node)
      .storeRef(node)
      .endCell();
  }
  return node;
}

/** `hml_same$11` of zeros. */
function label(length: number, most: number): Builder {
  return beginCell()
    .storeUint(6, 3)
    .storeUint(length, 32 - Math.clz32(most));
}

/** Cells in levels, each cell referred to by up to four cells of the level above; the root spells a tree without end. */
export const sharedGraph: fc.Arbitrary<Cell> = fc
  .record({
    levels: fc.integer({ min: 1, max: 256 }),
    seeds: fc.array(fc.tuple(fc.uint8Array({ maxLength: 60 }), fc.integer({ min: 0, max: 4 })), {
      minLength: 1,
      maxLength: 12,
    }),
    head: fc.constantFrom('', '00', '01', '0f8a7ea5', '1eda', '9fd3', 'f1381e5b', '00000000', 'c0', 'a0'),
  })
  .map(({ levels, seeds, head }) => {
    let below = [beginCell().storeUint(1, 8).endCell()];
    for (let level = 0; level < levels; level++) {
      below = [0, 1].map((side) => {
        const [bytes, refs] = seeds[(level * 2 + side) % seeds.length]!;
        const builder = beginCell().storeBuffer(Buffer.from(bytes));
        for (let at = 0; at < refs; at++) builder.storeRef(below[(at + side) % below.length]!);
        return builder.endCell();
      });
    }
    return beginCell().storeBuffer(Buffer.from(head, 'hex')).storeRef(below[0]!).storeRef(below[1]!).endCell();
  });
