import { BagCells } from './bag-cells.ts';
import { collectAll, collectRest, enter, startWalk, walkOn } from './bag-walk.ts';
import { BOC_MAGIC } from './boc.ts';
import { kindCode, maskCount } from './cell-table.ts';
import { CellSlice } from './cell-slice.ts';
import type { CellTable } from './cell-table.ts';
import { crc32c } from './crc32c.ts';
import type { ReadBudget } from './read-budget.ts';

/** Optional parts of a bag, with the bits of the node's `mode` in brackets. */
export type BocOptions = {
  /** A CRC-32C at the end (2). */
  readonly crc32c?: boolean;
  /** Ends of the cells before the cells (1). */
  readonly index?: boolean;
  /** A flag in the index for each cell with more than one reference to it (16); needs `index`. */
  readonly cacheBits?: boolean;
  /** Hashes and depths stored with the cells that divide the bag into parts of some 64 cells (8). */
  readonly hashes?: boolean;
  /** Cells in the order of a walk down the tree, as in many libraries; else as in the node. */
  readonly depthFirst?: boolean;
  /** Budget for cells and bytes of a bag whose size a contract or a caller chose. */
  readonly budget?: ReadBudget;
};

/** Options of the node's block files (mode 31). */
export const BLOCK_FILE_OPTIONS: BocOptions = { crc32c: true, index: true, cacheBits: true, hashes: true };

/**
 * Writes a bag of cells, byte for byte as the node's `std_boc_serialize` does. Cells of equal hash are written once.
 * Throws DecodeError `too_big` when the tree is deeper than 1024 cells or the budget is spent.
 */
export function writeBoc(table: CellTable, roots: readonly number[], options: BocOptions = {}): Buffer {
  return write(table, roots, options, (bytes) => Buffer.allocUnsafeSlow(bytes));
}

/** Cells of a step. */
const STEP_CELLS = 1024;

/**
 * Writes the bag of `writeBoc` in steps, so that a caller may do other work between two steps of a large bag. A step takes a millisecond,
 * and some ten at the ends of the largest bags. The hashes of the cells are computed before.
 */
export function* writeBocInSteps(
  table: CellTable,
  root: number,
  options: BocOptions = {},
): Generator<undefined, Buffer> {
  const bag = new BagCells();
  const walk = startWalk(table, bag, options.budget);
  const tops = [enter(walk, root)];
  while (!walkOn(walk, STEP_CELLS)) yield;
  weigh(bag);
  yield;
  arrangeBag(bag, tops, options);
  yield;
  const whole = { table, bag, tops, rest: undefined };
  const layout = layOut(whole, options);
  const out = Buffer.allocUnsafeSlow(layout.bytes);
  let at = writeHead(out, whole, layout, options);
  for (let index = 0; index < bag.count; index += STEP_CELLS) {
    at = writeCells(out, at, whole, { from: index, to: index + STEP_CELLS }, layout, options);
    yield;
  }
  return writeEnd(out, at, options);
}

/** Returns the bag of `writeBoc` in base64, without bytes to be garbage-collected. */
export function writeBocText(table: CellTable, roots: readonly number[], options: BocOptions = {}): string {
  return writeText(table, roots, options);
}

/** Returns in base64 the bag of one cell, made of the rest of the slice. The slice does not move. Hashes are not stored. */
export function writeRestText(slice: CellSlice, options: Omit<BocOptions, 'hashes'> = {}): string {
  return writeText(slice.table, slice, options);
}

function writeText(table: CellTable, roots: readonly number[] | CellSlice, options: BocOptions): string {
  let length = 0;
  const bytes = write(table, roots, options, (wanted) => {
    length = wanted;
    return wanted <= scratch.length ? scratch : Buffer.allocUnsafeSlow(wanted);
  });
  return bytes.toString('base64', 0, length);
}

/** Buffer from which texts are made; larger bags are rare. */
const scratch = Buffer.allocUnsafeSlow(65_536);

