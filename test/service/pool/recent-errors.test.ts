import { expect, test } from 'vitest';

import { createRecentErrors } from '#service/pool/recent-errors.ts';

test('the last errors are listed, newest first, and consecutive equal ones as one with its number', () => {
  let nowMs = 0;
  const recent = createRecentErrors({ now: () => (nowMs += 1) });
  recent.add('timeout', 'a');
  recent.add('timeout', 'a');
  recent.add('pruned', 'b');
  recent.add('timeout', 'a');
  expect(recent.list()).toEqual([
    { atMs: 4, outcome: 'timeout', text: 'a', count: 1 },
    { atMs: 3, outcome: 'pruned', text: 'b', count: 1 },
    { atMs: 2, outcome: 'timeout', text: 'a', count: 2 },
  ]);
});

test('a lite server that sends ever new and long texts fills no memory', () => {
  const recent = createRecentErrors({ now: () => 0 });
  for (let turn = 0; turn < 100; turn += 1) recent.add('protocol', `${turn} ${'x'.repeat(10_000)}`);
  expect(recent.list()).toHaveLength(8);
  expect(Math.max(...recent.list().map(({ text }) => text.length))).toBe(200);
});
