/** The last results of some work by key; work under way is shared. */
export type Held<T> = {
  /** Returns the cached or pending result of the key. Otherwise caches the result of `make` unless it fails. */
  get(key: number, signal: AbortSignal, make: () => Promise<T>): Promise<T>;
};

export function createHeld<T>({ max }: { readonly max: number }): Held<T> {
  const held = new Map<number, Promise<T>>();

  function hold(key: number, made: Promise<T>): Promise<T> {
    held.delete(key);
    held.set(key, made);
    made.catch(() => {
      if (held.get(key) === made) held.delete(key);
    });
    const [oldest] = held.keys();
    if (held.size > max && oldest !== undefined) held.delete(oldest);
    return made;
  }

  return {
    async get(key, signal, make) {
      const shared = held.get(key);
      if (shared === undefined) return hold(key, make());
      try {
        return await hold(key, shared);
      } catch {
        // Another caller's work failed, perhaps because that caller left. Such a failure is not passed to this caller.
        signal.throwIfAborted();
        return hold(key, make());
      }
    },
  };
}