type Allocate = (bytes: number) => Buffer;

function write(
  table: CellTable,
  roots: readonly number[] | CellSlice,
  options: BocOptions,
  allocate: Allocate,
): Buffer {
  const bag = sharedBag;
  bag.clear();
  try {
    const rest = roots instanceof CellSlice ? roots : undefined;
    const { budget } = options;
    const tops = roots instanceof CellSlice ? [collectRest(bag, roots, budget)] : collectAll(table, bag, roots, budget);
    weigh(bag);
    arrangeBag(bag, tops, options);
    return serialize({ table, bag, tops, rest }, options, allocate);
  } finally {
    if (bag.capacity > SHARED_CELLS_MAX) sharedBag = new BagCells();
  }
}

/** Bag for reuse, because writing is synchronous. */
let sharedBag = new BagCells();

/** Most cells of a bag for reuse, some 50 bytes each. */
const SHARED_CELLS_MAX = 32_768;

/** Most cells of a part of the bag (`max_cell_whs`). The top of a part may get stored hashes. */
const PART_CELLS_MAX = 64;

/**
 * Divides the bag into parts. From the top down, the children share the weight that a part may have. Light children get what they need, and heavy
 * ones are cut. Then, upwards, a cell whose children weigh more than its share becomes the top of a part.
 */
function weigh(bag: BagCells): void {
  const { count, upward, refs, refCount, weight } = bag;
  for (let at = count - 1; at >= 0; at--) shareWeight(bag, upward[at]!);
  for (let at = 0; at < count; at++) {
    const number = upward[at]!;
    let sum = 1;
    for (let position = 0; position < refCount[number]!; position++) sum += weight[refs[number * 4 + position]!]!;
    weight[number] = sum <= weight[number]! ? sum : 0;
  }
}

function shareWeight({ refs, refCount, weight }: BagCells, number: number): void {
  const count = refCount[number]!;
  let left = PART_CELLS_MAX - 1;
  let heavy: number[] | undefined;
  for (let position = 0; position < count; position++) {
    const child = refs[number * 4 + position]!;
    if (weight[child]! <= Math.floor((PART_CELLS_MAX - 1 + position) / count)) left -= weight[child]!;
    else (heavy ??= []).push(child);
  }
  if (heavy === undefined) return;
  for (const child of heavy) weight[child] = Math.min(weight[child]!, Math.floor(left++ / heavy.length));
}

/** Progress of a cell; it begins as `new`. */
const STATE = { new: 0, previsited: 1, visited: 2, allocated: 3 } as const;

function arrangeBag(bag: BagCells, tops: readonly number[], { depthFirst }: BocOptions): void {
  if (depthFirst === true) arrangeDepthFirst(bag, tops);
  else arrange(bag, tops);
}

/** Puts each cell before the cells below it, and all cells below a reference before the next reference. */
function arrangeDepthFirst(bag: BagCells, tops: readonly number[]): void {
  const { refs, refCount, state, place } = bag;
  let next = 0;
  const visit = (number: number): void => {
    if (state[number] === STATE.allocated) return;
    state[number] = STATE.allocated;
    for (let at = number * 4 + refCount[number]! - 1; at >= number * 4; at--) visit(refs[at]!);
    place[number] = next++;
  };
  for (const top of tops.toReversed()) visit(top);
}

/** Arranges cells like the node: parts stay together, and the children of a cell are next to each other. */
function arrange(bag: BagCells, tops: readonly number[]): void {
  const { refs, refCount, weight, state, place } = bag;
  let next = 0;
  const allocate = (number: number): void => {
    if (state[number] === STATE.allocated) return;
    state[number] = STATE.allocated;
    place[number] = next++;
  };
  // Finds tops of parts below and visits them.
  const previsit = (number: number): void => {
    if (state[number] !== STATE.new) return;
    for (let at = number * 4 + refCount[number]! - 1; at >= number * 4; at--) {
      if (weight[refs[at]!] === 0) visit(refs[at]!);
      else previsit(refs[at]!);
    }
    state[number] = STATE.previsited;
  };
  const visit = (number: number): void => {
    if (state[number]! >= STATE.visited) return;
    if (weight[number] === 0) previsit(number);
    const end = number * 4 + refCount[number]! - 1;
    for (let at = end; at >= number * 4; at--) visit(refs[at]!);
    for (let at = end; at >= number * 4; at--) allocate(refs[at]!);
    state[number] = STATE.visited;
  };
  for (const top of tops) {
    previsit(top);
    visit(top);
  }
  tops.forEach(allocate);
}

