import { CellSlice } from './cell-slice.ts';
import type { CellTable } from './cell-table.ts';
import { DecodeError } from './errors.ts';
import { ownBytes } from './own-bytes.ts';

/**
 * Dictionaries: `Hashmap n X` and, with `readExtra`, `HashmapAug n X Y`. Keys are buffers of n bits, high bit first, with zero bits after the last.
 * `uintKey` and `keyUint` convert numbers to keys and back.
 *
 * A pruned cell on the path throws DecodeError `pruned_branch`: a proof that hides the position proves nothing about it.
 */
export type HashmapOptions = {
  /** Reads (or skips) the augmentation before a leaf's value. */
  readonly readExtra?: (slice: CellSlice) => void;
  /** Skips pruned branches as if they were absent. In the new side of a Merkle update they are the unchanged part. */
  readonly skipPruned?: boolean;
};

export type WalkOptions = HashmapOptions & {
  /** Start at this key instead of the first one. */
  readonly from?: Uint8Array;
  /** Leave out an entry whose key is `from` itself. */
  readonly exclusive?: boolean;
  /** Descending order of keys; `from` is then the highest. */
  readonly reverse?: boolean;
};

/**
 * Root of a dictionary: its cell's index, or a slice at a `Hashmap` inside another cell. Undefined for an empty dictionary. A slice's budget pays for
 * the walk from it.
 */
export type HashmapRoot<Slice extends CellSlice = CellSlice> = number | Slice | undefined;

function rootSlice<Slice extends CellSlice>(table: CellTable, root: number | Slice): Slice {
  return typeof root === 'number' ? (new CellSlice(table, root) as Slice) : root.clone();
}

/**
 * Most nodes of one walk. Cells can be shared, so a bag of 300 cells may spell a dictionary of 2^256 entries. Blocks and answers of lite servers have
 * far fewer than a million.
 */
const WALK_NODES_MAX = 1_000_000;

function isNothing<Slice extends CellSlice>(
  table: CellTable,
  root: HashmapRoot<Slice>,
  { skipPruned }: HashmapOptions,
): root is undefined {
  return root === undefined || (skipPruned === true && typeof root === 'number' && table.kind(root) === 'pruned');
}

/** A key from an unsigned number. */
export function uintKey(value: number | bigint, bits: number): Buffer {
  const bytes = (bits + 7) >> 3;
  let rest = BigInt.asUintN(bits, BigInt(value)) << BigInt(bytes * 8 - bits);
  const key = Buffer.alloc(bytes);
  for (let at = bytes - 1; at >= 0; at--, rest >>= 8n) key[at] = Number(rest & 255n);
  return key;
}

/** The unsigned number of a key of 1..32 bits. */
export function keyUint(key: Uint8Array, bits: number): number {
  let value = 0;
  for (let at = 0; at < key.length; at++) value = value * 256 + key[at]!;
  return Math.floor(value / 2 ** (key.length * 8 - bits));
}

/**
 * Returns the value under a key, as a slice at its first bit. Undefined when the dictionary has no such key. Throws DecodeError `pruned_branch`,
 * `bad_hashmap`, `cell_underflow`.
 */
export function lookupHashmap<Slice extends CellSlice = CellSlice>(
  table: CellTable,
  root: HashmapRoot<Slice>,
  bits: number,
  key: Uint8Array,
  options: HashmapOptions = {},
): Slice | undefined {
  if (isNothing(table, root, options)) return undefined;
  let slice = rootSlice(table, root);
  for (let at = 0; ; at++) {
    const label = readLabel(slice, bits - at);
    for (let bit = 0; bit < label.length; bit++) {
      if (labelBit(slice, label, bit) !== bitOf(key, at + bit)) return undefined;
    }
    if (label.same === undefined) slice.skip(label.length);
    at += label.length;
    if (at === bits) {
      options.readExtra?.(slice);
      return slice;
    }
    const left = slice.ref();
    const right = slice.ref();
    const next = bitOf(key, at) === 0 ? left : right;
    if (isNothing(table, next, options)) return undefined;
    slice = new CellSlice(table, next, slice.budget) as Slice;
  }
}

/**
 * Visits the entries in the order of their keys, until `visit` returns false. Throws like `lookupHashmap`, and `too_big` after a million nodes or
 * when the budget of the root's slice is spent.
 * @returns false when `visit` ended the walk
 */
export function walkHashmap<Slice extends CellSlice = CellSlice>(
  table: CellTable,
  root: HashmapRoot<Slice>,
  bits: number,
  visit: (key: Buffer, value: Slice) => boolean | void,
  options: WalkOptions = {},
): boolean {
  if (isNothing(table, root, options)) return true;
  const walk: Walk<Slice> = { table, bits, visit, options, key: Buffer.alloc((bits + 7) >> 3), nodes: 0 };
  return walkNode(walk, rootSlice(table, root), 0, options.from !== undefined);
}

