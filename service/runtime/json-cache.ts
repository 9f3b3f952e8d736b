import { createByteRing } from './byte-ring.ts';

/** Cache of JSON that never changes, with further data; the oldest entries are evicted first. */
export type JsonCache<T> = {
  get(key: string): CachedJson<T> | undefined;
  keep(key: string, rendered: { readonly parts: readonly (string | Buffer)[]; readonly names: T }): void;
  /** Bytes in use, including superseded entries not yet overwritten. */
  readonly bytes: () => number;
};

/** The text in UTF-8. */
export type CachedJson<T> = { readonly text: Buffer; readonly names: T };

/** Largest part of the limit for an entry, so that a single large entry does not empty the cache. */
const SHARE_MAX = 1 / 8;

/** Position of an entry in the ring: its names follow its text. */
type Entry = { readonly key: string; readonly at: number; readonly textBytes: number; readonly bytes: number };

/** Passed entries before the line is cut: a smaller number cuts too often. */
const PASSED_MIN = 1024;

/**
 * All entries are in a ring outside of the heap: garbage collections otherwise visit tens of thousands of objects.
 *
 * @param options.bytesMax of texts and names in UTF-8
 * @template T is stored as JSON
 */
export function createJsonCache<T>({ bytesMax }: { readonly bytesMax: number }): JsonCache<T> {
  const ring = createByteRing(bytesMax);
  const entries = new Map<string, Entry>();
  /** Entries in the order of writing, superseded entries included. */
  let line: Entry[] = [];
  /** Position of the first entry in `line`. */
  let first = 0;

  function dropOld(): void {
    for (const begin = ring.begin(); first < line.length && line[first]!.at < begin; first++) {
      const entry = line[first]!;
      if (entries.get(entry.key) === entry) entries.delete(entry.key);
    }
    if (first > PASSED_MIN && first * 2 > line.length) {
      line = line.slice(first);
      first = 0;
    }
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      const bytes = ring.read(entry.at, entry.bytes);
      return {
        text: bytes.subarray(0, entry.textBytes),
        names: JSON.parse(bytes.toString('utf8', entry.textBytes)) as T,
      };
    },
    keep(key, { parts, names }) {
      const pieces = [...parts, JSON.stringify(names)].map((part) =>
        typeof part === 'string' ? Buffer.from(part) : part,
      );
      const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
      entries.delete(key);
      if (bytes > bytesMax * SHARE_MAX) return;
      const entry = { key, at: ring.end(), textBytes: bytes - pieces.at(-1)!.length, bytes };
      for (const piece of pieces) ring.append(piece);
      entries.set(key, entry);
      line.push(entry);
      dropOld();
    },
    bytes: () => ring.end() - ring.begin(),
  };
}
