import { describe, expect, it } from 'vitest';
import { backoffMs } from '#service/liteserver/backoff.ts';

describe('the pause before the next attempt', () => {
  it('the pause doubles with each failure up to its bound', () => {
    const pauses = [1, 2, 3, 4, 5, 6, 60, 2_000].map((failures) => backoffMs(failures, 100, 1_000, () => 1));
    expect(pauses).toEqual([100, 200, 400, 800, 1_000, 1_000, 1_000, 1_000]);
  });

  it('the pause varies over its upper half', () => {
    expect([0, 0.5, 1].map((random) => backoffMs(2, 100, 1_000, () => random))).toEqual([100, 150, 200]);
  });
});
