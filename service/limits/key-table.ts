import type { BlockList } from 'node:net';

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
};

export type KeyTableBuilder = {
  /** False when the id is there already. `sha256` is 64 hex digits, `id` 12 base-62 digits. */
  add(id: string, sha256: string, terms: KeyTerms): boolean;
  build(): KeyTable;
};

const idBytes = 12;
const hashBytes = 32;

/** Enough for most keyrings at once; doubled when full. */
const firstCapacity = 1024;

export function createKeyTableBuilder(): KeyTableBuilder {
  let capacity = firstCapacity;
  let ids = Buffer.alloc(capacity * idBytes);
  let hashes = Buffer.alloc(capacity * hashBytes);
  /** Open addressing, at most half full; 0 is free, else index + 1. */
  let slots = new Int32Array(capacity * 2);
  const terms: KeyTerms[] = [];

  const equalsAt = (index: number, id: string): boolean => {
    const start = index * idBytes;
    for (let at = 0; at < idBytes; at++) if (ids[start + at] !== id.charCodeAt(at)) return false;
    return true;
  };

  /** The slot that holds the id, or the free one where it belongs. */
  const slotOf = (id: string): number => {
    const mask = slots.length - 1;
    let slot = hashOf(id) & mask;
    for (let entry = slots[slot] ?? 0; entry !== 0 && !equalsAt(entry - 1, id); entry = slots[slot] ?? 0) {
      slot = (slot + 1) & mask;
    }
    return slot;
  };

  const idAt = (index: number): string => ids.toString('latin1', index * idBytes, (index + 1) * idBytes);

  const grow = (): void => {
    capacity *= 2;
    ids = Buffer.concat([ids], capacity * idBytes);
    hashes = Buffer.concat([hashes], capacity * hashBytes);
    slots = new Int32Array(capacity * 2);
    terms.forEach((_terms, index) => {
      slots[slotOf(idAt(index))] = index + 1;
    });
  };

  return {
    add(id, sha256, keyTerms) {
      if (terms.length === capacity) grow();
      const slot = slotOf(id);
      if (slots[slot] !== 0) return false;
      const index = terms.length;
      ids.write(id, index * idBytes, idBytes, 'latin1');
      hashes.write(sha256, index * hashBytes, hashBytes, 'hex');
      terms.push(keyTerms);
      slots[slot] = index + 1;
      return true;
    },
    build: () => ({
      size: terms.length,
      indexOf: (id) => (slots[slotOf(id)] ?? 0) - 1,
      idAt,
      sha256At: (index) => hashes.subarray(index * hashBytes, (index + 1) * hashBytes),
      termsAt: (index) => {
        const found = terms[index];
        if (found === undefined) throw new RangeError('no key at this place');
        return found;
      },
    }),
  };
}

/** FNV-1a. Ids in the table are made by us, so nobody can choose ones that share a slot. */
function hashOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return hash ^ (hash >>> 15);
}
