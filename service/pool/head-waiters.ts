/** Callers that wait for the served head to reach a seqno. */
export type HeadWaiters = {
  /** Resolves when the head has the seqno, when `waitMs` are over or when the signal is aborted. The caller checks which. */
  readonly wait: (seqno: number, waitMs: number, signal: AbortSignal) => Promise<void>;
  /** Called when the head moved. */
  moved(seqno: number): void;
};

export function createHeadWaiters(headSeqno: () => number): HeadWaiters {
  const waiters = new Set<{ readonly seqno: number; readonly end: () => void }>();

  return {
    wait: (seqno, waitMs, signal) =>
      new Promise((resolve) => {
        if (headSeqno() >= seqno || waitMs <= 0 || signal.aborted) return resolve();
        const end = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', end);
          waiters.delete(waiter);
          resolve();
        };
        const waiter = { seqno, end };
        const timer = setTimeout(end, waitMs);
        signal.addEventListener('abort', end, { once: true });
        waiters.add(waiter);
      }),
    moved(seqno) {
      for (const waiter of waiters) if (waiter.seqno <= seqno) waiter.end();
    },
  };
}
