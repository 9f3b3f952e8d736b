import type { KeyTerms } from './key-terms.ts';
import { readTerms } from './key-terms.ts';
import { idLength } from './keys.ts';

/** Keys by id. */
export type KeyTable = {
  readonly size: number;
  /** Place of a key; -1 when it is not there. */
  indexOf(id: string): number;
  idAt(index: number): string;
  /** A view of 32 bytes. */
  sha256At(index: number): Buffer;
  termsAt(index: number): KeyTerms;
  /** Places of the first keys of each plan, at most 20. */
  readonly plans: ReadonlyMap<string, readonly number[]>;
};

/**
 * A table as it crosses the border of a thread: about 70 bytes a key in a few buffers, which change hands without a copy. A million keys as objects would
 * be half a gigabyte, and work for the garbage collector.
 */
export type PackedKeys = {
  readonly size: number;
  /** 12 bytes a key. */
  readonly ids: Uint8Array<ArrayBuffer>;
  /** 32 bytes a key. */
  readonly hashes: Uint8Array<ArrayBuffer>;
  /** Open addressing, at most half full; 0 is free, else index + 1. */
  readonly slots: Int32Array<ArrayBuffer>;
  /** Which of the texts are each key's terms. */
  readonly termsOf: Uint32Array<ArrayBuffer>;
  /** JSON of rows without id and hash, one after the other, and where each ends. */
  readonly termTexts: Uint8Array<ArrayBuffer>;
  readonly termEnds: Uint32Array<ArrayBuffer>;
  readonly plans: ReadonlyMap<string, readonly number[]>;
};

/** Terms of a table that is being built: their place among its texts, and the plan they name. */
export type BuiltTerms = { readonly place: number; readonly plan: string };

export type KeyTableBuilder = {
  /** Keeps a row's text without id and hash, which was found good. */
  addTerms(text: string, plan: string): BuiltTerms;
  /**
   * Adds a key read from a file: `id` 12 base-62 digits, `sha256` 64 hex digits, each at its place in `bytes` and checked before. A key that is there
   * already, with the same hash and from an earlier part, is left as it is. False when it cannot be: the id is taken.
   */
  add(bytes: Buffer, idAt: number, sha256At: number, terms: BuiltTerms): boolean;
  /** What follows is of another part: shards that change hands may hold a key twice for a while. */
  nextPart(): void;
  build(): PackedKeys;
};

export const hashBytes = 32;

/** Enough for most keyrings at once; doubled when full. */
const firstCapacity = 1024;
const firstTermBytes = 1024;

/** Value of a hex digit by its code; 255 for what is none. */
export const hexValues = Uint8Array.from({ length: 256 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(value) ? 255 : value;
});

/** @param keysAtLeast so many fit without growing, which holds up requests for as long as it takes */
export function createKeyTableBuilder(keysAtLeast = firstCapacity): KeyTableBuilder {
  let capacity = Math.max(firstCapacity, keysAtLeast);
  let ids = new Uint8Array(capacity * idLength);
  let hashes = new Uint8Array(capacity * hashBytes);
  let slots = new Int32Array(slotsFor(capacity));
  let termsOf = new Uint32Array(capacity);
  let termTexts = new Uint8Array(firstTermBytes);
  let termEnds = new Uint32Array(firstCapacity);
  let termCount = 0;
  let size = 0;
  const plans = new Map<string, number[]>();
  let partStart = 0;

  const grow = (): void => {
    capacity *= 2;
    ids = longer(ids, capacity * idLength);
    hashes = longer(hashes, capacity * hashBytes);
    termsOf = longer(termsOf, capacity);
    slots = new Int32Array(slotsFor(capacity));
    for (let index = 0; index < size; index++) slots[slotOf(slots, ids, ids, index * idLength)] = index + 1;
  };

  const hashAt = (index: number): Uint8Array => hashes.subarray(index * hashBytes, (index + 1) * hashBytes);

  return {
    addTerms(text, plan) {
      const start = termEnds[termCount - 1] ?? 0;
      const end = start + Buffer.byteLength(text);
      while (end > termTexts.length) termTexts = longer(termTexts, 2 * termTexts.length);
      if (termCount === termEnds.length) termEnds = longer(termEnds, 2 * termCount);
      bufferOver(termTexts).write(text, start);
      termEnds[termCount] = end;
      return { place: termCount++, plan };
    },
    add(bytes, idAt, hexAt, { place, plan }) {
      if (size === capacity) grow();
      const slot = slotOf(slots, ids, bytes, idAt);
      const index = size;
      const end = (index + 1) * hashBytes;
      for (let at = index * hashBytes, hex = hexAt; at < end; at++, hex += 2) {
        hashes[at] = ((hexValues[bytes[hex] ?? 0] ?? 0) << 4) | (hexValues[bytes[hex + 1] ?? 0] ?? 0);
      }
      const there = (slots[slot] ?? 0) - 1;
      if (there >= 0) return there < partStart && Buffer.compare(hashAt(there), hashAt(index)) === 0;
      for (let at = 0; at < idLength; at++) ids[index * idLength + at] = bytes[idAt + at] ?? 0;
      termsOf[index] = place;
      size++;
      noteExample(plans, plan, index);
      slots[slot] = index + 1;
      return true;
    },
    nextPart() {
      partStart = size;
    },
    build: () => ({ size, ids, hashes, slots, termsOf, termTexts, termEnds, plans }),
  };
}

