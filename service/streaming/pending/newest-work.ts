/** Work on the newest item of each key, one item at a time, the oldest first. */
export type NewestWork<T> = {
  /** Takes the newest item of a key, in place of the one that waits. Undefined: nothing is to be done for the key any more. */
  readonly put: (key: string, item: T | undefined) => void;
  /** Resolves when no work runs. */
  readonly close: () => Promise<void>;
};

export type NewestWorkOptions<T> = {
  /** Items that wait; beyond the bound the oldest is left out. */
  readonly waitingMax: number;
  /** @param isNewest false once the key has been put again */
  readonly run: (item: T, signal: AbortSignal, isNewest: () => boolean) => Promise<void>;
  /** Called for an item that is left out. */
  readonly onDisplaced?: () => void;
  readonly onFailure: (error: unknown, key: string) => void;
};

export function createNewestWork<T>({ waitingMax, run, onDisplaced, onFailure }: NewestWorkOptions<T>): NewestWork<T> {
  const ending = new AbortController();
  const { signal } = ending;
  /** Oldest first. */
  const waiting = new Map<string, T>();
  /** Key at work, until it is put again. */
  let current: string | undefined;
  let working: Promise<void> | undefined;

  async function work(): Promise<void> {
    for (const [key, item] of waiting) {
      waiting.delete(key);
      current = key;
      try {
        await run(item, signal, () => current === key);
      } catch (error) {
        if (signal.aborted) return;
        onFailure(error, key);
      }
    }
  }

  function start(): void {
    if (waiting.size === 0 || signal.aborted) return;
    working ??= work().finally(() => {
      working = undefined;
      start();
    });
  }

  return {
    put(key, item) {
      waiting.delete(key);
      if (current === key) current = undefined;
      if (item !== undefined) waiting.set(key, item);
      const [oldest] = waiting.keys();
      if (waiting.size > waitingMax && oldest !== undefined) {
        waiting.delete(oldest);
        onDisplaced?.();
      }
      start();
    },
    async close() {
      waiting.clear();
      ending.abort(new Error('the work on pending traces is closed'));
      await working;
    },
  };
}
