/** JSON that never changes, and what else is known of it; what was written first goes first. */
export type KeptTexts<T> = {
  get(key: string): Kept<T> | undefined;
  keep(key: string, kept: { readonly parts: readonly (string | Buffer)[]; readonly names: T }): void;
  /** What texts and names take. */
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

/** Where in the slab an entry is: its names behind its text. */
type Entry = { readonly key: string; readonly start: number; readonly textEnd: number; readonly end: number };

/** Entries passed over before the line is cut: with fewer it is cut too often. */
const PASSED_MIN = 1024;

/**
 * All are in one slab outside of the heap, which is written round and round: tens of thousands of objects would be passed over by each collection.
 * The slab takes memory as it is filled.
 *
 * @param options.bytesMax of texts and names in UTF-8
 * @template T is kept as JSON
 */
export function createKeptTexts<T>(
  { bytesMax }: { readonly bytesMax: number },
  { counted }: KeptTextsDependencies,
): KeptTexts<T> {
  const slab = Buffer.allocUnsafeSlow(bytesMax);
  const entries = new Map<string, Entry>();
  /** In the order in which they were written, those that were dropped since among them. A map has that order too, but finds its first one past all that were dropped. */
  let line: Entry[] = [];
  /** Place of the first one in line. */
  let first = 0;
  let bytes = 0;
  let next = 0;

  function drop({ key, start, end }: Entry): void {
    entries.delete(key);
    bytes -= end - start;
  }

  function firstInLine(): Entry | undefined {
    while (first < line.length && entries.get(line[first]!.key) !== line[first]) first++;
    if (first > PASSED_MIN && first * 2 > line.length) {
      line = line.slice(first);
      first = 0;
    }
    return line[first];
  }

  /** Makes room behind what was written last, or at the beginning where the end is too near. */
  function makeRoom(length: number): number {
    const isWrapping = next + length > bytesMax;
    const start = isWrapping ? 0 : next;
    for (let entry = firstInLine(); entry !== undefined; entry = firstInLine()) {
      // What lies between the last one and the end is older than what lies at the beginning.
      const isLeftBehind = isWrapping && entry.start >= next;
      if (!isLeftBehind && (entry.start >= start + length || entry.end <= start)) break;
      drop(entry);
    }
    return start;
  }

  return {
    get(key) {
      const entry = entries.get(key);
      counted(entry !== undefined);
      if (entry === undefined) return undefined;
      const { start, textEnd, end } = entry;
      // Copied: what is asked for next may be written over it.
      return {
        text: Buffer.from(slab.subarray(start, textEnd)),
        names: JSON.parse(slab.toString('utf8', textEnd, end)) as T,
      };
    },
    keep(key, { parts, names }) {
      const before = entries.get(key);
      if (before !== undefined) drop(before);
      const pieces = [...parts, JSON.stringify(names)];
      const lengths = pieces.map((piece) => Buffer.byteLength(piece));
      const length = lengths.reduce((sum, one) => sum + one, 0);
      if (length > bytesMax * SHARE_MAX) return;
      const start = makeRoom(length);
      let at = start;
      for (const piece of pieces) at += typeof piece === 'string' ? slab.write(piece, at) : piece.copy(slab, at);
      next = at;
      bytes += length;
      const entry = { key, start, textEnd: at - lengths.at(-1)!, end: at };
      entries.set(key, entry);
      line.push(entry);
    },
    bytes: () => bytes,
  };
}
