import { parseBoc, parseBocInSteps, type Boc, type BocLimits } from '#service/decode/boc.ts';
import { writeBoc, writeBocInSteps, type BocOptions } from '#service/decode/boc-writer.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import { createPlainBocWriter, writePlainBocInSteps } from '#service/decode/plain-boc.ts';
import type { TimeSlice } from '#service/runtime/time-slice.ts';
import { openShardAccount, type OpenedShardAccount } from '#service/tvm/shard-account.ts';

/*
 * Work on all cells of an account, which has up to 65,536. A cell takes some 2 to 10 µs, so the work pauses between cells. References point
 * to later cells of a bag. So the work begins with the last cell.
 */

/** Parses a bag and computes the hashes of all its cells. Rejects as `parseBoc` and `hashInSlices` do. */
export async function parseInSlices(boc: Buffer, slice: TimeSlice): Promise<Boc> {
  const bag = await readInSlices(boc, {}, slice);
  await hashInSlices(bag, slice);
  return bag;
}

/** Bytes of a bag that is read at once, in less than a millisecond. A cell has at least two. */
const BYTES_AT_ONCE = 8192;

/** Reads the bag of `parseBoc`, without the hashes of its cells. Rejects as `parseBoc` throws. */
export async function readInSlices(boc: Buffer, limits: Partial<BocLimits>, slice: TimeSlice): Promise<Boc> {
  // A pause for a small bag delays its request without use for others.
  if (boc.length <= BYTES_AT_ONCE) return parseBoc(boc, limits);
  return stepInSlices(parseBocInSteps(boc, limits), slice);
}

/** Opens the account of `openShardAccount`. Rejects as `openShardAccount` throws. */
export async function openInSlices(boc: Buffer, slice: TimeSlice): Promise<OpenedShardAccount> {
  return openShardAccount(boc, await readInSlices(boc, {}, slice));
}

/** Computes the hashes of all cells of a bag. Rejects with DecodeError `hash_mismatch` for a wrong hash in a Merkle cell. */
export async function hashInSlices(bag: CellTable, slice: TimeSlice): Promise<void> {
  for (let cell = bag.size - 1; cell >= 0; cell--) {
    const pause = slice.pause();
    if (pause !== undefined) await pause;
    bag.hashPrefix(cell);
  }
}

/** Copies all cells of a bag into the store. `CellStore.import` then only finds them. Rejects with DecodeError as `CellStore.import` throws. */
export async function importInSlices(store: CellStore, bag: CellTable, slice: TimeSlice): Promise<void> {
  for (let cell = bag.size - 1; cell >= 0; cell--) {
    const pause = slice.pause();
    if (pause !== undefined) await pause;
    store.import(bag, cell);
  }
}

/** Cells that are written at once, in a millisecond. */
const CELLS_AT_ONCE = 1024;

/** Writes the bag of `writeBoc`. The hashes of the cells are computed before, by `hashInSlices`. Rejects with DecodeError as `writeBoc` throws. */
export async function writeInSlices(
  { table, cell }: { readonly table: CellTable; readonly cell: number },
  options: BocOptions,
  slice: TimeSlice,
): Promise<Buffer> {
  // Steps need arrays of their own, which cost more than a small bag.
  if (table.size <= CELLS_AT_ONCE) return writeBoc(table, [cell], options);
  return stepInSlices(writeBocInSteps(table, cell, options), slice);
}

/** Writes a bag as `createPlainBocWriter` does. */
export async function writePlainInSlices(table: CellTable, root: number, slice: TimeSlice): Promise<Buffer> {
  if (table.size <= CELLS_AT_ONCE) return createPlainBocWriter(table)(root);
  return stepInSlices(writePlainBocInSteps(table, root), slice);
}

/** Does work that is written in steps. */
export async function stepInSlices<T>(steps: Generator<undefined, T>, slice: TimeSlice): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const pause = slice.pause();
    if (pause !== undefined) await pause;
  }
}
