import { expect, test } from 'vitest';

import { createHeadTimes } from '#service/pool/head-times.ts';

test('the lag in time is that of the first missing block', () => {
  let nowMs = 0;
  const times = createHeadTimes({ now: () => nowMs });
  expect(times.lagMs(5)).toBe(0);
  for (const seqno of [10, 11, 13]) {
    times.add(seqno);
    nowMs += 1_000;
  }
  expect(times.lagMs(13)).toBe(0);
  expect(times.lagMs(12)).toBe(1_000);
  expect(times.lagMs(10)).toBe(2_000);
  expect(times.lagMs(3)).toBe(3_000);
});
