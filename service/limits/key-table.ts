import type { KeyTerms } from './key-terms.ts';
import { readTerms } from './key-terms.ts';
import { idLength } from './keys.ts';

/** Keys by id. */
export type KeyTable = {
  readonly size: number;
  /** Returns the index of a key; -1 when the table does not have it. */
  indexOf(id: string): number;
  idAt(index: number): string;
  /** Returns a view of 32 bytes. */
  sha256At(index: number): Buffer;
  termsAt(index: number): KeyTerms;
  /** Indexes of the first keys of each plan, at most 20. */
  readonly plans: ReadonlyMap<string, readonly number[]>;
};

/**
 * Table in the form that is transferred between threads: about 70 bytes a key in a few buffers. The buffers move without a copy. A million keys as
 * objects would take half a gigabyte and burden the garbage collector.
 */
export type PackedKeys = {
  readonly size: number;
  /** 12 bytes a key. */
  readonly ids: Uint8Array<ArrayBuffer>;
  /** 32 bytes a key. */
  readonly hashes: Uint8Array<ArrayBuffer>;
  /** Hash table with open addressing, at most half full. 0 is free, any other value is index + 1. */
  readonly slots: Int32Array<ArrayBuffer>;
  /** Index of each key's terms among the texts. */
  readonly termsOf: Uint32Array<ArrayBuffer>;
  /** JSON of rows without id and hash, concatenated; `termEnds` has the end of each. */
  readonly termTexts: Uint8Array<ArrayBuffer>;
  readonly termEnds: Uint32Array<ArrayBuffer>;
  readonly plans: ReadonlyMap<string, readonly number[]>;
};

/** Terms in a table under construction: their index among the texts, and the plan they name. */
export type BuiltTerms = { readonly place: number; readonly plan: string };

export type KeyTableBuilder = {
  /** Adds the text of a valid row, without id and hash. */
  addTerms(text: string, plan: string): BuiltTerms;
  /**
   * Adds a key read from a file. `id` (12 base-62 digits) and `sha256` (64 hex digits) are at the given offsets of `bytes` and checked before. If an
   * earlier part has the key with the same hash, nothing changes. Returns false when another key has the id.
   */
  add(bytes: Buffer, idAt: number, sha256At: number, terms: BuiltTerms): boolean;
  /** Starts the next part. While shards exchange keys, two parts may have the same key. */
  nextPart(): void;
  build(): PackedKeys;
};

export const HASH_BYTES = 32;

/** Initial capacity: enough for most keyrings; doubled when full. */
const FIRST_CAPACITY = 1024;
const FIRST_TERM_BYTES = 1024;

/** Value of a hex digit by its code; 255 for any other character. */
export const hexValues = Uint8Array.from({ length: 256 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(value) ? 255 : value;
});

/** @param keysAtLeast capacity that needs no growth; growth blocks requests while it runs */
export function createKeyTableBuilder(keysAtLeast = FIRST_CAPACITY): KeyTableBuilder {
  let capacity = Math.max(FIRST_CAPACITY, keysAtLeast);
  let ids = new Uint8Array(capacity * idLength);
  let hashes = new Uint8Array(capacity * HASH_BYTES);
  let slots = new Int32Array(slotsFor(capacity));
  let termsOf = new Uint32Array(capacity);
  let termTexts = new Uint8Array(FIRST_TERM_BYTES);
  let termEnds = new Uint32Array(FIRST_CAPACITY);
  let termCount = 0;
  let size = 0;
  const plans = new Map<string, number[]>();
  let partStart = 0;

  const grow = (): void => {
    capacity *= 2;
    ids = longer(ids, capacity * idLength);
    hashes = longer(hashes, capacity * HASH_BYTES);
    termsOf = longer(termsOf, capacity);
    slots = new Int32Array(slotsFor(capacity));
    for (let index = 0; index < size; index++) slots[slotOf(slots, ids, ids, index * idLength)] = index + 1;
  };

  const hashAt = (index: number): Uint8Array => hashes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES);

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
      const end = (index + 1) * HASH_BYTES;
      for (let at = index * HASH_BYTES, hex = hexAt; at < end; at++, hex += 2) {
        hashes[at] = (hexValues[bytes[hex]!]! << 4) | hexValues[bytes[hex + 1]!]!;
      }
      const there = slots[slot]! - 1;
      if (there >= 0) return there < partStart && Buffer.compare(hashAt(there), hashAt(index)) === 0;
      for (let at = 0; at < idLength; at++) ids[index * idLength + at] = bytes[idAt + at]!;
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

