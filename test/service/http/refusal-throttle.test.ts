import { beforeEach, expect, it, vi } from 'vitest';

import { createRefusalThrottle } from '#service/http/refusal-throttle.ts';

const { signal } = new AbortController();

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  return () => vi.useRealTimers();
});

const nowMs = (): number => performance.now();

/** How many of a caller's refusals, all at once, are told at once. */
function promptOf(pacing: ReturnType<typeof createRefusalThrottle>, caller: string, count: number): number {
  return Array.from({ length: count }, () => pacing.wait(caller, signal)).filter((held) => held === undefined).length;
}

it('sends the first hundred refusals of each caller in a second at once, and delays the rest', () => {
  const pacing = createRefusalThrottle(nowMs);
  expect(promptOf(pacing, 'one', 150)).toBe(100);
  expect(promptOf(pacing, 'other', 100)).toBe(100);
});

it('begins again with every second', async () => {
  const pacing = createRefusalThrottle(nowMs);
  promptOf(pacing, 'one', 100);
  expect(pacing.wait('one', signal)).toBeInstanceOf(Promise);
  await vi.advanceTimersByTimeAsync(1000);
  expect(pacing.wait('one', signal)).toBeUndefined();
});

it('delays 256 at most, and further refusals once those are sent', async () => {
  const pacing = createRefusalThrottle(nowMs);
  expect(promptOf(pacing, 'one', 1000)).toBe(1000 - 256);
  await vi.advanceTimersByTimeAsync(1000);
  expect(promptOf(pacing, 'one', 1000)).toBe(1000 - 256);
});

it('ends a wait whose caller has gone', async () => {
  const pacing = createRefusalThrottle(nowMs);
  promptOf(pacing, 'one', 100);
  const leaving = new AbortController();
  const held = pacing.wait('one', leaving.signal);
  leaving.abort();
  await expect(held).resolves.toBeUndefined();
});
