import { describe, expect, test } from 'vitest';

import { defaultValidUntil, validUntilSeconds } from '#service/emulate/request/valid-until.ts';

describe('the end of a request', () => {
  test.each([
    ['seconds', 1_764_273_600n],
    ['milliseconds', 1_764_273_600_999n],
    ['microseconds', 1_764_273_600_999_999n],
    ['nanoseconds', 1_764_273_600_999_999_999n],
  ])('a time in %s is cut to seconds', (_unit, time) => {
    expect(validUntilSeconds(time)).toBe(1_764_273_600);
  });

  test.each([
    [0n, 0],
    [4_294_967_295n, 4_294_967_295],
    [4_294_967_296n, undefined],
    [999_999_999_999n, undefined],
    [1_000_000_000_000n, 1_000_000_000],
    [4_294_967_295_999n, 4_294_967_295],
    [4_294_967_296_000n, undefined],
    [1_000_000_000_000_000n, 1_000_000_000],
    [1_000_000_000_000_000_000n, 1_000_000_000],
    [2n ** 64n - 1n, undefined],
  ])('the size of %s decides its unit', (time, seconds) => {
    expect(validUntilSeconds(time)).toBe(seconds);
  });

  test('a request without a time ends five minutes after the time of the chain', () => {
    expect(defaultValidUntil(1_764_273_600)).toBe(1_764_273_900);
    expect(defaultValidUntil(4_294_967_290)).toBe(4_294_967_295);
  });
});
