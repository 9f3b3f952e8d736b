import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

import { cachePath } from '#test/support/cache.ts';

const pytoniqPackages = ['pytoniq==0.1.43', 'pytoniq-core==0.2.1'];

/** A download of some 3 MB on a slow line. */
const installMsMax = 120_000;

/** Findings of ask-pytoniq.py; hashes are in hex. */
export type PytoniqAnswer = {
  readonly seqno: number;
  readonly rootHash: string;
  readonly balance: string;
  readonly transactions: readonly string[];
  readonly method: readonly number[];
};

/** Python with pytoniq, installed once for a machine; a string says why there is none. */
export async function installPytoniq(): Promise<{ python: string } | { missing: string }> {
  const folder = cachePath('pytoniq', pytoniqPackages.join(','));
  const python = join(folder, 'bin/python');
  if (existsSync(join(folder, 'ready'))) return { python };
  const run = promisify(execFile);
  try {
    await rm(folder, { recursive: true, force: true });
    await run('python3', ['-m', 'venv', folder], { timeout: installMsMax });
    const args = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...pytoniqPackages];
    await run(python, args, { timeout: installMsMax });
    await mkdir(join(folder, 'making'));
    await rename(join(folder, 'making'), join(folder, 'ready'));
    return { python };
  } catch (error) {
    return { missing: String(error).split('\n').slice(0, 3).join(' ') };
  }
}

/** @throws Error with what pytoniq says */
export async function askPytoniq(
  python: string,
  question: { readonly config: object; readonly wallet: string; readonly transactions: boolean },
): Promise<PytoniqAnswer> {
  const child = spawn(python, [join(import.meta.dirname, 'ask-pytoniq.py')], { stdio: 'pipe' });
  const ended = new Promise<number | null>((done) => child.once('close', done));
  child.stdin.end(JSON.stringify(question));
  const [answer, complaint, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) throw new Error(`pytoniq: ${complaint.slice(-4000)}`);
  return JSON.parse(answer) as PytoniqAnswer;
}
