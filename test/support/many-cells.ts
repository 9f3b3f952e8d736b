import { beginCell, type Cell } from '@ton/core';

import { BitWriter } from '#service/decode/bit-writer.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { createCellStore } from '#service/decode/cell-store.ts';

/** A bag of cells with one root, a tree. The tree has so many leaves, and a third as many cells above the leaves. */
export function bagWithLeaves(leaves: number): Buffer {
  const store = createCellStore();
  let level = Array.from({ length: leaves }, (_, at) => new BitWriter().uint(at, 32).finish(store));
  while (level.length > 1) {
    const above: number[] = [];
    for (let at = 0; at < level.length; at += 4) {
      const writer = new BitWriter().uint(at, 32).uint(level.length, 32);
      for (const cell of level.slice(at, at + 4)) writer.ref(cell);
      above.push(writer.finish(store));
    }
    level = above;
  }
  return writeBoc(store, [level[0]!]);
}

/** A tree of some `cells` different cells of 1,000 bits. A message takes 2,090 of them at most. */
export function largeCell(cells: number): Cell {
  let next = 0;
  const cellOver = (below: readonly Cell[]): Cell => {
    const builder = beginCell().storeUint(next++, 32).storeBuffer(Buffer.alloc(121, 7));
    for (const cell of below) builder.storeRef(cell);
    return builder.endCell();
  };
  let level = Array.from({ length: Math.ceil((cells * 3) / 4) }, () => cellOver([]));
  while (level.length > 1) {
    const above: Cell[] = [];
    for (let at = 0; at < level.length; at += 4) above.push(cellOver(level.slice(at, at + 4)));
    level = above;
  }
  return level[0]!;
}