/** Returns the buffers of a table, for transfer to another thread. */
export function buffersOf({ ids, hashes, slots, termsOf, termTexts, termEnds }: PackedKeys): ArrayBuffer[] {
  return [ids, hashes, slots, termsOf, termTexts, termEnds].map(({ buffer }) => buffer);
}

/** Most cached terms: the callers of a busy minute. */
const TERMS_KEPT = 16_384;

/** Opens a packed table. Terms are parsed on first use, because most keys are not used. */
export function openKeyTable({ size, slots, termsOf, termEnds, plans, ...packed }: PackedKeys): KeyTable {
  const [ids, hashes, texts] = [bufferOver(packed.ids), bufferOver(packed.hashes), bufferOver(packed.termTexts)];
  const terms = new Map<number, KeyTerms>();

  const read = (place: number): KeyTerms => {
    const text = texts.toString('utf8', termEnds[place - 1] ?? 0, termEnds[place]);
    const found = readTerms(JSON.parse(text) as Record<string, unknown>, '', []);
    if (terms.size >= TERMS_KEPT) terms.clear();
    terms.set(place, found);
    return found;
  };

  return {
    size,
    indexOf(id) {
      for (let at = 0; at < idLength; at++) wanted[at] = id.charCodeAt(at);
      return slots[slotOf(slots, ids, wanted, 0)]! - 1;
    },
    idAt: (index) => ids.toString('latin1', index * idLength, (index + 1) * idLength),
    sha256At: (index) => hashes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES),
    plans,
    termsAt(index) {
      const place = index >= 0 && index < size ? termsOf[index] : undefined;
      if (place === undefined) throw new RangeError('no key at this place');
      return terms.get(place) ?? read(place);
    },
  };
}

/** Returns the slot with the id in `bytes`, or the free slot where it belongs. */
function slotOf(slots: Int32Array, ids: Uint8Array, bytes: Uint8Array, at: number): number {
  const mask = slots.length - 1;
  let slot = hashOf(bytes, at) & mask;
  for (let entry = slots[slot]!; entry !== 0; entry = slots[slot]!) {
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

/** Buffer for the id of a lookup, so that a lookup allocates nothing. */
const wanted = new Uint8Array(idLength);

/** Most example keys of a plan that does not exist, and most such plans. A manifest has far fewer. */
const EXAMPLES_MAX = 20;
const PLANS_MAX = 1024;

function noteExample(plans: Map<string, number[]>, plan: string, index: number): void {
  const examples = plans.get(plan);
  if (examples === undefined) {
    if (plans.size < PLANS_MAX) plans.set(plan, [index]);
  } else if (examples.length < EXAMPLES_MAX) examples.push(index);
}

function slotsFor(capacity: number): number {
  return 2 ** Math.ceil(Math.log2(capacity * 2));
}

function isSame(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number): boolean {
  for (let at = 0; at < idLength; at++) if (a[aAt + at] !== b[bAt + at]) return false;
  return true;
}

/** FNV-1a without a seed. The service generates the ids, so an attacker cannot choose ids that share a slot. */
function hashOf(bytes: Uint8Array, at: number): number {
  let hash = 0x811c9dc5;
  for (let index = at; index < at + idLength; index++) hash = Math.imul(hash ^ bytes[index]!, 0x01000193);
  return hash ^ (hash >>> 15);
}
