import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { matcherNames, matchers } from '#service/actions/families.ts';
import { projectRoot, readSources } from '#test/style/sources.ts';

it('The page of actions lists every matcher by its precedence', () => {
  const page = readFileSync(join(projectRoot, 'service/actions/README.md'), 'utf8');
  const table = page.slice(page.indexOf('## Matchers'), page.indexOf('## After matching'));
  const names = [...table.matchAll(/^\| (\w+\.\w+) \|/gm)].map(([, name]) => name);
  expect(names).toEqual(matcherNames);
});

it('Every matcher has its own precedence', () => {
  expect(new Set(matchers).size).toBe(matcherNames.length);
});

it('Every file that defines a family is in the list of families', () => {
  const list = readFileSync(join(projectRoot, 'service/actions/families.ts'), 'utf8');
  const forgotten = readSources('service/actions')
    .filter(({ text }) => / satisfies Family;/.test(text))
    .map(({ path }) => path.replace('service/actions/', './'))
    .filter((path) => !list.includes(`from '${path}';`));
  expect(forgotten).toEqual([]);
});
