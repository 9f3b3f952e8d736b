import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { projectRoot } from './sources.ts';

type Dependencies = Record<string, string>;

type Package = {
  resolved?: string;
  integrity?: string;
  link?: boolean;
  dependencies?: Dependencies;
  devDependencies?: Dependencies;
  optionalDependencies?: Dependencies;
};

type Lockfile = { packages: Record<string, Package> };

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

  it('holds a SHA-512 of every package, which a clean install checks', () => {
    const root = '';
    const digest = /^sha512-[A-Za-z0-9+/]{86}==$/;
    const unchecked = paths.filter((path) => path !== root && !digest.test(lockfile.packages[path]?.integrity ?? ''));
    expect(paths.length).toBeGreaterThan(1);
    expect(unchecked).toEqual([]);
  });

  it('takes every dependency from a registry: no URL, repository, folder or link', () => {
    const foreign = paths.flatMap((path) => {
      const { link, dependencies, devDependencies, optionalDependencies } = lockfile.packages[path]!;
      const wanted = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
      const elsewhere = wanted.filter(([, range]) => /[/:]/.test(range.replace(/^npm:(@[^/]+\/)?/, '')));
      return link === true || elsewhere.length > 0 ? [[path, ...elsewhere.map(([name]) => name)]] : [];
    });
    expect(foreign).toEqual([]);
  });
});
