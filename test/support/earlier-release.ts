import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { projectRoot } from '#test/style/sources.ts';

import { skipLoudly } from './skips.ts';

/** Commit that upgrades start from: the last one before keys in Redis had the namespace. Its dependencies are those of today. */
const commit = 'e2366e47b043bc9981bdfe7a4df61149295056f8';

const parts = ['charts', 'crds', 'operator', 'service', 'package.json'] as const;

/** For `skipIf`: true, after a line on standard error, where the history of the repository does not reach back to the release. */
export function withoutEarlierRelease(what: string): boolean {
  return skipLoudly(!isInHistory(), { what, why: `the repository has no commit ${commit}` });
}

/** Charts and programs of the earlier release in a folder of their own. The programs run by the dependencies of today. */
export function extractEarlierRelease(): { readonly folder: string; close(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-release-'));
  const archive = join(folder, 'archive.tar');
  execFileSync('git', ['archive', '--output', archive, commit, ...parts], { cwd: projectRoot });
  execFileSync('tar', ['-xf', archive, '-C', folder]);
  rmSync(archive);
  symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
  return { folder, close: () => rmSync(folder, { recursive: true, force: true }) };
}

function isInHistory(): boolean {
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: projectRoot, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
