/** Bounds concurrent work. Waiting callers enter in the order in which they came. */
export type Semaphore = {
  /** Callers that wait. */
  readonly waiting: number;
  /** Slots in use. */
  readonly taken: number;
  /**
   * Resolves with a function that frees the slots; its second call does nothing. Rejects with the signal's reason if the signal aborts first.
   * @param count slots, one by default; all slots if the count is larger
   */
  acquire(signal: AbortSignal, count?: number): Promise<() => void>;
  /** Runs the work with acquired slots and frees them at its end. Rejects as `acquire` and the work do. */
  run<T>(signal: AbortSignal, work: () => Promise<T>, count?: number): Promise<T>;
};

type Waiting = { readonly count: number; readonly enter: () => void };

/** The queue has no bound of its own: every caller has a bounded number of requests in progress. */
export function createSemaphore(max: number): Semaphore {
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
        waiting.splice(waiting.indexOf(entry), 1);
        reject(signal.reason as Error);
        // The next in the queue may need fewer slots.
        admit();
      };
      const enter = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const entry: Waiting = { count, enter };
      signal.addEventListener('abort', leave, { once: true });
      waiting.push(entry);
    });
  }

  function admit(): void {
    for (let next = waiting[0]; next !== undefined && free >= next.count; next = waiting[0]) {
      waiting.shift();
      free -= next.count;
      next.enter();
    }
  }

  async function acquire(signal: AbortSignal, count = 1): Promise<() => void> {
    let slots = Math.min(count, max);
    await take(signal, slots);
    return () => {
      free += slots;
      slots = 0;
      admit();
    };
  }

  return {
    get waiting() {
      return waiting.length;
    },
    get taken() {
      return max - free;
    },
    acquire,
    async run(signal, work, count) {
      const release = await acquire(signal, count);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}
