import { describe, expect, it } from 'vitest';

import { durationMs, readDurationMs } from '#service/config/duration.ts';

describe('a duration', () => {
  it.each([
    ['10s', 10_000],
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['250ms', 250],
    ['100us', 0.1],
    ['100µs', 0.1],
    ['1h0m0.5s', 3_600_500],
    ['0', 0],
  ])('the duration %s is %d ms', (text, expected) => {
    expect(durationMs(text)).toBeCloseTo(expected, 9);
  });

  it.each([
    '',
    '10',
    's',
    '10 s',
    '-1s',
    '1d',
    '1s1',
    '.5s',
    '1e3s',
    'PT10S',
    '30d',
    '1 day',
    '1h 30m',
    '1H',
    '2562048h',
  ])('%j is no duration', (text) => {
    expect(durationMs(text)).toBeUndefined();
  });

  it('is never 0 in place of a text that is no duration', () => {
    expect(readDurationMs('1m30s')).toBe(90_000);
    expect(() => readDurationMs('30d')).toThrow(new RangeError('expected a duration as 10s or 1m30s, got 30d'));
  });

  it('has at most the 292 years of the API server', () => {
    expect(durationMs('2562047h')).toBe(2_562_047 * 3_600_000);
    expect(durationMs('9999999999999999h')).toBeUndefined();
  });
});
