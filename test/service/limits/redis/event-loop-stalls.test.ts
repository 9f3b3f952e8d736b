import { expect, it } from 'vitest';

import { createEventLoopStalls } from '#service/limits/redis/event-loop-stalls.ts';

const tickMs = 25;

/** Runs steps of `[milliseconds, ticks]` after a mark: the time passes first, then the ticks come. */
function sinceAfter(steps: readonly (readonly [number, number])[], markAfterMs = 0): number {
  let now = 1000;
  const stalls = createEventLoopStalls(tickMs, () => now);
  stalls.tick();
  now += markAfterMs;
  const mark = stalls.mark();
  for (const [ms, ticks] of steps) {
    now += ms;
    for (let tick = 0; tick < ticks; tick++) stalls.tick();
  }
  return stalls.since(mark);
}

const running = Array.from({ length: 8 }, () => [tickMs, 1] as const);

it.each([
  ['as long as it takes, while the process runs', running, 0, 200],
  ['one tick of a time in which the process stood still', [[900, 1]], 0, tickMs],
  ['one tick of a time in which it still stands', [[900, 0]], 0, tickMs],
  ['what is before and behind such a time', [...running, [700, 1], ...running], 0, 200 + tickMs + 200],
  ['all of a short time between two ticks', [[20, 0]], 5, 20],
] as const)('the time since a mark counts %s', (_what, steps, markAfterMs, expected) => {
  expect(sinceAfter(steps, markAfterMs)).toBe(expected);
});

it('the time since a mark is never more than has passed, nor less than none', () => {
  for (const markAfterMs of [0, 10, 24, 26, 400]) {
    const since = sinceAfter([[30, 1]], markAfterMs);
    expect(since).toBeGreaterThanOrEqual(0);
    expect(since).toBeLessThanOrEqual(30);
  }
});
