/** Longest work between two turns of the event loop, in milliseconds: half of the time that one request may block. */
const SLICE_MS = 10;

/** Counts the work done since the last turn of the event loop. */
export type Slices = {
  /** Yields to the event loop when the slice is used up. Before that it is a no-op (not even a microtask). */
  rest(): Promise<void> | undefined;
};

/** @param nowMs monotonic clock in milliseconds */
export function createSlices(nowMs: () => number): Slices {
  let startedMs = nowMs();
  return {
    rest() {
      if (nowMs() - startedMs < SLICE_MS) return undefined;
      return new Promise((resolve) => {
        setImmediate(() => {
          startedMs = nowMs();
          resolve();
        });
      });
    },
  };
}
