import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { cachePath } from './cache.ts';

/** A download of some 100 MB on a slow line. */
const installMsMax = 600_000;

/**
 * Installs clients that are no dependency of the project, once for a machine, in the user's cache; their scripts do not run.
 * @param packages each with its exact version: `playwright-core@1.65.1`
 * @returns folder whose `node_modules` has them, or why there is none
 */
export async function installNpmPackages(
  packages: readonly string[],
): Promise<{ readonly folder: string } | { readonly missing: string }> {
  const cache = cachePath('npm');
  const folder = join(cache, createHash('sha256').update(packages.join(' ')).digest('hex').slice(0, 16));
  if (existsSync(folder)) return { folder };
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(join(cache, 'install-'));
  try {
    writeFileSync(join(made, 'package.json'), '{"private":true}');
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...packages];
    await promisify(execFile)('npm', args, { cwd: made, timeout: installMsMax });
    // Another test file may have been faster.
    if (!existsSync(folder)) renameSync(made, folder);
    return { folder };
  } catch (error) {
    return { missing: String(error).split('\n').slice(0, 2).join(' ') };
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}