/** The buffers of a table, to be handed over. */
export function buffersOf({ ids, hashes, slots, termsOf, termTexts, termEnds }: PackedKeys): ArrayBuffer[] {
  return [ids, hashes, slots, termsOf, termTexts, termEnds].map(({ buffer }) => buffer);
}

/** Terms that were read last: the callers of a busy minute. */
const termsKept = 16_384;

/** Finds keys where they are packed; terms are read when they are first asked for, since most keys do not ask. */
export function openKeyTable({ size, slots, termsOf, termEnds, plans, ...packed }: PackedKeys): KeyTable {
  const [ids, hashes, texts] = [bufferOver(packed.ids), bufferOver(packed.hashes), bufferOver(packed.termTexts)];
  const terms = new Map<number, KeyTerms>();

  const read = (place: number): KeyTerms => {
    const text = texts.toString('utf8', termEnds[place - 1] ?? 0, termEnds[place]);
    const found = readTerms(JSON.parse(text) as Record<string, unknown>, '', []);
    if (terms.size >= termsKept) terms.clear();
    terms.set(place, found);
    return found;
  };

  return {
    size,
    indexOf(id) {
      for (let at = 0; at < idLength; at++) wanted[at] = id.charCodeAt(at);
      return (slots[slotOf(slots, ids, wanted, 0)] ?? 0) - 1;
    },
    idAt: (index) => ids.toString('latin1', index * idLength, (index + 1) * idLength),
    sha256At: (index) => hashes.subarray(index * hashBytes, (index + 1) * hashBytes),
    plans,
    termsAt(index) {
      const place = index >= 0 && index < size ? termsOf[index] : undefined;
      if (place === undefined) throw new RangeError('no key at this place');
      return terms.get(place) ?? read(place);
    },
  };
}

/** The slot that holds the id found in `bytes`, or the free one where it belongs. */
function slotOf(slots: Int32Array, ids: Uint8Array, bytes: Uint8Array, at: number): number {
  const mask = slots.length - 1;
  let slot = hashOf(bytes, at) & mask;
  for (let entry = slots[slot] ?? 0; entry !== 0; entry = slots[slot] ?? 0) {
    if (isSame(ids, (entry - 1) * idLength, bytes, at)) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

function bufferOver(bytes: Uint8Array<ArrayBuffer>): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function longer<T extends Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer>>(values: T, length: number): T {
  const grown = new (values.constructor as new (length: number) => T)(length);
  grown.set(values);
  return grown;
}

/** The id that is looked for: nothing is allocated for a look. */
const wanted = new Uint8Array(idLength);

/** Keys of a plan that are named when the plan does not exist, and plans of which there are such: many more than a manifest has. */
const examplesMax = 20;
const plansMax = 1024;

function noteExample(plans: Map<string, number[]>, plan: string, index: number): void {
  const examples = plans.get(plan);
  if (examples === undefined) {
    if (plans.size < plansMax) plans.set(plan, [index]);
  } else if (examples.length < examplesMax) examples.push(index);
}

function slotsFor(capacity: number): number {
  return 2 ** Math.ceil(Math.log2(capacity * 2));
}

function isSame(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number): boolean {
  for (let at = 0; at < idLength; at++) if (a[aAt + at] !== b[bAt + at]) return false;
  return true;
}

/** FNV-1a. Ids in the table are made by us, so nobody can choose ones that share a slot. */
function hashOf(bytes: Uint8Array, at: number): number {
  let hash = 0x811c9dc5;
  for (let index = at; index < at + idLength; index++) hash = Math.imul(hash ^ (bytes[index] ?? 0), 0x01000193);
  return hash ^ (hash >>> 15);
}
