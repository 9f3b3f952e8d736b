/** Cache of data by account text; the least recently used entries are evicted. */
export type TwoGenerationCache<T> = {
  get(key: string): T | undefined;
  /** Caches an entry. An entry above half of the limit is not cached. */
  keep(key: string, note: T): void;
  drop(key: string): void;
  clear(): void;
  /** Bytes in use, as weighed. */
  readonly bytes: () => number;
};

export type TwoGenerationCacheOptions<T> = {
  readonly bytesMax: number;
  /** Weight of an entry in bytes: always the same for the same entry. */
  readonly weigh: (key: string, note: T) => number;
};

/**
 * Two maps. When the younger map fills half of the limit, the older map is dropped with all entries unused since. A single map in the order
 * of use gets holes. Each search for its oldest entry has to pass them.
 */
export function createTwoGenerationCache<T>({ bytesMax, weigh }: TwoGenerationCacheOptions<T>): TwoGenerationCache<T> {
  let younger = new Map<string, T>();
  let older = new Map<string, T>();
  let [bytes, olderBytes] = [0, 0];

  function add(key: string, note: T): void {
    const weight = weigh(key, note);
    if (weight > bytesMax / 2) return;
    if (bytes + weight > bytesMax / 2) {
      [older, olderBytes] = [younger, bytes];
      [younger, bytes] = [new Map(), 0];
    }
    younger.set(key, note);
    bytes += weight;
  }

  function dropYounger(key: string): void {
    const note = younger.get(key);
    if (note === undefined) return;
    younger.delete(key);
    bytes -= weigh(key, note);
  }

  function takeOlder(key: string): T | undefined {
    const note = older.get(key);
    if (note === undefined) return undefined;
    older.delete(key);
    olderBytes -= weigh(key, note);
    return note;
  }

  function drop(key: string): void {
    dropYounger(key);
    takeOlder(key);
  }

  return {
    get(key) {
      const young = younger.get(key);
      if (young !== undefined) return young;
      const old = takeOlder(key);
      if (old !== undefined) add(key, old);
      return old;
    },
    keep(key, note) {
      drop(key);
      add(key, note);
    },
    drop,
    clear() {
      [younger, older] = [new Map(), new Map()];
      [bytes, olderBytes] = [0, 0];
    },
    bytes: () => bytes + olderBytes,
  };
}
