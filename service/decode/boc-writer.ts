import { BOC_MAGIC } from './boc.ts';
import { DEPTH_MAX, kindCode, maskCount } from './cell-table.ts';
import type { CellTable } from './cell-table.ts';
import { crc32c } from './crc32c.ts';
import { DecodeError } from './errors.ts';

/** Parts of a bag that may be left out; the bits of the node's `mode` are beside them. */
export type BocOptions = {
  /** A CRC-32C at the end (2). */
  readonly crc32c?: boolean;
  /** Ends of the cells before the cells (1). */
  readonly index?: boolean;
  /** A flag in the index for each cell that is referred to more than once (16); needs `index`. */
  readonly cacheBits?: boolean;
  /** Hashes and depths stored with the cells that divide the bag into parts of some 64 cells (8). */
  readonly hashes?: boolean;
  /** Cells in the order of a walk down the tree, as many libraries write them; else as the node does. */
  readonly depthFirst?: boolean;
};

/** What the node writes block files with (mode 31). */
export const BLOCK_FILE_OPTIONS: BocOptions = { crc32c: true, index: true, cacheBits: true, hashes: true };

/**
 * Writes a bag of cells, byte for byte as the node's `std_boc_serialize` does. Cells of equal hash are written once.
 * Throws DecodeError `too_big` when the tree is deeper than 1024 cells.
 */
export function writeBoc(table: CellTable, roots: readonly number[], options: BocOptions = {}): Buffer {
  const [root] = roots;
  // Most bodies of messages: nothing to look for, and nothing to put in order.
  if (root !== undefined && roots.length === 1 && table.refCount(root) === 0 && options.hashes !== true) {
    return serialize(table, { entries: [entryOf(root)], roots: [0] }, [0], options);
  }
  const bag = collect(table, roots);
  weigh(bag);
  const order = options.depthFirst === true ? arrangeDepthFirst(bag) : arrange(bag);
  return serialize(table, bag, order, options);
}

/** A part of the bag should have at most this many cells (`max_cell_whs`); such a part's top may get stored hashes. */
const PART_CELLS_MAX = 64;
const WEIGHT_MAX = 255;

type Entry = {
  readonly cell: number;
  readonly refs: number[];
  /** How many cells hang below, at most 255; 0 marks the top of a part. */
  weight: number;
  /** Referred to more than once. */
  shared: boolean;
  state: 'new' | 'previsited' | 'visited' | 'allocated';
  /** Place from the end of the bag, once allocated. */
  place: number;
};

type Bag = { readonly entries: Entry[]; readonly roots: number[] };

function entryOf(cell: number, refs: number[] = [], weight = 1): Entry {
  return { cell, refs, weight, shared: false, state: 'new', place: 0 };
}

/** All cells below the roots in post-order, each hash once. Recursion is as deep as the tree, which is bounded. */
function collect(table: CellTable, roots: readonly number[]): Bag {
  const entries: Entry[] = [];
  const byPrefix = new Map<number, number[]>();
  const visit = (cell: number, depth: number): number => {
    const alike = byPrefix.get(table.hashPrefix(cell));
    const known = alike?.find((index) => isSame(table, entries[index]!.cell, cell));
    if (known !== undefined) {
      entries[known]!.shared = true;
      return known;
    }
    if (depth > DEPTH_MAX)
      throw new DecodeError('too_big', 'Cells are nested too deep.', { found: depth, limit: DEPTH_MAX });
    const refs: number[] = [];
    let weight = 1;
    for (let position = 0; position < table.refCount(cell); position++) {
      const child = visit(table.ref(cell, position), depth + 1);
      refs.push(child);
      weight += entries[child]!.weight;
    }
    const index = entries.length;
    entries.push(entryOf(cell, refs, Math.min(WEIGHT_MAX, weight)));
    const prefix = table.hashPrefix(cell);
    const others = byPrefix.get(prefix);
    if (others === undefined) byPrefix.set(prefix, [index]);
    else others.push(index);
    return index;
  };
  return { entries, roots: roots.map((root) => visit(root, 0)) };
}

/** Two indexes of one table may be cells of one hash. */
function isSame(table: CellTable, one: number, other: number): boolean {
  return one === other || table.hashEquals(one, table.hash(other));
}

/**
 * Divides the bag: from the last cell to the first, the children share the weight that a part may have, light ones get what
 * they need and heavy ones are cut down; then a cell whose children weigh more than it was left becomes the top of a part.
 */
function weigh({ entries }: Bag): void {
  for (let index = entries.length - 1; index >= 0; index--) shareWeight(entries, entries[index]!.refs);
  for (const entry of entries) {
    let sum = 1;
    for (const child of entry.refs) sum += entries[child]!.weight;
    entry.weight = sum <= entry.weight ? sum : 0;
  }
}

