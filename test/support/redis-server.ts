import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';

import { freePort } from '#service/main/free-port.ts';

import { ensureProgram } from './debian-package.ts';

/** A running Redis for tests. */
export type RedisServer = { readonly url: string; close(): Promise<void> };

const startTimeoutMs = 10_000;

/**
 * The server at `REDIS_URL`, else a `redis-server` from PATH on a free port of loopback, without a disk; root on Debian
 * installs the package first. Undefined when none is to be had here: what needs Redis is then skipped, loudly.
 */
export async function startRedis(): Promise<RedisServer | undefined> {
  const given = process.env['REDIS_URL'];
  if (given !== undefined && given !== '') return { url: given, close: () => Promise.resolve() };
  if (!ensureProgram('redis-server')) return undefined;
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
