import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { indexNodeOptions } from '#operator/desired/pod.ts';
import { projectRoot } from '#test/support/service-flags.ts';

/** Names of all options that this V8 has, with `-` in place of `_`. */
function optionsOfV8(): ReadonlySet<string> {
  const text = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 });
  return new Set([...text.matchAll(/^ +--([\w-]+)/gm)].map(([, name]) => name!.replaceAll('_', '-')));
}

/** Names of options in a text, without `no-`. */
function optionsIn(text: string): string[] {
  return [...text.matchAll(/--(?:no-)?([a-z]+(?:-[a-z0-9]+)*)/g)].map(([, name]) => name!);
}

/** Options that the images give to Node, by their environment and their commands. */
function optionsOfImages(): string {
  const text = readFileSync(join(projectRoot, 'Dockerfile'), 'utf8');
  const found = text.matchAll(/NODE_OPTIONS=(\S+)|"node"((?:, "--[^"]+")+)/g);
  return [...found].map(([, environment, command]) => environment ?? command).join(' ');
}

describe('the options of V8', () => {
  const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };

  it.each([
    ['that the service sets', readFileSync(join(projectRoot, 'service/main/v8-flags.ts'), 'utf8'), 6],
    ['of `npm start`', scripts['start']!, 1],
    ['of `npm run bench`', scripts['bench']!, 1],
    ['of the images', optionsOfImages(), 4],
    ['that the operator gives to processes of the index', indexNodeOptions, 1],
  ])('%s exist in this version of Node, so that none is ignored', (_whose, text, atLeast) => {
    const known = new Set([...optionsOfV8(), ...optionsIn([...process.allowedNodeEnvironmentFlags].join(' '))]);
    const used = optionsIn(text);
    expect(used.length).toBeGreaterThanOrEqual(atLeast);
    expect(used.filter((name) => !known.has(name))).toEqual([]);
  });
});
