import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';

import { freePort } from '#test/support/free-port.ts';

/** Redis of one test, which the test may kill, freeze and start again on the same port. */
export type RedisProcess = {
  readonly url: string;
  readonly port: number;
  /** Runs one command as another client. */
  command(name: string, ...args: string[]): Promise<unknown>;
  signal(signal: NodeJS.Signals): void;
  start(): Promise<void>;
  close(): Promise<void>;
};

export async function startRedisProcess(...settings: string[]): Promise<RedisProcess> {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...settings];
  let password = settings[settings.indexOf('--requirepass') + 1];
  const command = async (name: string, ...rest: string[]): Promise<unknown> => {
    const client = new Redis(url, {
      ...(settings.includes('--requirepass') && password !== undefined && { password }),
      lazyConnect: true,
      retryStrategy: () => null,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const answer = await client.call(name, ...rest);
      if (rest[0] === 'SET' && rest[1] === 'requirepass') password = rest[2];
      return answer;
    } finally {
      client.disconnect();
    }
  };
  const start = async (): Promise<void> => {
    child = spawn('redis-server', args, { stdio: 'ignore' });
    for (let tries = 0; tries < 3000 && child.exitCode === null; tries++) {
      const answer = await command('PING').catch(() => undefined);
      if (answer === 'PONG') return;
      await sleep(20);
    }
    child.kill('SIGKILL');
    throw new Error('redis-server did not start');
  };
  await start();
  return {
    url,
    port,
    command,
    signal: (signal) => void child?.kill(signal),
    start,
    async close() {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Starts a proxy in front of a port that delays answers while asked to. */
export async function startSlowProxy(target: number) {
  const delay = { ms: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((inbound) => {
    const outbound = connect(target, '127.0.0.1');
    for (const socket of [inbound, outbound]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    inbound.on('data', (bytes) => outbound.write(bytes));
    outbound.on('data', (bytes: Buffer) => void sleep(delay.ms).then(() => inbound.write(bytes)));
    inbound.on('close', () => outbound.destroy());
    outbound.on('close', () => inbound.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    url: `redis://127.0.0.1:${port}`,
    delay,
    close(): void {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
