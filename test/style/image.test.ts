import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { projectRoot, serviceFlags } from '#test/support/service-flags.ts';

it('the image gives Node what npm start does', () => {
  const dockerfile = readFileSync(join(projectRoot, 'Dockerfile'), 'utf8');
  const [, entry = '[]'] = /^ENTRYPOINT (\[.*"dist\/main\.js"\])$/m.exec(dockerfile) ?? [];
  expect(serviceFlags.length).toBeGreaterThan(0);
  expect(JSON.parse(entry)).toEqual(expect.arrayContaining([...serviceFlags]));
});