type Walk<Slice extends CellSlice> = {
  readonly table: CellTable;
  readonly bits: number;
  readonly visit: (key: Buffer, value: Slice) => boolean | void;
  readonly options: WalkOptions;
  /** Bits of the path to the current node; later bits are undefined. */
  readonly key: Buffer;
  nodes: number;
};

/** Walks a node. Recursion is bounded by the key, because each step down uses at least one of its bits. `bounded`: still on the path to `from`. */
function walkNode<Slice extends CellSlice>(walk: Walk<Slice>, slice: Slice, start: number, bounded: boolean): boolean {
  if (++walk.nodes > WALK_NODES_MAX) {
    throw new DecodeError('too_big', 'The dictionary has too many entries.', {
      found: walk.nodes,
      limit: WALK_NODES_MAX,
    });
  }
  const { key, options, bits, table } = walk;
  const label = readLabel(slice, bits - start);
  copyLabel(slice, label, key, start);
  let onPath = bounded;
  for (let bit = start; onPath && bit < start + label.length; bit++) {
    const value = bitOf(key, bit);
    const wanted = bitOf(options.from!, bit);
    if (value === wanted) continue;
    // The whole branch is before or after the first wanted key.
    if (value < wanted !== (options.reverse ?? false)) return true;
    onPath = false;
  }
  if (label.same === undefined) slice.skip(label.length);
  const at = start + label.length;
  if (at === bits) {
    if (onPath && options.exclusive === true) return true;
    options.readExtra?.(slice);
    const copy = ownBytes(key.length);
    key.copy(copy);
    return walk.visit(copy, slice) !== false;
  }
  const children = [slice.ref(), slice.ref()] as const;
  const wanted = onPath ? bitOf(options.from!, at) : undefined;
  const first = options.reverse === true ? 1 : 0;
  for (let turn = 0; turn < 2; turn++) {
    const side = turn === 0 ? first : 1 - first;
    if (turn === 0 && wanted !== undefined && side !== wanted) continue;
    if (isNothing(table, children[side], options)) continue;
    setBit(key, at, side);
    const child = new CellSlice(table, children[side], slice.budget) as Slice;
    if (!walkNode(walk, child, at + 1, side === wanted)) return false;
  }
  return true;
}

/** Label whose bits follow at the slice's position, or are all `same`. */
export type Label = { readonly length: number; readonly same: 0 | 1 | undefined };

/** `HmLabel ~l n`: hml_short$0 (unary length), hml_long$10, hml_same$11. Leaves the slice at the label's bits. */
export function readLabel(slice: CellSlice, rest: number): Label {
  let length = 0;
  let same: 0 | 1 | undefined;
  if (!slice.bit()) {
    while (slice.bit()) length++;
  } else if (slice.bit()) {
    same = slice.bit() ? 1 : 0;
    length = slice.uint(32 - Math.clz32(rest));
  } else {
    length = slice.uint(32 - Math.clz32(rest));
  }
  if (length > rest || (same === undefined && length > slice.remainingBits)) {
    throw new DecodeError('bad_hashmap', 'A label is longer than the rest of the key.', {
      cell: slice.cell,
      found: length,
    });
  }
  return { length, same };
}

function labelBit(slice: CellSlice, label: Label, bit: number): number {
  return label.same ?? slice.bitAhead(bit);
}

/** Writes the label's bits into the key, a byte of the key at a time. */
export function copyLabel(slice: CellSlice, label: Label, key: Buffer, start: number): void {
  for (let done = 0; done < label.length;) {
    const at = start + done;
    const shift = at & 7;
    const count = Math.min(8 - shift, label.length - done);
    const bits = label.same === undefined ? slice.uintAhead(done, count) : label.same === 0 ? 0 : (1 << count) - 1;
    const left = 8 - shift - count;
    const mask = ((1 << count) - 1) << left;
    key[at >> 3] = (key[at >> 3]! & ~mask) | (bits << left);
    done += count;
  }
}

/** Returns a bit of a key. */
export function bitOf(key: Uint8Array, at: number): 0 | 1 {
  return (key[at >> 3]! & (128 >> (at & 7))) === 0 ? 0 : 1;
}

function setBit(key: Buffer, at: number, value: number): void {
  const bit = 128 >> (at & 7);
  key[at >> 3] = value === 0 ? key[at >> 3]! & ~bit : key[at >> 3]! | bit;
}
