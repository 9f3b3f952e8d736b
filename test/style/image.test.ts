import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { projectRoot, serviceFlags } from '#test/support/service-flags.ts';

const dockerfile = readFileSync(join(projectRoot, 'Dockerfile'), 'utf8');
const { dependencies, scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
  scripts: Record<string, string>;
};

it('each image begins from one base, which has the version of Node that the tests run on and a digest', () => {
  const [, base = ''] = /^ARG BASE=(\S+)$/m.exec(dockerfile) ?? [];
  const [, version, digest] = /^node:([\d.]+)-[a-z]+-slim@sha256:([0-9a-f]{64})$/.exec(base) ?? [];
  expect(digest).toBeDefined();
  expect(version).toBe(dependencies['node']);
  const stages = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, from]) => from);
  expect(stages).toEqual(['${BASE}', '${BASE}', '${BASE}']);
});

it('an image that ships holds nothing but what the build made, a bill of materials among it', () => {
  const copied = [...dockerfile.matchAll(/^COPY (.+)$/gm)].map(([, words = '']) => words);
  const intoImages = copied.filter((words) => words.startsWith('--from=build'));
  expect(intoImages).toEqual([
    '--from=build /src/dist/operator.js /src/dist/kubectl-ton.js /src/dist/sbom.cdx.json dist/',
    '--from=build /src/dist dist',
  ]);
  expect(copied.filter((words) => /\btest\b/.test(words))).toEqual([]);
  expect(scripts['build']).toMatch(/npm sbom .*> dist\/sbom\.cdx\.json$/);
});

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
