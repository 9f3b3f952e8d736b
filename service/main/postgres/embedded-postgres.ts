import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import type { Logger } from 'pino';

import { makeFolder } from '#service/runtime/make-folder.ts';
import { StartError } from '../errors.ts';
import { freePort } from './free-port.ts';
import { postgresAccount } from './postgres-binaries.ts';

/** Embedded Postgres server on loopback. It is restarted when it ends by itself. It ends with this process, even after a kill. */
export type EmbeddedPostgres = {
  /** With the superuser's password: a secret. */
  readonly url: string;
  /** The same server over a Unix socket. On loopback, long answers to a busy reader stalled for 50 to 90 ms. */
  readonly socketUrl: string;
  close(): Promise<void>;
};

export type EmbeddedPostgresOptions = {
  /** Folder of the programs, of `postgresBinaries`. */
  readonly bin: string;
  /** Folder of the data; undefined: a temporary folder that is removed with the server. */
  readonly folder?: string | undefined;
  /** Further settings, `name=value`. */
  readonly settings?: readonly string[];
};

/** Settings for an index on a laptop, which can be rebuilt from its blocks. */
const ownSettings = [
  'listen_addresses=127.0.0.1',
  // A crash of the machine may lose writes of the last half second, but never tears them. The indexer writes them again.
  'synchronous_commit=off',
  'wal_level=minimal',
  'max_wal_senders=0',
];

/** A first start on a busy machine took 3 s. A start past this limit has failed. */
const START_TIMEOUT_MS = 60_000;

/** Another program may take a port between our check and the server's start. */
const ATTEMPTS_MAX = 5;

/** The server of a killed process ends within a second; then its folder is free. */
const LOCKED_MS = 10_000;
const LOCKED_EVERY_MS = 100;

/** Delay and limit of restarts after a server ended by itself. Its last processes may need some of that time to end. */
const RESTART_MS = 500;
const RESTARTS_MAX = 20;

/** A clean end takes a checkpoint. A longer end is cut, and the next start recovers. */
const CLOSE_MS = 1000;

/** Last characters of the server's output in an error. */
const TAIL_LENGTH_MAX = 2000;

/**
 * Replaces itself with the server. A watcher process, which no signal of a terminal reaches, waits for the end of our pipe. If this process
 * is killed, the watcher stops the server and removes its socket's folder. It waits ten seconds at most, because a server that no process
 * reaps stays a zombie forever. The pipe is not the standard input, which the runtime closes with the server.
 */
const script = `
( (
  read -r word <&3
  [ -z "$word" ] || exit 0
  kill -INT $$
  tenths=0
  while kill -0 $$ && [ $tenths -lt 100 ]; do sleep 0.1; tenths=$((tenths + 1)); done
  rm -rf -- "$1"
) >/dev/null 2>&1 & )
exec 3<&-
shift
exec "$@"
`;

/**
 * Starts the server. The first start in a folder takes about a second more.
 *
 * @throws StartError `postgres_failed` with the server's last output
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
  { logger }: { readonly logger?: Logger } = {},
): Promise<EmbeddedPostgres> {
  const place = options.folder === undefined ? temporaryPlace() : keptPlace(options.folder);
  try {
    const password = await initialized(options.bin, place);
    const { child, port } = await started(options, place);
    const urlAt = (host: string): string => `postgres://postgres:${password}@${host}:${port}/postgres`;
    const url = urlAt('127.0.0.1');
    const running = keepRunning(child, () => launch(options, place, port), logger);
    writeFileSync(join(place.folder, 'url'), `${url}\n`, { mode: 0o600 });
    return {
      url,
      socketUrl: urlAt(encodeURIComponent(place.passing)),
      async close() {
        await running.close(place.temporary ? 'SIGQUIT' : 'SIGINT');
        rmSync(place.passing, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(place.passing, { recursive: true, force: true });
    throw error;
  }
}

type Place = {
  readonly folder: string;
  readonly temporary: boolean;
  /**
   * Folder that is removed with the server and contains its socket. A temporary folder itself, else a folder with a name short enough for
   * sockets.
   */
  readonly passing: string;
};

function temporaryPlace(): Place {
  const folder = passingFolder();
  return { folder, temporary: true, passing: folder };
}

function passingFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-postgres-'));
  give(folder);
  return folder;
}

function keptPlace(path: string): Place {
  const folder = resolve(path);
  makeFolder(folder);
  chmodSync(folder, 0o700);
  give(folder);
  return { folder, temporary: false, passing: passingFolder() };
}

/** Makes a file or folder the server's. */
function give(path: string): void {
  const account = postgresAccount();
  if (account !== undefined) chownSync(path, account.uid, account.gid);
}

/**
 * Returns the data folder's path for the server. The server's account may be unable to enter root's folders. A process that starts inside
 * the folder may stay there.
 */
function named(data: string): string {
  return postgresAccount() === undefined || process.platform !== 'linux' ? data : '/proc/self/cwd';
}

