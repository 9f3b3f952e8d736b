/** Time as the operator's loops see it; tests bring their own. */
export type Clock = {
  /** Milliseconds that only go forward, from any start: for durations. */
  readonly now: () => number;
  /** Milliseconds of Unix time: for what is written down. */
  readonly unixMs: () => number;
  /** Calls once after the delay; the returned function calls it off. */
  readonly after: (delayMs: number, call: () => void) => () => void;
};

export const systemClock: Clock = {
  now: () => performance.now(),
  unixMs: Date.now,
  after(delayMs, call) {
    const timer = setTimeout(call, delayMs);
    return () => clearTimeout(timer);
  },
};

/** Resolves after the delay, or at once when the signal is aborted. */
export function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.after(delayMs, done);
    signal.addEventListener('abort', done);
  });
}

/** Doubles with each failure up to a bound. Jitter to either side spreads many callers. */
export function backoffMs(
  { baseMs, maxMs, jitter }: { readonly baseMs: number; readonly maxMs: number; readonly jitter: number },
  failures: number,
  random: () => number,
): number {
  const plain = Math.min(maxMs, baseMs * 2 ** Math.min(failures, 30));
  return plain * (1 + jitter * (2 * random() - 1));
}
