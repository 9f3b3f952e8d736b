/** A bounded store of answers that can never change; the least recently used go first. */
export type AnswerCache = {
  get(key: string): unknown;
  /** @param bytes what the value is taken to weigh; one heavier than an eighth of the cache is not kept */
  set(key: string, value: unknown, bytes: number): void;
  /** What is held, in bytes as given. */
  readonly bytes: () => number;
  clear(): void;
};

/** One value may take at most this part of the cache, so that a single large one does not sweep it. */
const SHARE_MAX = 1 / 8;

export function createAnswerCache(options: { bytesMax: number }): AnswerCache {
  // A Map keeps insertion order: re-inserting on use leaves the least recently used first.
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
