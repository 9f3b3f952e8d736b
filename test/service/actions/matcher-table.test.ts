import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { matchers } from '#service/actions/matchers.ts';
import { projectRoot } from '#test/style/sources.ts';

it('The page of actions lists every matcher by its number', () => {
  const page = readFileSync(join(projectRoot, 'service/actions/README.md'), 'utf8');
  const numbers = [...page.matchAll(/^\| (\d+) \|/gm)].map(([, number]) => Number(number));
  expect(numbers).toEqual(matchers.map((_matcher, at) => at + 1));
});
