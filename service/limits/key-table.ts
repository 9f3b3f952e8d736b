import type { BlockList } from 'node:net';

import { idLength } from './keys.ts';

/** What a key may do. Keys with equal terms may share one object. */
export type KeyTerms = {
  /** Name of the plan. */
  readonly plan: string;
  /** Keys of one owner share one budget; a key without owner has its own. */
  readonly owner?: string;
  /** Networks the key is issued for; every network when absent. */
  readonly networks?: readonly string[];
  /** Unix milliseconds from which the key is unknown; never when absent. */
  readonly notAfterMs?: number;
  /** Operations the key may call; all when absent. */
  readonly allowedMethods?: ReadonlySet<string>;
  /** Addresses the key may be used from; all when absent. */
  readonly allowedSources?: BlockList;
  /** In place of the plan's; whole numbers. */
  readonly overrides?: { readonly requestsPerSecond?: number; readonly burst?: number };
};

/** Keys by id, about 70 bytes each besides their terms: a million as objects would be half a gigabyte. */
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

export type KeyTableBuilder = {
  /**
   * Adds a key read from a file: `id` 12 base-62 digits, `sha256` 64 hex digits, each at its place in `bytes` and checked before. A key that is there
   * already, with the same hash and from an earlier part, is left as it is. False when it cannot be: the id is taken.
   */
  add(bytes: Buffer, idAt: number, sha256At: number, terms: KeyTerms): boolean;
  /** What follows is of another part: shards that change hands may hold a key twice for a while. */
  nextPart(): void;
  build(): KeyTable;
};

export const hashBytes = 32;

/** Enough for most keyrings at once; doubled when full. */
const firstCapacity = 1024;

/** Value of a hex digit by its code; 255 for what is none. */
export const hexValues = Uint8Array.from({ length: 256 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(value) ? 255 : value;
});

/** @param keysAtLeast so many fit without growing, which holds up requests for as long as it takes */
export function createKeyTableBuilder(keysAtLeast = firstCapacity): KeyTableBuilder {
  let capacity = Math.max(firstCapacity, keysAtLeast);
  let ids = Buffer.allocUnsafeSlow(capacity * idLength);
  let hashes = Buffer.allocUnsafeSlow(capacity * hashBytes);
  /** Open addressing, at most half full; 0 is free, else index + 1. */
  let slots = new Int32Array(slotsFor(capacity));
  /** Terms in the order of their first keys, and the place among them of each key's: pointers by the million would be work for the garbage collector. */
  const terms: KeyTerms[] = [];
  let termsOf = new Uint32Array(capacity);
  let size = 0;
  const plans = new Map<string, number[]>();
  let partStart = 0;

  /** The slot that holds the id found in `bytes`, or the free one where it belongs. */
  const slotOf = (bytes: Uint8Array, at: number): number => {
    const mask = slots.length - 1;
    let slot = hashOf(bytes, at) & mask;
    for (let entry = slots[slot] ?? 0; entry !== 0; entry = slots[slot] ?? 0) {
      if (isSame(ids, (entry - 1) * idLength, bytes, at)) break;
      slot = (slot + 1) & mask;
    }
    return slot;
  };

  const grow = (): void => {
    capacity *= 2;
    ids = Buffer.concat([ids], capacity * idLength);
    hashes = Buffer.concat([hashes], capacity * hashBytes);
    slots = new Int32Array(slotsFor(capacity));
    const before = termsOf;
    termsOf = new Uint32Array(capacity);
    termsOf.set(before);
    for (let index = 0; index < size; index++) slots[slotOf(ids, index * idLength)] = index + 1;
  };

  const sha256At = (index: number): Buffer => hashes.subarray(index * hashBytes, (index + 1) * hashBytes);

  return {
    add(bytes, idAt, hexAt, keyTerms) {
      if (size === capacity) grow();
      const slot = slotOf(bytes, idAt);
      const index = size;
      const end = (index + 1) * hashBytes;
      for (let at = index * hashBytes, hex = hexAt; at < end; at++, hex += 2) {
        hashes[at] = ((hexValues[bytes[hex] ?? 0] ?? 0) << 4) | (hexValues[bytes[hex + 1] ?? 0] ?? 0);
      }
      const there = (slots[slot] ?? 0) - 1;
      if (there >= 0) return there < partStart && sha256At(there).equals(sha256At(index));
      for (let at = 0; at < idLength; at++) ids[index * idLength + at] = bytes[idAt + at] ?? 0;
      if (terms.at(-1) !== keyTerms) terms.push(keyTerms);
      termsOf[index] = terms.length - 1;
      size++;
      noteExample(plans, keyTerms.plan, index);
      slots[slot] = index + 1;
      return true;
    },
    nextPart() {
      partStart = size;
    },
    build: () => ({
      size,
      indexOf(id) {
        for (let at = 0; at < idLength; at++) wanted[at] = id.charCodeAt(at);
        return (slots[slotOf(wanted, 0)] ?? 0) - 1;
      },
      idAt: (index) => ids.toString('latin1', index * idLength, (index + 1) * idLength),
      sha256At,
      plans,
      termsAt(index) {
        const found = index >= 0 && index < size ? terms[termsOf[index] ?? -1] : undefined;
        if (found === undefined) throw new RangeError('no key at this place');
        return found;
      },
    }),
  };
}

/** The id that is looked for: nothing is allocated for a look. */
const wanted = new Uint8Array(idLength);

/** Keys of a plan that are named when the plan does not exist. */
const examplesMax = 20;

function noteExample(plans: Map<string, number[]>, plan: string, index: number): void {
  const examples = plans.get(plan);
  if (examples === undefined) plans.set(plan, [index]);
  else if (examples.length < examplesMax) examples.push(index);
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
