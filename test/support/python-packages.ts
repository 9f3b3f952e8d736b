import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { cachePath } from './cache.ts';

/** A download of some 10 MB on a slow line. */
const installMsMax = 180_000;

/**
 * Python with packages of PyPI, installed once for a machine.
 * @param packages each with its exact version: `tonutils==2.5.1`
 * @returns the interpreter, or why there is none
 */
export async function installPythonPackages(
  name: string,
  packages: readonly string[],
): Promise<{ readonly python: string } | { readonly missing: string }> {
  const folder = cachePath(name, packages.join(','));
  const python = join(folder, 'bin/python');
  if (existsSync(join(folder, 'ready'))) return { python };
  const run = promisify(execFile);
  try {
    await rm(folder, { recursive: true, force: true });
    await run('python3', ['-m', 'venv', folder], { timeout: installMsMax });
    const args = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages];
    await run(python, args, { timeout: installMsMax });
    await mkdir(join(folder, 'making'));
    await rename(join(folder, 'making'), join(folder, 'ready'));
    return { python };
  } catch (error) {
    return { missing: String(error).split('\n').slice(0, 3).join(' ') };
  }
}
