/** So much work at a time; what comes later waits in the order in which it came. */
export type Places = {
  /** Work that waits now. */
  readonly waiting: number;
  /** Slots of the work that runs now. */
  readonly taken: number;
  /**
   * Rejects with the signal's reason when it is aborted while the work waits.
   * @param count places that the work takes, one by default; all there are when it would take more
   */
  run<T>(signal: AbortSignal, work: () => Promise<T>, count?: number): Promise<T>;
};

type Waiting = { readonly count: number; readonly go: () => void };

/** Callers bound the queue: every reader has a bounded number of blocks in progress, a server of requests. */
export function createPlaces(max: number): Places {
  let free = max;
  const waiting: Waiting[] = [];

  async function take(signal: AbortSignal, count: number): Promise<void> {
    signal.throwIfAborted();
    if (waiting.length === 0 && free >= count) {
      free -= count;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        waiting.splice(waiting.indexOf(one), 1);
        reject(signal.reason as Error);
        // The next in the queue may need fewer slots.
        admit();
      };
      const go = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const one: Waiting = { count, go };
      signal.addEventListener('abort', leave, { once: true });
      waiting.push(one);
    });
  }

  function admit(): void {
    for (let next = waiting[0]; next !== undefined && free >= next.count; next = waiting[0]) {
      waiting.shift();
      free -= next.count;
      next.go();
    }
  }

  return {
    get waiting() {
      return waiting.length;
    },
    get taken() {
      return max - free;
    },
    async run(signal, work, count = 1) {
      const wanted = Math.min(count, max);
      await take(signal, wanted);
      try {
        return await work();
      } finally {
        free += wanted;
        admit();
      }
    },
  };
}
