/** Milliseconds between two looks at the clock. */
const LOOK_MS = 5;

/** Most milliseconds that count between two looks. */
const COUNTED_MS_MAX = 2 * LOOK_MS;

/**
 * Measures the milliseconds in which this process could run. A time in which it stood still, as on a busy machine, counts as at most two looks. Waits
 * count in full.
 */
export function startRunningTime(): { readonly ms: () => number; readonly stop: () => number } {
  let ranMs = 0;
  let lastMs = performance.now();
  const look = (): number => {
    const nowMs = performance.now();
    ranMs += Math.min(nowMs - lastMs, COUNTED_MS_MAX);
    lastMs = nowMs;
    return ranMs;
  };
  const timer = setInterval(look, LOOK_MS);
  return {
    ms: look,
    stop: () => {
      clearInterval(timer);
      return look();
    },
  };
}

/** Returns the milliseconds that a work took while this process could run. */
export async function runningMs(work: () => Promise<unknown>): Promise<number> {
  const time = startRunningTime();
  try {
    await work();
  } finally {
    time.stop();
  }
  return time.ms();
}
