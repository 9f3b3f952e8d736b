import { createTextRing } from './text-ring.ts';

/** JSON that never changes, and what else is known of it; what was written first goes first. */
export type KeptTexts<T> = {
  get(key: string): Kept<T> | undefined;
  keep(key: string, kept: { readonly parts: readonly (string | Buffer)[]; readonly names: T }): void;
  /** What texts and names take, with those that were written anew since and are not written over yet. */
  readonly bytes: () => number;
};

/** The text in UTF-8. */
export type Kept<T> = { readonly text: Buffer; readonly names: T };

export type KeptTextsDependencies = {
  /** Told of each that is asked for whether it was there. */
  readonly counted: (isKept: boolean) => void;
};

/** One entry may take at most this part of all, so that a single large one does not sweep it. */
const SHARE_MAX = 1 / 8;

/** Where in the ring an entry is: its names behind its text. */
type Entry = { readonly key: string; readonly at: number; readonly textBytes: number; readonly bytes: number };

/** Entries passed over before the line is cut: with fewer it is cut too often. */
const PASSED_MIN = 1024;

/**
 * All are in one ring outside of the heap: tens of thousands of objects would be passed over by each collection.
 *
 * @param options.bytesMax of texts and names in UTF-8
 * @template T is kept as JSON
 */
export function createKeptTexts<T>(
  { bytesMax }: { readonly bytesMax: number },
  { counted }: KeptTextsDependencies,
): KeptTexts<T> {
  const ring = createTextRing(bytesMax);
  const entries = new Map<string, Entry>();
  /** In the order in which they were written, those that were written anew since among them. */
  let line: Entry[] = [];
  /** Place of the first one in line. */
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
      counted(entry !== undefined);
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
