/** So many pieces of work at a time; others wait in the order in which they came. */
export type Places = {
  /** Rejects with the signal's reason when it is aborted while the work waits. */
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
};

/** Who waits is bounded by who asks: every reader has a bounded number of blocks under way. */
export function createPlaces(max: number): Places {
  let free = max;
  const waiting: (() => void)[] = [];

  async function take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (free > 0) {
      free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const go = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        waiting.splice(waiting.indexOf(go), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', leave, { once: true });
      waiting.push(go);
    });
  }

  function leavePlace(): void {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  }

  return {
    async run(signal, work) {
      await take(signal);
      try {
        return await work();
      } finally {
        leavePlace();
      }
    },
  };
}
