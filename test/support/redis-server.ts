import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';

import { freePort } from './ports.ts';

/** A running Redis for tests. */
export type RedisServer = { readonly url: string; close(): Promise<void> };

const startTimeoutMs = 10_000;
/** Debian's mirrors answer within seconds; a machine without them must not hang the tests. */
const installTimeoutMs = 180_000;

/**
 * The server at `REDIS_URL`, else a `redis-server` from PATH on a free port of loopback, without a disk; root on Debian
 * installs the package first. Undefined when none is to be had here: what needs Redis is then skipped, loudly.
 */
export async function startRedis(): Promise<RedisServer | undefined> {
  const given = process.env['REDIS_URL'];
  if (given !== undefined && given !== '') return { url: given, close: () => Promise.resolve() };
  if (!inPath() && !(canInstall() && install())) return undefined;
  const port = await freePort();
  const child = spawn(
    'redis-server',
    ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--daemonize', 'no'],
    { stdio: 'ignore' },
  );
  const url = `redis://127.0.0.1:${port}`;
  await untilReady(url, child);
  return { url, close: () => stop(child) };
}

function inPath(): boolean {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function canInstall(): boolean {
  return process.getuid?.() === 0 && existsSync('/etc/debian_version');
}

function install(): boolean {
  // The package would start a server of its own: policy-rc.d is for images, `--no-install-recommends` keeps it small.
  const options = {
    timeout: installTimeoutMs,
    stdio: 'ignore' as const,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
  };
  try {
    execFileSync('apt-get', ['update'], options);
    execFileSync('apt-get', ['install', '-y', '--no-install-recommends', 'redis-server'], options);
    return inPath();
  } catch {
    return false;
  }
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  const client = new Redis(url, { retryStrategy: () => 50, maxRetriesPerRequest: null });
  // A refused connection is retried until the server listens or the time is up.
  client.on('error', () => undefined);
  const late = sleep(startTimeoutMs, 'late', { ref: false });
  const died = new Promise<string>((done) => child.once('exit', () => done('ended')));
  const ready = client.ping();
  ready.catch(() => undefined);
  const first = await Promise.race([ready, late, died]);
  client.disconnect();
  if (first !== 'PONG') throw new Error(`redis-server did not start: ${first}`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  await ended;
}
