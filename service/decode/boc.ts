import { maskCount, MERKLE_UPDATE, ORDINARY, PRUNED } from './cell-table.ts';
import type { CellTable } from './cell-table.ts';
import { crc32c } from './crc32c.ts';
import { DecodeError } from './errors.ts';
import { FlatCells } from './flat-cells.ts';

/** Parsed bag of cells. The bytes given to `parseBoc` are referenced; do not change them afterwards. */
export type Boc = CellTable & { readonly roots: readonly number[] };

/** Limits of a bag, above which it is refused with `too_big`. */
export type BocLimits = {
  /** Length of the whole bag. A lite server's frame has at most 16 MiB; a full node's state may be far larger. */
  readonly bytesMax: number;
  /** Number of cells; a cell costs some 80 bytes of memory besides its data. */
  readonly cellsMax: number;
  /** Number of roots. The longest answer with many, getTransactions, has 16; a listing of a block has up to 256. */
  readonly rootsMax: number;
  /** Level of a root, 0..3. The node refuses bags whose roots have another level than 0: a root must not be pruned. */
  readonly rootLevelMax: number;
};

/** Enough for every answer of a lite server and for the largest blocks. */
export const DEFAULT_BOC_LIMITS: BocLimits = {
  bytesMax: 64 * 1024 * 1024,
  cellsMax: 1 << 20,
  rootsMax: 1024,
  rootLevelMax: 0,
};

/** First four bytes. All except the generic ones are older forms, always indexed, with the first cell as the only root. */
export const BOC_MAGIC = { generic: 0xb5ee9c72, indexed: 0x68ff65f3, indexedCrc32c: 0xacc3a728 } as const;

type Header = {
  /** Bytes of a cell index (1..4) and of an offset (1..8). */
  readonly refBytes: number;
  readonly offsetBytes: number;
  readonly cells: number;
  readonly roots: readonly number[];
  readonly hasCacheBits: boolean;
  /** Start of the index, if there is one. */
  readonly index: number | undefined;
  readonly dataStart: number;
  readonly dataEnd: number;
};

/**
 * Reads a bag of cells: `serialized_boc`, `serialized_boc_idx` and `serialized_boc_idx_crc32c` of boc.tlb, one or more roots. Checks the whole format
 * and every cell's shape, level mask and depth; hashes are computed on demand. Throws DecodeError `bad_boc`, `crc_mismatch`, `too_big`, `bad_cell`,
 * `hash_mismatch`.
 */
export function parseBoc(bytes: Uint8Array, limits: Partial<BocLimits> = {}): Boc {
  return parseBag(bytes, { ...DEFAULT_BOC_LIMITS, ...limits }, true);
}

/** Number of cells that the head of a bag says. `parseBoc` refuses every other number. Throws DecodeError `bad_boc`, `too_big`. */
export function countBocCells(bytes: Uint8Array): number {
  return readHeader(bufferOf(bytes), DEFAULT_BOC_LIMITS, false).cells;
}

/** Reads a bag like `parseBoc`, for bytes whose SHA-256 is proved. The weaker checksum is not computed again. */
export function parseProvedBoc(bytes: Uint8Array): Boc {
  return parseBag(bytes, DEFAULT_BOC_LIMITS, false);
}

/** Cells of a step. */
const STEP_CELLS = 4096;

/**
 * Reads a bag like `parseBoc` in steps, so that a caller may do other work between two steps of a large bag. A step takes half a millisecond.
 * The first step of the largest bags takes two.
 */
export function* parseBocInSteps(bytes: Uint8Array, limits: Partial<BocLimits> = {}): Generator<undefined, Boc> {
  const bounds = { ...DEFAULT_BOC_LIMITS, ...limits };
  const buffer = bufferOf(bytes);
  const header = readHeader(buffer, bounds, true);
  const cells = new BocCells(header.cells);
  cells.begin(buffer, header);
  let at = header.dataStart;
  for (let from = 0; from < header.cells; from += STEP_CELLS) {
    yield;
    at = placeCells(cells, header, { from, to: Math.min(from + STEP_CELLS, header.cells) }, at);
  }
  checkCellsEnd(header, at);
  for (let to = header.cells; to > 0; to -= STEP_CELLS) {
    yield;
    settleCells(cells, { from: Math.max(0, to - STEP_CELLS), to });
  }
  checkRoots(cells, header, bounds);
  return cells;
}

/** Reads one bag after another like `parseBoc`. The next bag overwrites the result, so a bag costs no memory beyond the largest one's. */
export type BagReader = (bytes: Uint8Array) => Boc;

export function createBagReader(): BagReader {
  let cells = new BocCells(CELLS_AT_START);
  return (bytes) => {
    const buffer = bufferOf(bytes);
    const header = readHeader(buffer, DEFAULT_BOC_LIMITS, true);
    if (header.cells > cells.capacity) cells = new BocCells(Math.max(header.cells, cells.capacity * 2));
    return readCells(cells, buffer, header, DEFAULT_BOC_LIMITS);
  };
}

