import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { projectRoot } from './sources.ts';

type Lockfile = { packages: Record<string, { resolved?: string; optionalDependencies?: Record<string, string> }> };

const lockfile = JSON.parse(readFileSync(join(projectRoot, 'package-lock.json'), 'utf8')) as Lockfile;
const paths = Object.keys(lockfile.packages);

describe('the lockfile', () => {
  it('holds the binaries of every platform, without which a clean install refuses it', () => {
    const names = new Set(paths.map((path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)));
    const missing = paths.flatMap((path) =>
      Object.keys(lockfile.packages[path]?.optionalDependencies ?? {}).filter((name) => !names.has(name)),
    );
    expect(missing).toEqual([]);
  });

  it('names no registry, so that it installs from any mirror', () => {
    expect(paths.filter((path) => lockfile.packages[path]?.resolved !== undefined)).toEqual([]);
  });
});
