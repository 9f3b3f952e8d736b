/** Longest stretch of work between two turns of the event loop, in milliseconds: half of what one request may block. */
const sliceMs = 10;

/** Counts the work done since the last turn of the event loop. */
export type Slices = {
  /** Gives the event loop a turn when the slice is used up; a no-op (not even a microtask) before. */
  rest(): Promise<void> | undefined;
};

/** @param nowMs monotonic clock in milliseconds */
export function createSlices(nowMs: () => number): Slices {
  let startedMs = nowMs();
  return {
    rest() {
      if (nowMs() - startedMs < sliceMs) return undefined;
      return new Promise((resolve) => {
        setImmediate(() => {
          startedMs = nowMs();
          resolve();
        });
      });
    },
  };
}
