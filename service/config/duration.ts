const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const DURATION = /^(?:\d+(?:\.\d+)?(?:ns|us|µs|μs|ms|s|m|h))+$/;

/** Longest duration of Go, and so of the API server: the most nanoseconds in 63 bits, some 292 years. */
const DURATION_MAX_MS = 2 ** 63 / 1e6;

/** Returns the milliseconds of a duration in Kubernetes' form (`10s`, `1m30s`, `1.5h`); undefined for other text. */
export function durationMs(text: string): number | undefined {
  if (text === '0') return 0;
  if (!DURATION.test(text)) return undefined;
  const ms = [...text.matchAll(/(\d+(?:\.\d+)?)(\D+)/g)].reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * (unitMs[unit ?? ''] ?? 0),
    0,
  );
  return ms < DURATION_MAX_MS ? ms : undefined;
}

/**
 * Returns the milliseconds of a duration that was checked before.
 *
 * @throws RangeError for other text: no value may silently count as 0
 */
export function readDurationMs(text: string): number {
  const ms = durationMs(text);
  if (ms === undefined) throw new RangeError(`expected a duration as 10s or 1m30s, got ${text}`);
  return ms;
}
