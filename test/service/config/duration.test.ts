import { describe, expect, it } from 'vitest';

import { durationMs } from '#service/config/duration.ts';

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

  it.each(['', '10', 's', '10 s', '-1s', '1d', '1s1', '.5s', '1e3s', 'PT10S'])('%j is no duration', (text) => {
    expect(durationMs(text)).toBeUndefined();
  });
});
