import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';

import { freePort } from './free-port.ts';

import type { Authority } from './certificate.ts';
import { ensureProgram } from './debian-package.ts';

/** A running Redis for tests. */
export type RedisServer = { readonly url: string; close(): Promise<void> };

const startTimeoutMs = 120_000;

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

/**
 * Starts a `redis-server` that answers over TLS alone, with the certificate of the authority. Undefined as for `startRedis`.
 *
 * @param clients `certificate`: clients need a certificate of the same authority
 */
export async function startTlsRedis(
  authority: Authority,
  clients: 'any' | 'certificate' = 'any',
): Promise<RedisServer | undefined> {
  if (!ensureProgram('redis-server')) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-redis-'));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const { certificate, key } = authority.issue({ commonName: 'redis', hosts: ['127.0.0.1'] });
  const ca = authority.certificate;
  const port = await freePort();
  const files = ['--tls-cert-file', file('tls.crt', certificate), '--tls-key-file', file('tls.key', key)];
  const tls = [
    ...files,
    '--tls-ca-cert-file',
    file('ca.crt', ca),
    '--tls-auth-clients',
    clients === 'any' ? 'no' : 'yes',
  ];
  const plain = ['--port', '0', '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--daemonize', 'no'];
  const child = spawn('redis-server', [...plain, '--tls-port', `${port}`, ...tls], { stdio: 'ignore' });
  const url = `rediss://127.0.0.1:${port}`;
  await untilReady(url, child, { ca, cert: certificate, key });
  return {
    url,
    async close() {
      await stop(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function untilReady(
  url: string,
  child: ChildProcess,
  tls?: { readonly [option in 'ca' | 'cert' | 'key']: string },
): Promise<void> {
  const client = new Redis(url, { ...(tls && { tls }), retryStrategy: () => 50, maxRetriesPerRequest: null });
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

/** A Redis of one test, which may do to it what happens to servers. */
export type FaultyRedis = {
  readonly url: string;
  /** Ends the process at once, and starts an empty one at the same port. */
  readonly restart: () => Promise<void>;
  readonly empty: () => Promise<void>;
  /** Stops the process, or lets it go on. Its connections stay. */
  readonly freeze: (isFrozen: boolean) => void;
  readonly close: () => Promise<void>;
};

/** Starts a `redis-server` of its own for a test; undefined where there is none. */
export async function startFaultyRedis(): Promise<FaultyRedis | undefined> {
  if (!ensureProgram('redis-server')) return undefined;
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const start = async (): Promise<ChildProcess> => {
    const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--daemonize', 'no'];
    const started = spawn('redis-server', args, { stdio: 'ignore' });
    await untilReady(url, started);
    return started;
  };
  let child = await start();
  return {
    url,
    async restart() {
      const ended = new Promise((done) => child.once('exit', done));
      child.kill('SIGKILL');
      await ended;
      child = await start();
    },
    async empty() {
      const client = new Redis(url);
      await client.flushall();
      client.disconnect();
    },
    freeze: (isFrozen) => void child.kill(isFrozen ? 'SIGSTOP' : 'SIGCONT'),
    async close() {
      child.kill('SIGCONT');
      await stop(child);
    },
  };
}
