/** When something was asked, and for how long this process had stood still until then. */
export type Mark = { readonly sentMs: number; readonly stalledMs: number };

/**
 * Tells how long an answer took from how long this process did not get to read it: on a machine with too little CPU a pod that was kept waiting for a
 * tenth of a second would else find its Redis slow, and all pods leave it by turns.
 *
 * @param tickMs how often `tick` is called while the process runs freely
 */
export function createStalls(tickMs: number, nowMs: () => number = () => performance.now()) {
  let lastMs = nowMs();
  let stalledMs = 0;
  /** What is longer than a tick since the last of them is a stall that may go on. */
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
    /** Milliseconds since the mark in which this process ran. */
    since(mark: Mark): number {
      const now = nowMs();
      return now - mark.sentMs - (stalledAt(now) - mark.stalledMs);
    },
  };
}
