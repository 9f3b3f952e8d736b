/** Runs of keys, a few at a time. A key that is added while it runs, runs again. */
export type RunQueue = {
  /** Requests a run. `start` begins it. */
  add(key: string): void;
  /** Starts as many runs as may be at a time. Each run starts the next when it ends. */
  start(): void;
  /** Reports whether the key runs, or waits for a run that will come. */
  readonly isUnfinished: (key: string) => boolean;
  /** Starts no further run. */
  close(): void;
};

export type RunQueueDependencies = {
  /** Starts the run of a key and never rejects; undefined when the key needs no run any more. */
  readonly run: (key: string) => Promise<void> | undefined;
};

/** @param options.runsMax runs at a time */
export function createRunQueue({ runsMax }: { readonly runsMax: number }, { run }: RunQueueDependencies): RunQueue {
  const due = new Set<string>();
  const inWork = new Set<string>();
  let closed = false;

  function start(): void {
    for (const key of due) {
      if (inWork.size >= runsMax || closed) return;
      if (inWork.has(key)) continue;
      due.delete(key);
      const running = run(key);
      if (running === undefined) continue;
      inWork.add(key);
      void running.finally(() => {
        inWork.delete(key);
        start();
      });
    }
  }

  return {
    add: (key) => void due.add(key),
    start,
    isUnfinished: (key) => inWork.has(key) || (due.has(key) && !closed),
    close() {
      closed = true;
    },
  };
}
