import { BitWriter } from './bit-writer.ts';
import { CellSlice } from './cell-slice.ts';
import type { CellStore } from './cell-store.ts';
import { bitOf, copyLabel, readLabel } from './hashmap.ts';

/** New value of a key; without `write` the key is removed. `write` writes the leaf: the augmentation, if there is one, then the value. */
export type HashmapChange = { readonly key: Uint8Array; readonly write: ((writer: BitWriter) => void) | undefined };

/** Augmentation `HashmapAug`'s Y, with the rule that combines two of them. */
export type Augmentation = {
  /** Writes the augmentation over two branches whose augmentations are at the slices. */
  readonly join: (writer: BitWriter, left: CellSlice, right: CellSlice, store: CellStore) => void;
};

/** Dictionary in a store, with the rules to change it. */
export type HashmapShape = { readonly bits: number; readonly augmentation?: Augmentation };

/**
 * Returns the root of the dictionary after the changes; undefined when it is empty. Changes may be in any order and name each key once. All are made
 * at once, so that no intermediate cells are left in the store. Throws DecodeError like `lookupHashmap`, and `bad_cell` for a leaf without room.
 */
export function updateHashmap(
  store: CellStore,
  root: number | undefined,
  { bits, augmentation }: HashmapShape,
  changes: readonly HashmapChange[],
): number | undefined {
  if (changes.length === 0) return root;
  const sorted = changes.toSorted((one, other) => Buffer.compare(one.key, other.key));
  const update: Update = { store, bits, augmentation, changes: sorted };
  const edge =
    root === undefined
      ? plant(update, 0, sorted.length, 0)
      : change(update, openEdge(update, root, 0, new Uint8Array((bits + 7) >> 3)), 0, 0, sorted.length);
  return edge === undefined ? undefined : close(update, edge, 0);
}

/** Returns the root of a dictionary with the entries whose keys begin with the first `prefixBits` bits of `prefix`. */
export function cutHashmap(
  store: CellStore,
  root: number | undefined,
  { bits, augmentation }: HashmapShape,
  prefix: Uint8Array,
  prefixBits: number,
): number | undefined {
  if (root === undefined) return undefined;
  const update: Update = { store, bits, augmentation, changes: [] };
  let edge = openEdge(update, root, 0, new Uint8Array((bits + 7) >> 3));
  for (;;) {
    const end = Math.min(edge.end, prefixBits);
    if (sharedBits(edge.path, prefix, 0, end) < end) return undefined;
    if (end === prefixBits) return close(update, edge, 0);
    const path = Buffer.from(edge.path);
    const side = bitOf(prefix, edge.end);
    if (side === 1) path[edge.end >> 3]! |= 128 >> (edge.end & 7);
    edge = childOf(update, edge, side, path);
  }
}

/** Joins two dictionaries; every key of the left must be before every key of the right. */
export function joinHashmaps(
  store: CellStore,
  left: number | undefined,
  right: number | undefined,
  { bits, augmentation }: HashmapShape,
): number | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  const update: Update = { store, bits, augmentation, changes: [] };
  const none = new Uint8Array((bits + 7) >> 3);
  const [one, other] = [openEdge(update, left, 0, none), openEdge(update, right, 0, none)];
  const end = sharedBits(one.path, other.path, 0, Math.min(one.end, other.end));
  if (end === Math.min(one.end, other.end)) throw new Error('the keys of two dictionaries are mixed');
  return close(update, join(one, other, one.path, end)!, 0);
}

/** Returns a slice at the augmentation over a whole `HashmapAug` of keys of `bits` bits. */
export function openExtra(store: CellStore, root: number, bits: number): CellSlice {
  const slice = new CellSlice(store, root);
  const label = readLabel(slice, bits);
  if (label.same === undefined) slice.skip(label.length);
  if (label.length < bits) {
    slice.ref();
    slice.ref();
  }
  return slice;
}

type Update = {
  readonly store: CellStore;
  readonly bits: number;
  readonly augmentation: Augmentation | undefined;
  readonly changes: readonly HashmapChange[];
};

/** Part of the dictionary. All its keys begin with the first `end` bits of `path`; its body follows the label. */
type Edge = {
  readonly path: Uint8Array;
  readonly end: number;
  readonly body:
    | { readonly kind: 'stored'; readonly cell: number; readonly from: number; readonly rest: CellSlice }
    | { readonly kind: 'leaf'; readonly write: (writer: BitWriter) => void }
    | { readonly kind: 'fork'; readonly left: Edge; readonly right: Edge };
};

function openEdge({ store, bits }: Update, cell: number, from: number, prefix: Uint8Array): Edge {
  const slice = new CellSlice(store, cell);
  const label = readLabel(slice, bits - from);
  const path = Buffer.from(prefix);
  copyLabel(slice, label, path, from);
  if (label.same === undefined) slice.skip(label.length);
  return { path, end: from + label.length, body: { kind: 'stored', cell, from, rest: slice } };
}

