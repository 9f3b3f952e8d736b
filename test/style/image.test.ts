import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { projectRoot, serviceFlags } from '#test/support/service-flags.ts';

const dockerfile = readFileSync(join(projectRoot, 'Dockerfile'), 'utf8');

it('the image gives Node what npm start does, where a role can replace it', () => {
  const [, options = ''] = /^ENV .*\bNODE_OPTIONS=(\S+)/m.exec(dockerfile) ?? [];
  expect(serviceFlags.length).toBeGreaterThan(0);
  expect(options.split(' ')).toEqual(serviceFlags);
});

it('the image gives the service no option on the command line that would win over those', () => {
  const [, entry = '[]'] = /^ENTRYPOINT (\[.*"dist\/main\.js"\])$/m.exec(dockerfile) ?? [];
  const [program, ...words] = JSON.parse(entry) as string[];
  expect(program).toBe('node');
  const replaceable = serviceFlags.map(nameOf);
  expect(words.filter((word) => replaceable.includes(nameOf(word)))).toEqual([]);
});

function nameOf(option: string): string {
  return option.split('=')[0]!;
}
