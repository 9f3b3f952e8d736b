/** Time of a query, and for how long this process had stalled until then. */
export type Mark = { readonly sentMs: number; readonly stalledMs: number };

/**
 * Separates the duration of an answer from the time in which this process could not read it. Otherwise a pod that stalls for a tenth of a second for
 * lack of CPU would find its Redis slow. All pods would then leave Redis in turn.
 *
 * @param tickMs how often `tick` is called while the process runs freely
 */
export function createEventLoopStalls(tickMs: number, nowMs: () => number = () => performance.now()) {
  let lastMs = nowMs();
  let stalledMs = 0;
  /** Stalled time up to `ms`. Time since the last tick that exceeds a tick is a stall in progress. */
  const stalledAt = (ms: number): number => stalledMs + Math.max(0, ms - lastMs - tickMs);
  return {
    tick(): void {
      const now = nowMs();
      stalledMs = stalledAt(now);
      lastMs = now;
    },
    mark(): Mark {
      const sentMs = nowMs();
      return { sentMs, stalledMs: stalledAt(sentMs) };
    },
    /** Returns the milliseconds since the mark in which this process ran. */
    since(mark: Mark): number {
      const now = nowMs();
      return now - mark.sentMs - (stalledAt(now) - mark.stalledMs);
    },
  };
}