function shareWeight(entries: readonly Entry[], refs: readonly number[]): void {
  const count = refs.length;
  let left = PART_CELLS_MAX - 1;
  let heavy: Entry[] | undefined;
  for (let position = 0; position < count; position++) {
    const entry = entries[refs[position]!]!;
    if (entry.weight <= Math.floor((PART_CELLS_MAX - 1 + position) / count)) left -= entry.weight;
    else (heavy ??= []).push(entry);
  }
  if (heavy === undefined) return;
  for (const entry of heavy) entry.weight = Math.min(entry.weight, Math.floor(left++ / heavy.length));
}

/** Each cell before those below it, and all that is below a reference before the next reference. */
function arrangeDepthFirst({ entries, roots }: Bag): number[] {
  const order: number[] = [];
  const visit = (index: number): void => {
    const entry = entries[index]!;
    if (entry.state === 'allocated') return;
    entry.state = 'allocated';
    for (let position = entry.refs.length - 1; position >= 0; position--) visit(entry.refs[position]!);
    entry.place = order.length;
    order.push(index);
  };
  for (const root of roots.toReversed()) visit(root);
  return order.toReversed();
}

/** Entries from the end of the bag to its start: parts are kept together, children of a cell beside each other. */
function arrange({ entries, roots }: Bag): number[] {
  const order: number[] = [];
  const allocate = (index: number): void => {
    const entry = entries[index]!;
    if (entry.state === 'allocated') return;
    entry.state = 'allocated';
    entry.place = order.length;
    order.push(index);
  };
  // Looks for tops of parts below and visits them.
  const previsit = (index: number): void => {
    const entry = entries[index]!;
    if (entry.state !== 'new') return;
    for (let position = entry.refs.length - 1; position >= 0; position--) {
      const child = entry.refs[position]!;
      if (entries[child]!.weight === 0) visit(child);
      else previsit(child);
    }
    entry.state = 'previsited';
  };
  const visit = (index: number): void => {
    const entry = entries[index]!;
    if (entry.state === 'visited' || entry.state === 'allocated') return;
    if (entry.weight === 0) previsit(index);
    for (let position = entry.refs.length - 1; position >= 0; position--) visit(entry.refs[position]!);
    for (let position = entry.refs.length - 1; position >= 0; position--) allocate(entry.refs[position]!);
    entry.state = 'visited';
  };
  for (const root of roots) {
    previsit(root);
    visit(root);
  }
  roots.forEach(allocate);
  return order.toReversed();
}

function bytesFor(value: number): number {
  let bytes = 0;
  while (value >= 256 ** bytes) bytes++;
  return bytes;
}

function serialize(table: CellTable, bag: Bag, order: readonly number[], options: BocOptions): Buffer {
  const { entries, roots } = bag;
  const count = order.length;
  const refBytes = bytesFor(count);
  const cellBytes = (entry: Entry): number => {
    const hashes = storesHashes(entry, options) ? 34 * (maskCount(table.levelMask(entry.cell)) + 1) : 0;
    return 2 + hashes + ((table.bitLength(entry.cell) + 7) >> 3) + entry.refs.length * refBytes;
  };
  let dataBytes = 0;
  for (const index of order) dataBytes += cellBytes(entries[index]!);
  const offsetBytes = bytesFor(options.cacheBits === true ? dataBytes * 2 : dataBytes);
  const head = 6 + refBytes * (3 + roots.length) + offsetBytes;
  const indexBytes = options.index === true ? count * offsetBytes : 0;
  const out = Buffer.alloc(head + indexBytes + dataBytes + (options.crc32c === true ? 4 : 0));
  out.writeUInt32BE(BOC_MAGIC.generic);
  out[4] =
    (options.index === true ? 0x80 : 0) |
    (options.crc32c === true ? 0x40 : 0) |
    (options.cacheBits === true ? 0x20 : 0) |
    refBytes;
  out[5] = offsetBytes;
  let at = out.writeUIntBE(count, 6, refBytes);
  at = out.writeUIntBE(roots.length, at, refBytes);
  at = out.writeUIntBE(0, at, refBytes);
  at = out.writeUIntBE(dataBytes, at, offsetBytes);
  for (const root of roots) at = out.writeUIntBE(count - 1 - entries[root]!.place, at, refBytes);
  if (options.index === true) {
    let end = 0;
    for (const index of order) {
      end += cellBytes(entries[index]!);
      const entry = options.cacheBits === true ? end * 2 + (entries[index]!.shared ? 1 : 0) : end;
      at = out.writeUIntBE(entry, at, offsetBytes);
    }
  }
  for (const index of order) {
    const entry = entries[index]!;
    at = writeCell(table, entry.cell, entry.refs.length, storesHashes(entry, options), out, at);
    for (const child of entry.refs) at = out.writeUIntBE(count - 1 - entries[child]!.place, at, refBytes);
  }
  if (options.crc32c === true) out.writeUInt32LE(crc32c(out, 0, at), at);
  return out;
}

function storesHashes(entry: Entry, options: BocOptions): boolean {
  return options.hashes === true && entry.weight === 0;
}

/** Descriptors, hashes and depths of all significant levels when wanted, data. Returns the offset behind. */
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
  return at + table.bytes.copy(out, at, offset, offset + ((bits + 7) >> 3));
}
