import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';

import { afterEach, describe, expect, it } from 'vitest';

import { skipLoudly } from '#test/support/skips.ts';
import { countOf } from '#test/support/volume.ts';
import { startListener, type Listener, type ListenerSetup } from './listener.ts';
import { parseRaw, type Reply } from './requests.ts';

let listener: Listener | undefined;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await listener?.close();
});

const start = async (options: NonNullable<ListenerSetup['options']>): Promise<Listener> =>
  (listener = await startListener({ options }));

/** Opens a connection from one of the addresses of loopback; it stays idle. */
function open({ port }: Listener, localAddress: string, host = '127.0.0.1'): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect({ port, host, localAddress });
  sockets.push(socket);
  socket.once('error', reject);
  socket.once('connect', () => {
    socket.off('error', reject).on('error', () => undefined);
    resolve(socket);
  });
  return promise;
}

/** Sends a request on a connection and reads until it is closed. */
function ask(socket: Socket): Promise<Reply> {
  const { promise, resolve } = Promise.withResolvers<Reply>();
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString()));
  socket.once('close', () => resolve(parseRaw(text)));
  socket.write('GET /healthcheck HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  return promise;
}

const askFrom = async (at: Listener, address: string, host?: string): Promise<Reply> =>
  ask(await open(at, address, host));

const refusals = async ({ register }: Listener): Promise<number> =>
  Number(/^ton_http_refused_connections_total (\d+)$/m.exec(await register.metrics())?.[1]);

/** Idle connections in steps that a listener's backlog bears. */
async function openMany(at: Listener, address: string, count: number): Promise<void> {
  for (let opened = 0; opened < count; opened += 100) {
    const step = Math.min(100, count - opened);
    await Promise.all(Array.from({ length: step }, () => open(at, address)));
  }
}

/** Connections that one address leaves idle. */
const IDLE = countOf({ quick: 2_000, full: 10_000 });

/** A program that ends once it has so many connections. */
const caller = `
  const { connect } = require('node:net');
  const [port, count] = process.argv.slice(1).map(Number);
  let opened = 0;
  for (let one = 0; one < count; one++) {
    connect(port, '127.0.0.1', () => ++opened === count && process.exit()).on('error', () => process.exit(1));
  }
  setTimeout(() => process.exit(2), 60_000);
`;

/** Connections that the machine lets wait. */
const waitingMax = Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));

describe('callers that come all at once', () => {
  const missing = skipLoudly(waitingMax < 2000, { what: 'waiting connections', why: 'the machine lets few wait' });

  it.skipIf(missing)('are connected while the process does other work', async () => {
    const { port } = await start({ connectionsPerAddress: 0 });
    // The loop of this thread stands until the program has ended.
    execFileSync(process.execPath, ['-e', caller, `${port}`, '2000'], { stdio: 'inherit' });
    expect((await askFrom(listener!, '127.0.0.1')).status).toBe(200);
  });
});

describe('connections of one address', () => {
  it('beyond its bound get 503 with the envelope, and are closed', async () => {
    const at = await start({ connectionsPerAddress: 3 });
    await openMany(at, '127.0.0.1', 3);
    const reply = await askFrom(at, '127.0.0.1');
    expect([reply.status, reply.body]).toMatchObject([503, { ok: false, code: 503 }]);
    expect(['connection', 'retry-after', 'cache-control'].map((name) => reply.headers.get(name))).toEqual([
      'close',
      '1',
      'no-store',
    ]);
    expect(await refusals(at)).toBe(1);
  });

  it('are served again when earlier ones are closed', async () => {
    const at = await start({ connectionsPerAddress: 2 });
    await openMany(at, '127.0.0.1', 2);
    expect((await askFrom(at, '127.0.0.1')).status).toBe(503);
    sockets[0]?.destroy();
    await expect.poll(async () => (await askFrom(at, '127.0.0.1')).status).toBe(200);
  });

  it('the bound of connections of one address does not close connections of another address', async () => {
    const at = await start({ connectionsPerAddress: 2 });
    await openMany(at, '127.0.0.1', 2);
    expect((await askFrom(at, '127.0.0.2')).status).toBe(200);
  });

  it('are counted together over IPv4 and IPv4 mapped into IPv6', async () => {
    const at = await start({ connectionsPerAddress: 2, host: '::' });
    await openMany(at, '127.0.0.1', 2);
    expect((await askFrom(at, '127.0.0.1')).status).toBe(503);
    expect((await askFrom(at, '127.0.0.2')).status).toBe(200);
    expect((await askFrom(at, '::1', '::1')).status).toBe(200);
  });

  it('are 1,024 where no proxy is trusted, as long as none is', async () => {
    const at = await start({});
    await openMany(at, '127.0.0.1', 1024);
    expect((await askFrom(at, '127.0.0.1')).status).toBe(503);
    at.server.reconfigure({ trustedProxies: 1, maxConnectionsPerPod: 1 });
    expect((await askFrom(at, '127.0.0.1')).status).toBe(200);
    at.server.reconfigure({ trustedProxies: 0, maxConnectionsPerPod: 1 });
    expect((await askFrom(at, '127.0.0.1')).status).toBe(503);
  });

  it.each([
    { trustedProxies: 1, connectionsPerAddress: null },
    { trustedProxies: 0, connectionsPerAddress: 0 },
  ])('have no bound with %j', async (options) => {
    const at = await start(options);
    await openMany(at, '127.0.0.1', 1200);
    expect((await askFrom(at, '127.0.0.1')).status).toBe(200);
  });

  it(`never lock out another address, though ${IDLE} are opened and left idle`, async () => {
    const at = await start({ headersTimeoutMs: 300_000, receiveTimeoutMs: 300_000 });
    for (let opened = 0; opened < IDLE; opened += 2_000) {
      await openMany(at, '127.0.0.1', 2_000);
      expect((await askFrom(at, '127.0.0.2')).status).toBe(200);
    }
    expect(await refusals(at)).toBe(IDLE - 1024);
  });
});
