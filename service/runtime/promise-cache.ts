/** Caches the newest results of some work by key. Callers share work in progress. */
export type PromiseCache<T> = {
  /** Returns the cached or pending result of the key. Otherwise caches the result of `make` unless it fails. */
  get(key: number, signal: AbortSignal, make: () => Promise<T>): Promise<T>;
};

/** @param max results; the least recently used is evicted first */
export function createPromiseCache<T>({ max }: { readonly max: number }): PromiseCache<T> {
  const cached = new Map<number, Promise<T>>();

  function put(key: number, made: Promise<T>): Promise<T> {
    cached.delete(key);
    cached.set(key, made);
    made.catch(() => {
      if (cached.get(key) === made) cached.delete(key);
    });
    const [oldest] = cached.keys();
    if (cached.size > max && oldest !== undefined) cached.delete(oldest);
    return made;
  }

  return {
    async get(key, signal, make) {
      const shared = cached.get(key);
      if (shared === undefined) return put(key, make());
      try {
        return await put(key, shared);
      } catch {
        // Another caller's work failed, perhaps because that caller left. Such a failure is not passed to this caller.
        signal.throwIfAborted();
        return put(key, make());
      }
    },
  };
}
