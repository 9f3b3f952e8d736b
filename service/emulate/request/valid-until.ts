import { invalid } from '#service/contract/errors.ts';
import type { OptionalParameter } from '#service/contract/parameter.ts';
import { validUntilSeconds } from '../ton-connect/valid-until.ts';

/** Digits of an unsigned integer of 64 bits. */
const DIGITS_MAX = 20;

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
  input: { name: 'ValidUntil', schema: { type: ['integer', 'null'], minimum: 0 } },
};

function readTime(raw: unknown): bigint | undefined {
  const isDigits = typeof raw === 'string' && raw.length <= DIGITS_MAX && /^\d+$/.test(raw);
  if (isDigits || typeof raw === 'bigint' || Number.isInteger(raw)) {
    const time = BigInt(raw as string | bigint | number);
    return time < 0n ? undefined : time;
  }
  return undefined;
}
