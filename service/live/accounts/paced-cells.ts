import { parseBoc, type Boc } from '#service/decode/boc.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import type { TimeSlice } from '#service/runtime/time-slice.ts';

/*
 * Work on all cells of an account, which has up to 65,536. A cell takes some 2 to 10 µs, so the work pauses between cells. References point
 * to later cells of a bag. So the work begins with the last cell.
 */

/** Parses a bag and computes the hashes of all its cells. Rejects as `parseBoc` and `hashInSlices` do. */
export async function parseInSlices(boc: Buffer, slice: TimeSlice): Promise<Boc> {
  const bag = parseBoc(boc);
  await hashInSlices(bag, slice);
  return bag;
}

/** Computes the hashes of all cells of a bag. Rejects with DecodeError `hash_mismatch` for a wrong hash in a Merkle cell. */
export async function hashInSlices(bag: Boc, slice: TimeSlice): Promise<void> {
  for (let cell = bag.size - 1; cell >= 0; cell--) {
    const pause = slice.pause();
    if (pause !== undefined) await pause;
    bag.hashPrefix(cell);
  }
}

/** Copies all cells of a bag into the store. `CellStore.import` then only finds them. Rejects with DecodeError as `CellStore.import` throws. */
export async function importInSlices(store: CellStore, bag: Boc, slice: TimeSlice): Promise<void> {
  for (let cell = bag.size - 1; cell >= 0; cell--) {
    const pause = slice.pause();
    if (pause !== undefined) await pause;
    store.import(bag, cell);
  }
}
