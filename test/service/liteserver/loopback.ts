import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { onTestFinished } from 'vitest';
import type { AdnlFaults } from '#service/devchain/adnl/adnl-faults.ts';
import type { AdnlServer, AdnlServerOptions } from '#service/devchain/adnl/adnl-server.ts';
import { createAdnlServer } from '#service/devchain/adnl/adnl-server.ts';
import { adnlIdentity } from '#service/liteserver/adnl/keys.ts';
import { functionOf } from '#service/liteserver/function-table.ts';
import { getTime, getVersion } from '#service/liteserver/functions.ts';
import type { LiteServer, LiteServerDependencies } from '#service/liteserver/liteserver.ts';
import { createLiteServer } from '#service/liteserver/liteserver.ts';
import type { LiteServerTuning } from '#service/liteserver/options.ts';
import { decodeEnvelope } from '#service/liteserver/tl/envelope.ts';
import { liteServerError } from '#service/liteserver/tl/lite-api.ts';
import { encodeTl } from '#service/liteserver/tl/record.ts';

export const silentLogger = pino({ level: 'silent' });

export const serverSeed = Buffer.alloc(32, 7);

/** Turns a function's bytes into an answer's, or null for silence. */
export type Respond = (request: Buffer) => Buffer | null | Promise<Buffer | null>;

/** Returns an error answer. */
export function failing(code: number, message: string): Buffer {
  return encodeTl(liteServerError.boxed, { code, message });
}

/** Answers getTime with 1,000,000 and getVersion with 0x101; any other function is unknown. */
export const respondTime: Respond = (request) => {
  const name = functionOf(request)?.name;
  if (name === 'getTime') return getTime.encodeAnswer({ now: 1_000_000 });
  if (name === 'getVersion') {
    return getVersion.encodeAnswer({ mode: 0, version: 0x101, capabilities: 15n, now: 1_000_000 });
  }
  return failing(621, 'unknown query');
};

/** Starts an ADNL server on loopback, closed with the test. */
export async function startServer(
  respond: Respond = respondTime,
  options: Partial<AdnlServerOptions> & { faults?: AdnlFaults } = {},
): Promise<AdnlServer> {
  const server = await createAdnlServer(
    { host: '127.0.0.1', port: 0, seeds: [serverSeed], ...options },
    { logger: silentLogger, handleQuery: async (payload) => respond(decodeEnvelope(payload).request) },
  );
  onTestFinished(() => server.close());
  return server;
}

/** Short times, so that tests need not wait. */
export const quickTuning: Partial<LiteServerTuning> = {
  connectTimeoutMs: 2_000,
  pingAfterMs: 50,
  pingsMissedMax: 2,
  backoffMinMs: 20,
  backoffMaxMs: 60,
  stableMs: 100,
};

/** Starts a lite server client on loopback, closed with the test. */
export function startClient(
  server: { readonly port: number; readonly publicKeys?: readonly Buffer[] },
  tuning: Partial<LiteServerTuning> = {},
  dependencies: Partial<LiteServerDependencies> = {},
): LiteServer {
  const publicKey = server.publicKeys?.[0] ?? adnlIdentity(serverSeed).publicKey;
  const client = createLiteServer(
    { name: 'test', host: '127.0.0.1', port: server.port, publicKey, tuning: { ...quickTuning, ...tuning } },
    { logger: silentLogger, register: new Registry(), ...dependencies },
  );
  onTestFinished(() => client.close());
  return client;
}

/** Starts a bare TCP server with scripted sockets, closed with the test. */
export async function startTcpServer(onSocket: (socket: Socket) => void): Promise<{ port: number }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    onSocket(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return { port: (server.address() as AddressInfo).port };
}

/** Resolves when `condition` holds; fails after a minute with the name of the condition. */
export async function eventually(what: string, condition: () => boolean): Promise<void> {
  const untilMs = performance.now() + 60_000;
  while (!condition()) {
    if (performance.now() > untilMs) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Returns the sockets, open or listening, of this thread. */
export function openSockets(): string[] {
  return process.getActiveResourcesInfo().filter((kind) => kind.startsWith('TCP'));
}

/** Returns the running timers of this thread, including those of the test runner. */
export function runningTimers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
}
