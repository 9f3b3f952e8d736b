import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Redis } from 'ioredis';

import { freePort } from '#service/main/postgres/free-port.ts';
import type { Authority } from '#test/support/certificate.ts';

import { startRedisProcess, type RedisProcess } from './redis-process.ts';

/** A primary with a replica, and three Sentinels that watch them. */
export type WatchedRedis = {
  /** URL with every Sentinel and both passwords. */
  readonly url: string;
  readonly primary: RedisProcess;
  readonly replica: RedisProcess;
  close(): Promise<void>;
};

const PASSWORD = 'of redis';
const SENTINEL_PASSWORD = 'of sentinels';

/** Starts all five processes, and waits until every Sentinel knows the others and the replica. */
export async function startWatchedRedis(): Promise<WatchedRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'redis-sentinel-'));
  // A replica writes the data of its primary into the folder.
  const passwords = ['--requirepass', PASSWORD, '--masterauth', PASSWORD, '--dir', folder];
  const primary = await startRedisProcess(...passwords);
  const replica = await startRedisProcess(...passwords, '--replicaof', `127.0.0.1 ${primary.port}`);
  const sentinels = await Promise.all([0, 1, 2].map((index) => startSentinel(folder, index, primary.port)));
  for (const { port } of sentinels) await untilWatching(port);
  const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const [password, sentinelPassword] = [PASSWORD, SENTINEL_PASSWORD].map(encodeURIComponent);
  return {
    url: `redis+sentinel://:${password}@${hosts}/main?sentinelPassword=${sentinelPassword}`,
    primary,
    replica,
    async close() {
      await Promise.all(sentinels.map(({ child }) => end(child)));
      await Promise.all([primary.close(), replica.close()]);
      rmSync(folder, { recursive: true });
    },
  };
}

/**
 * Starts one Sentinel that answers over TLS alone, and watches a primary over TLS.
 *
 * @param clients `certificate`: clients need a certificate of the same authority
 */
export async function startTlsSentinel(
  authority: Authority,
  primaryPort: number,
  clients: 'any' | 'certificate' = 'any',
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'redis-sentinel-'));
  const { certificate, key } = authority.issue({ commonName: 'sentinel', hosts: ['127.0.0.1'] });
  const files = { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': authority.certificate };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 });
  const port = await freePort();
  const file = join(folder, 'sentinel.conf');
  writeFileSync(
    file,
    `port 0
tls-port ${port}
tls-cert-file ${folder}/tls.crt
tls-key-file ${folder}/tls.key
tls-ca-cert-file ${folder}/ca.crt
tls-auth-clients ${clients === 'any' ? 'no' : 'yes'}
tls-replication yes
bind 127.0.0.1
dir ${folder}
sentinel monitor main 127.0.0.1 ${primaryPort} 1
`,
  );
  const child = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' });
  return {
    url: `rediss+sentinel://127.0.0.1:${port}/main`,
    async close() {
      await end(child);
      rmSync(folder, { recursive: true });
    },
  };
}

/** A Sentinel rewrites its own configuration, so each has a file. */
async function startSentinel(
  folder: string,
  index: number,
  primaryPort: number,
): Promise<{ readonly port: number; readonly child: ChildProcess }> {
  const port = await freePort();
  const file = join(folder, `sentinel-${index}.conf`);
  writeFileSync(
    file,
    `port ${port}
bind 127.0.0.1
dir ${folder}
requirepass "${SENTINEL_PASSWORD}"
sentinel sentinel-pass "${SENTINEL_PASSWORD}"
sentinel monitor main 127.0.0.1 ${primaryPort} 2
sentinel auth-pass main "${PASSWORD}"
sentinel down-after-milliseconds main 500
sentinel failover-timeout main 3000
`,
  );
  return { port, child: spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' }) };
}

async function untilWatching(port: number): Promise<void> {
  const client = new Redis({ port, password: SENTINEL_PASSWORD, retryStrategy: () => 50, maxRetriesPerRequest: null });
  client.on('error', () => undefined);
  try {
    for (let tries = 0; tries < 400; tries++) {
      const text = String(await client.call('INFO', 'sentinel'));
      if (/status=ok,.*slaves=1,sentinels=3/.test(text)) return;
      await new Promise((done) => setTimeout(done, 50));
    }
  } finally {
    client.disconnect();
  }
  throw new Error('a Sentinel did not find the replica and the other Sentinels');
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** A Sentinel that a test scripts. It names one primary, and may wait before it does. */
export type ScriptedSentinel = {
  readonly url: string;
  /** From now on queries for the primary wait. */
  hold(): void;
  /** Queries that wait. */
  readonly waiting: () => number;
  /** Announces another primary to all subscribers. */
  announce(): void;
  /** Answers the queries that wait, and all later ones at once. */
  release(): void;
  close(): void;
};

/** @param primaryPort port of the primary that it names, before and after the announcement */
export async function startScriptedSentinel(primaryPort: number): Promise<ScriptedSentinel> {
  const [sockets, subscribers] = [new Set<Socket>(), new Set<Socket>()];
  const held: (() => void)[] = [];
  let isHeld = false;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    const answer = (command: string): void => {
      if (/subscribe/i.test(command)) {
        subscribers.add(socket);
        socket.write(`>3\r\n${bulk('subscribe')}${bulk(SWITCH)}:1\r\n`);
      } else if (!command.includes('get-master-addr-by-name')) {
        socket.write(/sentinels/i.test(command) ? '*0\r\n' : '+OK\r\n');
      } else if (isHeld) {
        held.push(() => answer(command));
      } else {
        socket.write(`*2\r\n${bulk('127.0.0.1')}${bulk(`${primaryPort}`)}`);
      }
    };
    // A client sends each command as an array, several in one packet.
    socket.on('data', (bytes) =>
      bytes
        .toString()
        .split(/\*\d+\r\n/)
        .slice(1)
        .forEach(answer),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `redis+sentinel://127.0.0.1:${port}/main`,
    hold() {
      isHeld = true;
    },
    waiting: () => held.length,
    announce() {
      const address = `127.0.0.1 ${primaryPort}`;
      const message = `>3\r\n${bulk('message')}${bulk(SWITCH)}${bulk(`main ${address} ${address}`)}`;
      for (const socket of subscribers) socket.write(message);
    },
    release() {
      isHeld = false;
      for (const answer of held.splice(0)) answer();
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Channel of a change of primary. */
const SWITCH = '+switch-master';

/** A bulk string of RESP3. */
function bulk(text: string): string {
  return `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
}
