import { describe, expect, test } from 'vitest';

import { createBudget } from '#service/pool/budget.ts';
import { createHedging } from '#service/pool/hedging.ts';

describe('a budget of extra queries', () => {
  test('a budget lends its burst, then a part of the reads', () => {
    const budget = createBudget({ perRead: 0.1, perSecond: 0, burst: 5 }, { now: () => 0 });
    let extra = 0;
    for (let read = 0; read < 1_000; read += 1) {
      budget.earn();
      if (budget.take()) extra += 1;
    }
    expect(extra).toBeGreaterThanOrEqual(99);
    expect(extra).toBeLessThanOrEqual(105);
  });

  test('a budget earns by time as well, never more than its burst', () => {
    let nowMs = 0;
    const budget = createBudget({ perRead: 0, perSecond: 2, burst: 3 }, { now: () => nowMs });
    const takeAll = (): number => {
      let taken = 0;
      while (budget.take()) taken += 1;
      return taken;
    };
    expect(takeAll()).toBe(3);
    nowMs += 1_000;
    expect(takeAll()).toBe(2);
    nowMs += 3_600_000;
    expect(takeAll()).toBe(3);
  });
});

describe('the delay before a hedge', () => {
  const bounds = { msMin: 30, msMax: 500 };

  test('the delay is the longest until there are enough answers', () => {
    const hedging = createHedging(bounds);
    for (let i = 0; i < 19; i += 1) hedging.observe('getBlock', 100);
    expect(hedging.delayMs('getBlock')).toBe(500);
    hedging.observe('getBlock', 100);
    expect(hedging.delayMs('getBlock')).toBeLessThan(121);
  });

  test.each([
    [2, 30],
    [100, 119],
    [3_000, 500],
  ])("the delay follows the function's own latency of %d ms within its bounds", (latencyMs, expectedMs) => {
    const hedging = createHedging(bounds);
    for (let i = 0; i < 90; i += 1) hedging.observe('getAccountState', latencyMs);
    for (let i = 0; i < 8; i += 1) hedging.observe('getAccountState', 9_000);
    expect(hedging.delayMs('getAccountState')).toBeGreaterThanOrEqual(Math.min(latencyMs, expectedMs));
    expect(hedging.delayMs('getAccountState')).toBeLessThanOrEqual(expectedMs * 1.2);
    expect(hedging.delayMs('getBlock')).toBe(500);
  });
});
