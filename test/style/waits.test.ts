import { expect, it } from 'vitest';

import { readSources } from './sources.ts';

/** Narrowest bound of a test, a hook or a poll, in milliseconds: the default of a poll ([vitest.config.ts](../../vitest.config.ts)). */
const leastMs = 60_000;

/** Bounds at the end of a test or hook, and of a poll. Numbers below 1,000 are other things. */
const bounds = [
  /^\s*\}, (\d+_\d{3})\);$/gm,
  /^\s*\},\n\s*(\d+_\d{3}),\n\s*\);$/gm,
  /\{ timeout: (\d{4,}|\d+_\d{3})\b/g,
];

const tests = readSources(
  'test/service',
  'test/operator',
  'test/crds',
  'test/charts',
  'test/e2e',
  'test/support',
).filter(({ path }) => path.endsWith('.test.ts'));

it('A test, a hook and a poll have a bound of a minute or more: a busy machine meets a narrower one', () => {
  const narrow = tests.flatMap(({ path, text }) =>
    bounds.flatMap((bound) =>
      [...text.matchAll(bound)]
        .filter(([, number = '']) => Number(number.replaceAll('_', '')) < leastMs)
        .map(([found]) => `${path}: ${found.replaceAll(/\s+/g, ' ')}`),
    ),
  );
  expect(narrow).toEqual([]);
});
