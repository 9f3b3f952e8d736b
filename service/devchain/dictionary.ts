import { CellSlice } from '../decode/cell-slice.ts';
import type { CellTable } from '../decode/cell-table.ts';

/** Which way to look when the key itself is not wanted or not there. */
export type Direction = 'next' | 'previous';

type Label = { readonly length: number; readonly bits: Buffer };

/** `HmLabel`: the key bits that all keys below an edge have in common; at most `bitsMax` of them. */
function readLabel(slice: CellSlice, bitsMax: number): Label {
  if (!slice.bit()) {
    let length = 0;
    while (slice.bit()) length++;
    return { length, bits: slice.bits(length) };
  }
  const lengthBits = 32 - Math.clz32(bitsMax);
  if (!slice.bit()) {
    const length = slice.uint(lengthBits);
    return { length, bits: slice.bits(length) };
  }
  const bit = slice.bit();
  const length = slice.uint(lengthBits);
  return { length, bits: Buffer.alloc((length + 7) >> 3, bit ? 255 : 0) };
}

function bitAt(bytes: Buffer, at: number): boolean {
  return (bytes[at >> 3]! & (128 >> (at & 7))) !== 0;
}

function setBit(bytes: Buffer, at: number, bit: boolean): void {
  const mask = 128 >> (at & 7);
  bytes[at >> 3] = bit ? bytes[at >> 3]! | mask : bytes[at >> 3]! & ~mask;
}

/** How many bits of the label agree with the key from `at` on. */
function agreement(label: Label, key: Buffer, at: number): number {
  for (let bit = 0; bit < label.length; bit++) if (bitAt(label.bits, bit) !== bitAt(key, at + bit)) return bit;
  return label.length;
}

/** A dictionary edge from `from` on: its slice behind the label, and the key bits used up with the label. */
type Edge = { readonly slice: CellSlice; readonly label: Label };

/** The root edge of a dictionary that stands in a cell of its own (`HashmapE`), or inside a slice (`Hashmap`). */
export type DictionaryRoot = { readonly table: CellTable; readonly cell: number } | CellSlice;

function openRoot(root: DictionaryRoot): CellSlice {
  return root instanceof CellSlice ? root.clone() : new CellSlice(root.table, root.cell);
}

function openEdge(slice: CellSlice, bitsLeft: number): Edge {
  return { slice, label: readLabel(slice, bitsLeft) };
}

function child(edge: Edge, bit: boolean): CellSlice {
  const left = edge.slice.ref();
  return new CellSlice(edge.slice.table, bit ? edge.slice.ref() : left);
}

/**
 * The value (in an augmented dictionary: its extra, then the value) under a key of `keyBits` bits, or undefined.
 * Opens the cells from the root to the value or to where the key's way ends.
 */
export function lookUp(root: DictionaryRoot, keyBits: number, key: Buffer): CellSlice | undefined {
  let slice = openRoot(root);
  for (let at = 0; ;) {
    const edge = openEdge(slice, keyBits - at);
    if (agreement(edge.label, key, at) < edge.label.length) return undefined;
    at += edge.label.length;
    if (at === keyBits) return edge.slice;
    slice = child(edge, bitAt(key, at));
    at++;
  }
}

/** A key and what stands under it. */
export type Entry = { readonly key: Buffer; readonly value: CellSlice };

/**
 * The entry nearest to `key` on the given side, the key's own only if `orEqual`. Opens what the node's search opens: the
 * way to the key, and from the last fork before its end the way to the nearest entry on the other side.
 */
export function lookUpNearest(
  root: DictionaryRoot,
  keyBits: number,
  key: Buffer,
  direction: Direction,
  orEqual: boolean,
): Entry | undefined {
  return nearest(openRoot(root), keyBits, Buffer.from(key), 0, direction, orEqual);
}

function nearest(
  slice: CellSlice,
  keyBits: number,
  key: Buffer,
  start: number,
  direction: Direction,
  orEqual: boolean,
): Entry | undefined {
  const edge = openEdge(slice, keyBits - start);
  const agreed = agreement(edge.label, key, start);
  const forward = direction === 'next';
  if (agreed < edge.label.length) {
    // All keys here are on one side of the wanted one: the label's bit at the difference says which.
    return bitAt(edge.label.bits, agreed) === forward ? extreme(edge, keyBits, key, start, direction) : undefined;
  }
  const at = start + edge.label.length;
  if (at === keyBits) return orEqual ? { key, value: edge.slice } : undefined;
  const bit = bitAt(key, at);
  const found = nearest(child({ ...edge, slice: edge.slice.clone() }, bit), keyBits, key, at + 1, direction, orEqual);
  if (found !== undefined || bit === forward) return found;
  setBit(key, at, forward);
  return first(child(edge, forward), keyBits, key, at + 1, direction);
}

/** The first entry below an edge in the given direction. */
function extreme(edge: Edge, keyBits: number, key: Buffer, start: number, direction: Direction): Entry {
  for (let bit = 0; bit < edge.label.length; bit++) setBit(key, start + bit, bitAt(edge.label.bits, bit));
  const at = start + edge.label.length;
  if (at === keyBits) return { key, value: edge.slice };
  const bit = direction === 'previous';
  setBit(key, at, bit);
  return first(child(edge, bit), keyBits, key, at + 1, direction);
}

function first(slice: CellSlice, keyBits: number, key: Buffer, start: number, direction: Direction): Entry {
  return extreme(openEdge(slice, keyBits - start), keyBits, key, start, direction);
}

/** The entry with the smallest (`next`) or largest (`previous`) key of a dictionary that has one. */
export function firstEntry(root: DictionaryRoot, keyBits: number, direction: Direction): Entry {
  return first(openRoot(root), keyBits, Buffer.alloc((keyBits + 7) >> 3), 0, direction);
}

/** All entries in key order; `entriesMax` bounds a list that nothing else bounds. */
export function* entries(root: DictionaryRoot, keyBits: number): Generator<Entry> {
  const start = openRoot(root);
  yield* below(start, keyBits, Buffer.alloc((keyBits + 7) >> 3), 0);
}

function* below(slice: CellSlice, keyBits: number, key: Buffer, start: number): Generator<Entry> {
  const edge = openEdge(slice, keyBits - start);
  for (let bit = 0; bit < edge.label.length; bit++) setBit(key, start + bit, bitAt(edge.label.bits, bit));
  const at = start + edge.label.length;
  if (at === keyBits) {
    yield { key: Buffer.from(key), value: edge.slice };
    return;
  }
  for (const bit of [false, true]) {
    setBit(key, at, bit);
    yield* below(child({ ...edge, slice: edge.slice.clone() }, bit), keyBits, key, at + 1);
  }
}

/** A 32-bit key. */
export function key32(value: number): Buffer {
  const key = Buffer.alloc(4);
  key.writeInt32BE(value | 0);
  return key;
}

/** A 64-bit key. */
export function key64(value: bigint): Buffer {
  const key = Buffer.alloc(8);
  key.writeBigUInt64BE(BigInt.asUintN(64, value));
  return key;
}
