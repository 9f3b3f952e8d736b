/** Bounded cache of immutable answers; the least recently used is evicted first. */
export type BoundedCache = {
  get(key: string): unknown;
  /** @param bytes weight of the value; a value heavier than an eighth of the cache is not cached */
  set(key: string, value: unknown, bytes: number): void;
  /** Returns the sum of the cached weights in bytes. */
  readonly bytes: () => number;
  clear(): void;
};

/** Largest part of the cache for one value, so that a single large value does not evict the rest. */
const SHARE_MAX = 1 / 8;

export function createBoundedCache(options: { bytesMax: number }): BoundedCache {
  // A Map has insertion order. Inserting again on use puts the least recently used first.
  const entries = new Map<string, { value: unknown; bytes: number }>();
  let total = 0;

  function drop(key: string): void {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    total -= entry.bytes;
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value, bytes) {
      drop(key);
      if (bytes > options.bytesMax * SHARE_MAX) return;
      entries.set(key, { value, bytes });
      total += bytes;
      for (const oldest of entries.keys()) {
        if (total <= options.bytesMax) break;
        drop(oldest);
      }
    },
    bytes: () => total,
    clear() {
      entries.clear();
      total = 0;
    },
  };
}