function bytesFor(value: number): number {
  let bytes = 0;
  while (value >= 256 ** bytes) bytes++;
  return bytes;
}

/** Writes an unsigned number, high bytes first; returns the offset after it. */
function writeUint(out: Buffer, value: number, at: number, bytes: number): number {
  if (bytes > 2) return out.writeUIntBE(value, at, bytes);
  if (bytes === 2) out[at] = value >> 8;
  out[at + bytes - 1] = value;
  return at + bytes;
}

type Collected = {
  readonly table: CellTable;
  readonly bag: BagCells;
  readonly tops: readonly number[];
  /** Data of the first cell, instead of its own. */
  readonly rest: CellSlice | undefined;
};

function serialize(collected: Collected, options: BocOptions, allocate: Allocate): Buffer {
  const layout = layOut(collected, options);
  const out = allocate(layout.bytes);
  const at = writeHead(out, collected, layout, options);
  const all = { from: 0, to: collected.bag.count };
  return writeEnd(out, writeCells(out, at, collected, all, layout, options), options);
}

/** Sizes of a bag in bytes. */
type Layout = {
  readonly refBytes: number;
  readonly offsetBytes: number;
  readonly dataBytes: number;
  /** The whole bag. */
  readonly bytes: number;
};

/** Puts the cells in order and computes the sizes. Takes the bytes from the budget. */
function layOut(collected: Collected, options: BocOptions): Layout {
  const { bag, tops } = collected;
  const { count, place, order } = bag;
  const refBytes = bytesFor(count);
  let dataBytes = 0;
  for (let number = 0; number < count; number++) {
    order[count - 1 - place[number]!] = number;
    dataBytes += cellBytes(collected, number, refBytes, options);
  }
  const offsetBytes = bytesFor(options.cacheBits === true ? dataBytes * 2 : dataBytes);
  const head = 6 + refBytes * (3 + tops.length) + offsetBytes;
  const indexBytes = options.index === true ? count * offsetBytes : 0;
  const bytes = head + indexBytes + dataBytes + (options.crc32c === true ? 4 : 0);
  options.budget?.read(bytes);
  return { refBytes, offsetBytes, dataBytes, bytes };
}

function cellBytes({ table, bag, rest }: Collected, number: number, refBytes: number, options: BocOptions): number {
  const cell = bag.cell[number]!;
  const hashes = storesHashes(bag, number, options) ? 34 * (maskCount(table.levelMask(cell)) + 1) : 0;
  const bits = number === 0 && rest !== undefined ? rest.remainingBits : table.bitLength(cell);
  return 2 + hashes + ((bits + 7) >> 3) + bag.refCount[number]! * refBytes;
}

/** Writes everything before the cells. Returns the offset after it. */
function writeHead(
  out: Buffer,
  collected: Collected,
  { refBytes, offsetBytes, dataBytes }: Layout,
  options: BocOptions,
): number {
  const { bag, tops } = collected;
  const { count, place, order, shared } = bag;
  out.writeUInt32BE(BOC_MAGIC.generic);
  out[4] =
    (options.index === true ? 0x80 : 0) |
    (options.crc32c === true ? 0x40 : 0) |
    (options.cacheBits === true ? 0x20 : 0) |
    refBytes;
  out[5] = offsetBytes;
  let at = writeUint(out, count, 6, refBytes);
  at = writeUint(out, tops.length, at, refBytes);
  at = writeUint(out, 0, at, refBytes);
  at = writeUint(out, dataBytes, at, offsetBytes);
  for (const top of tops) at = writeUint(out, count - 1 - place[top]!, at, refBytes);
  if (options.index !== true) return at;
  let end = 0;
  for (let index = 0; index < count; index++) {
    const number = order[index]!;
    end += cellBytes(collected, number, refBytes, options);
    at = writeUint(out, options.cacheBits === true ? end * 2 + shared[number]! : end, at, offsetBytes);
  }
  return at;
}

