/** Most of 32 bits, in Unix seconds. */
const SECONDS_MAX = 2n ** 32n - 1n;

/** Units finer than seconds: the least time that counts as one of the unit, and the parts of a second. */
const UNITS = [
  [10n ** 18n, 10n ** 9n],
  [10n ** 15n, 10n ** 6n],
  [10n ** 12n, 10n ** 3n],
] as const;

/**
 * Reads the time until which a request is valid. Its size says whether it is in seconds, milliseconds, microseconds or nanoseconds.
 * Returns Unix seconds, the fraction cut; undefined for a time that has more than 32 bits as seconds.
 * @param time not negative
 */
export function validUntilSeconds(time: bigint): number | undefined {
  const parts = UNITS.find(([least]) => time >= least)?.[1] ?? 1n;
  const seconds = time / parts;
  return seconds > SECONDS_MAX ? undefined : Number(seconds);
}

/** Seconds from the time of the chain to the end of a request without a time of its own. */
const DEFAULT_SECONDS = 300;

/** @param networkTime of the chosen block, Unix seconds */
export function defaultValidUntil(networkTime: number): number {
  return Math.min(networkTime + DEFAULT_SECONDS, Number(SECONDS_MAX));
}
