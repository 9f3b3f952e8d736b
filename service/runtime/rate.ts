/** Window of rates: a batch of the past takes seconds, and a rate must not jump with each batch. */
export const WINDOW_MS = 60_000;

/** The window in steps: memory does not depend on the pace. */
const STEP_MS = 1_000;

/** A pace of less time than this is no pace. */
const PACE_MS_MIN = 5_000;

/** Estimate from the pace of the remaining blocks; undefined when they did not become fewer. */
export function etaSeconds(history: readonly { readonly atMs: number; readonly left: number }[]): number | undefined {
  const [first] = history;
  const last = history.at(-1);
  if (first === undefined || last === undefined) return undefined;
  if (last.left === 0) return 0;
  const tookMs = last.atMs - first.atMs;
  const done = first.left - last.left;
  if (tookMs < PACE_MS_MIN || done <= 0) return undefined;
  return Math.round((last.left / done) * (tookMs / 1000));
}

/** A sum over the last window, in steps. */
export function createRate(startMs: number) {
  const steps = new Map<number, number>();

  return {
    add(atMs: number, count: number): void {
      const step = Math.floor(atMs / STEP_MS);
      steps.set(step, (steps.get(step) ?? 0) + count);
      for (const old of steps.keys()) if (old <= step - WINDOW_MS / STEP_MS) steps.delete(old);
    },
    perSecond(atMs: number): number {
      const oldest = Math.floor(atMs / STEP_MS) - WINDOW_MS / STEP_MS;
      let sum = 0;
      for (const [step, count] of steps) if (step > oldest) sum += count;
      const overMs = Math.max(STEP_MS, Math.min(WINDOW_MS, atMs - startMs));
      return Math.round((sum * 10_000) / overMs) / 10;
    },
  };
}

/** `1,234`. */
export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}

/** The two largest units of a time. */
export function duration(seconds: number): string {
  const units = [
    ['d', 86_400],
    ['h', 3_600],
    ['m', 60],
    ['s', 1],
  ] as const;
  const at = units.findIndex(([, size]) => seconds >= size);
  if (at === -1) return '0s';
  let rest = seconds;
  const parts = units.slice(at, at + 2).map(([unit, size]) => {
    const whole = Math.floor(rest / size);
    rest -= whole * size;
    return whole === 0 ? '' : `${whole}${unit}`;
  });
  return parts.filter(Boolean).join(' ');
}
