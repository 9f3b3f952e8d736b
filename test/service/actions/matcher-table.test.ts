import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { actionTypes, CLASSIFICATION_VERSION, matcherNames, matchers } from '#service/actions/families.ts';
import { projectRoot } from '#test/style/sources.ts';

it('The page of actions lists every matcher by its precedence', () => {
  const page = readFileSync(join(projectRoot, 'service/actions/README.md'), 'utf8');
  const table = page.slice(page.indexOf('## Matchers'), page.indexOf('## After matching'));
  const names = [...table.matchAll(/^\| (\w+\.\w+) \|/gm)].map(([, name]) => name);
  expect(names).toEqual(matcherNames);
});

it('Every matcher has its own precedence', () => {
  expect(new Set(matchers).size).toBe(matcherNames.length);
});

it('A change of types or matchers has a version of its own', () => {
  const content = JSON.stringify([[...actionTypes.keys()].toSorted(), matcherNames]);
  // A difference asks for a higher version, or for the new hash alone where no row changes.
  expect([CLASSIFICATION_VERSION, createHash('sha256').update(content).digest('hex').slice(0, 16)]).toEqual([
    6,
    '587cc72cbb0ea0ed',
  ]);
});