/** First capacity; most transactions have fewer cells. */
const CELLS_AT_START = 64;

function parseBag(bytes: Uint8Array, bounds: BocLimits, checksCrc: boolean): Boc {
  const buffer = bufferOf(bytes);
  const header = readHeader(buffer, bounds, checksCrc);
  return readCells(new BocCells(header.cells), buffer, header, bounds);
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function readCells(cells: BocCells, bytes: Buffer, header: Header, bounds: BocLimits): Boc {
  cells.begin(bytes, header);
  const all = { from: 0, to: header.cells };
  checkCellsEnd(header, placeCells(cells, header, all, header.dataStart));
  settleCells(cells, all);
  checkRoots(cells, header, bounds);
  return cells;
}

/** Cells of a bag, by index. */
type CellRange = { readonly from: number; readonly to: number };

function settleCells(cells: BocCells, { from, to }: CellRange): void {
  for (let cell = to - 1; cell >= from; cell--) {
    cells.settle(cell);
    checkDeclaredMask(cells, cell);
  }
}

function checkRoots(cells: BocCells, { roots }: Header, { rootLevelMax }: BocLimits): void {
  for (const root of roots) {
    const level = 32 - Math.clz32(cells.levelMask(root));
    if (level > rootLevelMax) {
      throw new DecodeError('bad_boc', 'A root has pruned branches that nothing proves.', { cell: root, found: level });
    }
  }
}

class BocCells extends FlatCells implements Boc {
  roots: readonly number[] = [];
  /** Level mask of the first descriptor byte, for comparison with the computed one. */
  readonly declaredMask: Uint8Array;

  constructor(capacity: number) {
    super(NO_BYTES, capacity);
    this.declaredMask = new Uint8Array(capacity);
  }

  /** Starts another bag in place of the previous one. */
  begin(bytes: Buffer, { cells, roots }: Header): void {
    this.bytes = bytes;
    this.size = cells;
    this.roots = roots;
    this.slotMark = 0;
  }
}

const NO_BYTES = Buffer.alloc(0);

function bad(message: string, offset: number): DecodeError {
  return new DecodeError('bad_boc', message, { offset });
}

function tooBig(what: string, found: number, limit: number): DecodeError {
  return new DecodeError('too_big', `The bag has too many ${what}.`, { found, limit });
}

function readUint(bytes: Buffer, offset: number, length: number): number {
  let value = 0;
  for (let at = offset; at < offset + length; at++) value = value * 256 + bytes[at]!;
  return value;
}

function readHeader(bytes: Buffer, limits: BocLimits, checksCrc: boolean): Header {
  if (bytes.length > limits.bytesMax) throw tooBig('bytes', bytes.length, limits.bytesMax);
  if (bytes.length < 6) throw bad('The bag is shorter than a header.', bytes.length);
  const magic = bytes.readUInt32BE(0);
  const generic = magic === BOC_MAGIC.generic;
  if (!generic && magic !== BOC_MAGIC.indexed && magic !== BOC_MAGIC.indexedCrc32c) {
    throw bad('The bag does not start with a known magic number.', 0);
  }
  const flags = bytes[4]!;
  if (!generic && flags >> 3 !== 0) throw bad('The bag has unknown flags.', 4);
  const hasIndex = !generic || (flags & 0x80) !== 0;
  const hasCrc = generic ? (flags & 0x40) !== 0 : magic === BOC_MAGIC.indexedCrc32c;
  const hasCacheBits = (flags & 0x20) !== 0;
  const refBytes = flags & 7;
  const offsetBytes = bytes[5]!;
  if ((flags & 0x18) !== 0 || (hasCacheBits && !hasIndex)) throw bad('The bag has unknown flags.', 4);
  if (refBytes < 1 || refBytes > 4 || offsetBytes < 1 || offsetBytes > 8)
    throw bad('The bag has wrong sizes of numbers.', 4);
  const countsEnd = 6 + 3 * refBytes + offsetBytes;
  if (bytes.length < countsEnd) throw bad('The bag ends in its header.', bytes.length);
  const cells = readUint(bytes, 6, refBytes);
  const rootCount = readUint(bytes, 6 + refBytes, refBytes);
  const absent = readUint(bytes, 6 + 2 * refBytes, refBytes);
  const dataBytes = readUint(bytes, 6 + 3 * refBytes, offsetBytes);
  if (absent !== 0) throw bad('The bag has absent cells.', 6 + 2 * refBytes);
  if (cells === 0 || rootCount === 0 || rootCount > cells) throw bad('The bag has wrong counts of cells and roots.', 6);
  if (!generic && rootCount !== 1) throw bad('A bag of this kind has one root.', 6 + refBytes);
  if (cells > limits.cellsMax) throw tooBig('cells', cells, limits.cellsMax);
  if (rootCount > limits.rootsMax) throw tooBig('roots', rootCount, limits.rootsMax);
  const rootsEnd = countsEnd + (generic ? rootCount * refBytes : 0);
  const dataStart = rootsEnd + (hasIndex ? cells * offsetBytes : 0);
  // Each cell needs two descriptors, so a short bag cannot ask for large tables.
  if (dataBytes < 2 * cells) throw bad('The bag is too short for its cells.', 6);
  if (dataStart + dataBytes + (hasCrc ? 4 : 0) !== bytes.length)
    throw bad('The bag has another length than it says.', 6);
  if (hasCrc && checksCrc && crc32c(bytes, 0, bytes.length - 4) !== bytes.readUInt32LE(bytes.length - 4)) {
    throw new DecodeError('crc_mismatch', 'The CRC-32C of the bag does not fit its bytes.');
  }
  return {
    refBytes,
    offsetBytes,
    cells,
    roots: generic ? readRoots(bytes, countsEnd, rootCount, refBytes, cells) : [0],
    hasCacheBits,
    index: hasIndex ? rootsEnd : undefined,
    dataStart,
    dataEnd: dataStart + dataBytes,
  };
}

function readRoots(bytes: Buffer, start: number, count: number, refBytes: number, cells: number): number[] {
  return Array.from({ length: count }, (_, position) => {
    const offset = start + position * refBytes;
    const root = readUint(bytes, offset, refBytes);
    if (root >= cells) throw bad('A root is not in the bag.', offset);
    return root;
  });
}

/** Walks the bytes of some cells once: descriptors, optional stored hashes and depths, data, references. Returns the offset after them. */
function placeCells(cells: BocCells, header: Header, { from, to }: CellRange, start: number): number {
  const { bytes } = cells;
  const { refBytes, dataEnd } = header;
  let at = start;
  for (let cell = from; cell < to; cell++) {
    if (at + 2 > dataEnd) throw bad('The bag ends in a cell.', at);
    const first = bytes[at]!;
    const second = bytes[at + 1]!;
    const refs = first & 7;
    if (refs > 4) throw bad('A cell is absent or has too many references.', at);
    const mask = first >> 5;
    const stored = (first & 16) !== 0;
    const data = at + 2 + (stored ? 34 * (maskCount(mask) + 1) : 0);
    const length = (second + 1) >> 1;
    const end = data + length + refs * refBytes;
    if (end > dataEnd) throw bad('The bag ends in a cell.', at);
    const bits = (second & 1) === 0 ? length * 8 : bitsBeforeTag(bytes, data, length);
    cells.place(cell, (first & 8) === 0 ? ORDINARY : exoticKind(bytes, data, bits, cell), data, bits, refs, stored);
    cells.declaredMask[cell] = mask;
    at = data + length;
    for (let position = 0; position < refs; position++, at += refBytes) {
      const target = refBytes === 2 ? bytes[at]! * 256 + bytes[at + 1]! : readUint(bytes, at, refBytes);
      // References point forward only: there are no cycles, and a table is settled from its end.
      if (target <= cell || target >= header.cells) throw bad('A reference does not point forward in the bag.', at);
      cells.setRef(cell, position, target);
    }
    if (header.index !== undefined) checkIndex(bytes, header, cell, at - header.dataStart);
  }
  return at;
}

function checkCellsEnd({ dataEnd }: Header, at: number): void {
  if (at !== dataEnd) throw bad('The bag has bytes after its cells.', at);
}

/** Returns the bits of data. An incomplete last byte ends with a 1 and zeros, which are not data. */
function bitsBeforeTag(bytes: Buffer, data: number, length: number): number {
  const last = bytes[data + length - 1]!;
  if ((last & 0x7f) === 0) throw bad('A cell is longer than it needs to be.', data);
  return length * 8 - 1 - (31 - Math.clz32(last & -last));
}

function exoticKind(bytes: Buffer, data: number, bits: number, cell: number): number {
  const type = bits < 8 ? 0 : bytes[data]!;
  if (type < PRUNED || type > MERKLE_UPDATE) {
    throw new DecodeError('bad_cell', 'An exotic cell is of no known type.', { cell, found: type });
  }
  return type;
}

/** Checks the index. Entries are the ends of the cells. With cache bits they are doubled, with a flag in the low bit. */
function checkIndex(bytes: Buffer, header: Header, cell: number, end: number): void {
  const offset = header.index! + cell * header.offsetBytes;
  const entry = readUint(bytes, offset, header.offsetBytes);
  if ((header.hasCacheBits ? Math.floor(entry / 2) : entry) !== end)
    throw bad('The index of the bag is wrong.', offset);
}

function checkDeclaredMask(cells: BocCells, cell: number): void {
  if (cells.levelMask(cell) !== cells.declaredMask[cell]) {
    throw new DecodeError('bad_cell', 'A cell declares another level mask than it has.', { cell });
  }
}
