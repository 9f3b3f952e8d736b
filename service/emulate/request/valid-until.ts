import { invalid } from '#service/contract/errors.ts';
import type { OptionalParameter } from '#service/contract/parameter.ts';
import { readDigits } from './digits.ts';

/** Most of 32 bits, in Unix seconds. */
const SECONDS_MAX = 2n ** 32n - 1n;

/** Units finer than seconds: the least time that counts as one of the unit, and the parts of a second. */
const UNITS = [
  [10n ** 18n, 10n ** 9n],
  [10n ** 15n, 10n ** 6n],
  [10n ** 12n, 10n ** 3n],
] as const;

/** Seconds from the time of the chain to the end of a request without a time of its own. */
const DEFAULT_SECONDS = 300;

/** Time in seconds, milliseconds, microseconds or nanoseconds, as a number or as digits. The value is in Unix seconds. */
export const validUntil: OptionalParameter<number> = {
  name: 'valid_until',
  missing: undefined,
  emptyIsAbsent: true,
  parse(raw) {
    const time = readTime(raw);
    if (time === undefined) throw invalid('valid_until must be a Unix time', 'valid_until');
    const seconds = validUntilSeconds(time);
    if (seconds === undefined) throw invalid('valid_until has more than 32 bits in seconds', 'valid_until');
    return seconds;
  },
  check: () => undefined,
  input: { name: 'ValidUntil', schema: { type: 'integer', minimum: 0 } },
};

function readTime(raw: unknown): bigint | undefined {
  if (typeof raw === 'string') return readDigits(raw, 64);
  const time = typeof raw === 'number' && Number.isInteger(raw) ? BigInt(raw) : raw;
  return typeof time === 'bigint' && time >= 0n ? time : undefined;
}

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

/** @param networkTime of the chosen block, Unix seconds */
export function defaultValidUntil(networkTime: number): number {
  return Math.min(networkTime + DEFAULT_SECONDS, Number(SECONDS_MAX));
}