/** Creates the data unless present. Returns the superuser's password. */
async function initialized(bin: string, { folder }: Place): Promise<string> {
  const [data, passwordFile] = [join(folder, 'data'), join(folder, 'password')];
  if (existsSync(data)) return readFileSync(passwordFile, 'utf8').trim();
  const password = randomBytes(24).toString('base64url');
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  give(passwordFile);
  // Under another name until it is whole.
  const fresh = join(folder, 'data.new');
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { mode: 0o700 });
  give(fresh);
  const args = [
    '-U',
    'postgres',
    '-A',
    'scram-sha-256',
    '--pwfile=../password',
    '-E',
    'UTF8',
    '--locale=C',
    '--no-sync',
  ];
  try {
    await promisify(execFile)(join(bin, 'initdb'), ['-D', named(fresh), ...args], { cwd: fresh, ...postgresAccount() });
  } catch (cause) {
    throw failed(cause instanceof Error ? cause.message.slice(0, TAIL_LENGTH_MAX) : 'initdb failed', cause);
  }
  renameSync(fresh, data);
  return password;
}

type Started = { readonly child: ChildProcess; readonly port: number };

async function started(options: EmbeddedPostgresOptions, place: Place): Promise<Started> {
  const deadlineMs = performance.now() + LOCKED_MS;
  for (let attempt = 1; ;) {
    const port = await freePort();
    const outcome = await launch(options, place, port);
    if (typeof outcome !== 'string') return { child: outcome, port };
    const isLocked = /"postmaster.pid" already exists|shared memory block .* still in use/.test(outcome);
    const isTaken = outcome.includes('Address already in use');
    if (isLocked ? performance.now() > deadlineMs : !isTaken || attempt++ === ATTEMPTS_MAX) throw failed(outcome);
    await sleep(LOCKED_EVERY_MS);
  }
}

/** Returns the running server, or the last output of a server that ended. */
async function launch(
  { bin, settings = [] }: EmbeddedPostgresOptions,
  { folder, temporary, passing }: Place,
  port: number,
): Promise<ChildProcess | string> {
  const data = join(folder, 'data');
  const where = [`port=${port}`, `unix_socket_directories=${passing}`];
  const all = [...ownSettings, ...where, ...(temporary ? ['fsync=off'] : []), ...settings];
  const command = [join(bin, 'postgres'), '-D', named(data), ...all.flatMap((setting) => ['-c', setting])];
  const child = spawn('/bin/sh', ['-c', script, 'postgres', passing, ...command], {
    ...postgresAccount(),
    cwd: data,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  pipeOf(child)?.on('error', () => undefined);
  let tail = '';
  const { promise, resolve: settle } = Promise.withResolvers<'ready' | 'ended' | 'late'>();
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-TAIL_LENGTH_MAX);
    if (/ready to accept (read-only )?connections/.test(text)) settle('ready');
  });
  child.once('error', () => settle('ended'));
  child.once('exit', () => settle('ended'));
  const timer = setTimeout(settle, START_TIMEOUT_MS, 'late');
  const outcome = await promise;
  clearTimeout(timer);
  if (outcome === 'late') await stop(child, 'SIGQUIT');
  return outcome === 'ready' ? child : tail;
}

/** Restarts the server when it ends by itself, on the port that its clients use. */
function keepRunning(first: ChildProcess, start: () => Promise<ChildProcess | string>, logger: Logger | undefined) {
  let child = first;
  let closing = false;
  let restarting = Promise.resolve();

  async function restart(): Promise<void> {
    release(child);
    logger?.error("the index's Postgres ended and is started again");
    for (let attempt = 1; ; attempt++) {
      await sleep(RESTART_MS);
      if (closing) return;
      const outcome = await start();
      if (typeof outcome !== 'string') {
        child = outcome;
        watch();
        return;
      }
      if (attempt < RESTARTS_MAX) continue;
      logger?.error({ said: outcome.trim() }, "the index's Postgres does not start again");
      return;
    }
  }

  const watch = (): void => {
    child.once('exit', () => {
      if (!closing) restarting = restart();
    });
  };
  watch();
  return {
    async close(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
      closing = true;
      await restarting;
      await stop(child, signal);
    },
  };
}

function pipeOf({ stdio }: ChildProcess): Writable | undefined {
  return (stdio[3] ?? undefined) as Writable | undefined;
}

/** Releases the watcher process, which then does nothing. */
function release(child: ChildProcess): void {
  pipeOf(child)?.end('ended\n');
}

/** SIGINT is a clean end that cuts sessions, SIGQUIT the end at once. */
async function stop(child: ChildProcess, signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
  release(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((done) => child.once('exit', done));
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGQUIT'), CLOSE_MS);
  await ended;
  clearTimeout(timer);
}

function failed(said: string, cause?: unknown): StartError {
  const reason = said.trim();
  return new StartError({
    code: 'postgres_failed',
    message: `the Postgres of the index does not start: ${reason}. Use --no-index to run without it, or --postgres-url for another Postgres`,
    data: { reason },
    retryable: false,
    cause,
  });
}