/** Writes the cells of some places of the order. Returns the offset after them. */
function writeCells(
  out: Buffer,
  start: number,
  { table, bag, rest }: Collected,
  { from, to }: { readonly from: number; readonly to: number },
  { refBytes }: Layout,
  options: BocOptions,
): number {
  const { count, cell, refs, refCount, place, order } = bag;
  const last = Math.min(to, count);
  let at = start;
  for (let index = from; index < last; index++) {
    const number = order[index]!;
    at =
      number === 0 && rest !== undefined
        ? writeRest(table, bag, rest, out, at)
        : writeCell(table, cell[number]!, refCount[number]!, storesHashes(bag, number, options), out, at);
    const end = number * 4 + refCount[number]!;
    for (let ref = number * 4; ref < end; ref++) at = writeUint(out, count - 1 - place[refs[ref]!]!, at, refBytes);
  }
  return at;
}

function writeEnd(out: Buffer, at: number, { crc32c: hasCrc }: BocOptions): Buffer {
  if (hasCrc === true) out.writeUInt32LE(crc32c(out, 0, at), at);
  return out;
}

function storesHashes({ weight }: BagCells, number: number, options: BocOptions): boolean {
  return options.hashes === true && weight[number] === 0;
}

/** Writes the first cell with the rest of its data. Returns the offset after it. */
function writeRest(table: CellTable, bag: BagCells, rest: CellSlice, out: Buffer, at: number): number {
  const refs = bag.refCount[0]!;
  let mask = 0;
  for (let position = 0; position < refs; position++) mask |= table.levelMask(bag.cell[bag.refs[position]!]!);
  const bits = rest.remainingBits;
  const [bytes, left] = [bits >> 3, bits & 7];
  out[at] = refs + 32 * mask;
  out[at + 1] = bytes + ((bits + 7) >> 3);
  const slice = rest.clone();
  slice.bytesTo(out, at + 2, bytes);
  if (left === 0) return at + 2 + bytes;
  // The last byte is completed by a 1 after the last bit, then zeros.
  out[at + 2 + bytes] = (slice.uint(left) << (8 - left)) | (128 >> left);
  return at + 3 + bytes;
}

/** Writes descriptors, optional hashes and depths of all significant levels, and data. Returns the offset after them. */
function writeCell(table: CellTable, cell: number, refs: number, hashes: boolean, out: Buffer, start: number): number {
  const bits = table.bitLength(cell);
  const mask = table.levelMask(cell);
  let at = start;
  out[at++] = refs + (kindCode(table.kind(cell)) === 0 ? 0 : 8) + (hashes ? 16 : 0) + 32 * mask;
  out[at++] = (bits >> 3) + ((bits + 7) >> 3);
  if (hashes) {
    const levels = [0, 1, 2, 3].filter((level) => level === 0 || (mask & (1 << (level - 1))) !== 0);
    for (const level of levels) at += table.hash(cell, level).copy(out, at);
    for (const level of levels) at = out.writeUInt16BE(table.depth(cell, level), at);
  }
  const offset = table.dataOffset(cell);
  const bytes = table.bytes;
  const length = (bits + 7) >> 3;
  // Few bytes are copied individually, because a call costs more.
  if (length > 24) bytes.copy(out, at, offset, offset + length);
  else for (let index = 0; index < length; index++) out[at + index] = bytes[offset + index]!;
  return at + length;
}