/** Applies the changes `low..high - 1` to `edge`. They share the first `at` bits of its keys. */
function change(update: Update, edge: Edge, at: number, low: number, high: number): Edge | undefined {
  if (low === high) return edge;
  const { changes, bits } = update;
  const meets = Math.min(
    sharedBits(edge.path, changes[low]!.key, at, edge.end),
    sharedBits(edge.path, changes[high - 1]!.key, at, edge.end),
  );
  if (meets === bits) {
    const { key, write } = changes[low]!;
    return write && { path: key, end: bits, body: { kind: 'leaf', write } };
  }
  const middle = split(changes, low, high, meets);
  if (meets < edge.end) {
    const [mineLow, mineHigh] = bitOf(edge.path, meets) === 0 ? [low, middle] : [middle, high];
    const [otherLow, otherHigh] = mineLow === low ? [middle, high] : [low, middle];
    const mine = change(update, edge, meets + 1, mineLow, mineHigh);
    const other = plant(update, otherLow, otherHigh, meets + 1);
    return mineLow === low ? join(mine, other, edge.path, meets) : join(other, mine, edge.path, meets);
  }
  const [left, right] = [0, 1].map((side) => {
    const path = Buffer.from(edge.path);
    if (side === 1) path[meets >> 3]! |= 128 >> (meets & 7);
    const child = childOf(update, edge, side, path);
    const [from, to] = side === 0 ? [low, middle] : [middle, high];
    return change(update, child, meets + 1, from, to);
  });
  return join(left, right, edge.path, meets);
}

function childOf(update: Update, { body, end }: Edge, side: number, path: Uint8Array): Edge {
  if (body.kind !== 'stored') throw new Error('only what is in the store has children yet');
  const { cell } = body;
  return openEdge(update, update.store.ref(cell, side), end + 1, path);
}

/** Makes a new part of the dictionary from the values among the changes. */
function plant(update: Update, low: number, high: number, at: number): Edge | undefined {
  const { changes, bits } = update;
  let [first, last] = [low, high - 1];
  while (first <= last && changes[first]!.write === undefined) first++;
  while (last > first && changes[last]!.write === undefined) last--;
  if (first > last) return undefined;
  const { key, write } = changes[first]!;
  if (first === last) return { path: key, end: bits, body: { kind: 'leaf', write: write! } };
  const end = sharedBits(key, changes[last]!.key, at, bits);
  const middle = split(changes, first, last + 1, end);
  return join(plant(update, first, middle, end + 1), plant(update, middle, last + 1, end + 1), key, end);
}

function join(left: Edge | undefined, right: Edge | undefined, path: Uint8Array, end: number): Edge | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return { path, end, body: { kind: 'fork', left, right } };
}

/** Writes an edge whose label begins at bit `from`. */
function close(update: Update, { path, end, body }: Edge, from: number): number {
  if (body.kind === 'stored' && body.from === from) return body.cell;
  const { store, bits, augmentation } = update;
  const writer = new BitWriter();
  writeLabel(writer, path, from, end, bits - from);
  if (body.kind === 'stored') return writer.rest(body.rest.clone()).finish(store);
  if (body.kind === 'leaf') {
    body.write(writer);
    return writer.finish(store);
  }
  const left = close(update, body.left, end + 1);
  const right = close(update, body.right, end + 1);
  writer.ref(left).ref(right);
  const below = bits - end - 1;
  augmentation?.join(writer, openExtra(store, left, below), openExtra(store, right, below), store);
  return writer.finish(store);
}

/** Writes the shortest form of `HmLabel`, chosen like the node. */
function writeLabel(writer: BitWriter, path: Uint8Array, from: number, end: number, rest: number): void {
  const length = end - from;
  const lengthBits = 32 - Math.clz32(rest);
  if (length > 1 && lengthBits < 2 * length - 1 && isSame(path, from, end)) {
    writer.uint(6 + bitOf(path, from), 3).uint(length, lengthBits);
    return;
  }
  if (lengthBits < length) writer.uint(2, 2).uint(length, lengthBits);
  else {
    writer.bit(false);
    for (let bit = 0; bit < length; bit++) writer.bit(true);
    writer.bit(false);
  }
  writer.copy(path, from, length);
}

function isSame(path: Uint8Array, from: number, end: number): boolean {
  for (let at = from + 1; at < end; at++) if (bitOf(path, at) !== bitOf(path, from)) return false;
  return true;
}

/** Returns the first bit from `from` on in which the keys differ, at most `end`. */
function sharedBits(one: Uint8Array, other: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end) {
    if ((at & 7) === 0 && at + 8 <= end && one[at >> 3] === other[at >> 3]) at += 8;
    else if (bitOf(one, at) !== bitOf(other, at)) break;
    else at++;
  }
  return at;
}

/** Returns the first change whose key has a 1 at the bit. */
function split(changes: readonly HashmapChange[], low: number, high: number, bit: number): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (bitOf(changes[middle]!.key, bit) === 0) from = middle + 1;
    else to = middle;
  }
  return from;
}
