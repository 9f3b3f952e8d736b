import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { StreamingError } from '#service/streaming/errors.ts';
import { allowed, scriptLimits } from '#test/service/http/listener.ts';
import { parseRaw, rawExchange } from '#test/service/http/requests.ts';
import { checkFrame } from '#test/support/stream-contract.ts';
import type { StreamFrame, StreamReader } from '#test/support/stream-readers.ts';

import { stateEvent } from './fake-hub.ts';
import { address, hash, startStreams, type StreamListener, type StreamSetup } from './stream-listener.ts';

let at: StreamListener;
const sockets: WebSocket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
  await at.close();
});

const start = async (setup?: StreamSetup): Promise<void> => void (at = await startStreams(setup));
const one = { types: ['transactions'], addresses: [address] };

/** Opens a WebSocket whose frames are sent as they are. */
async function open(): Promise<{ socket: WebSocket; texts: string[]; ended: Promise<[number, string]> }> {
  const socket = new WebSocket(`ws://127.0.0.1:${at.port}/api/streaming/v2/ws`);
  sockets.push(socket);
  const texts: string[] = [];
  socket.on('message', (data: Buffer) => {
    texts.push(data.toString('utf8'));
    checkFrame(JSON.parse(texts.at(-1)!) as StreamFrame);
  });
  const ended = new Promise<[number, string]>((resolve) =>
    socket.once('close', (code, reason) => resolve([code, reason.toString('utf8')])),
  );
  await once(socket, 'open');
  return { socket, texts, ended };
}

/** Sends a message and returns the frame that answers it. */
async function ask(reader: StreamReader, message: object): Promise<StreamFrame> {
  const before = reader.frames.length;
  reader.send(message);
  await expect.poll(() => reader.frames.length).toBeGreaterThan(before);
  return reader.frames[before]!;
}

/** Opens a WebSocket of a caller who has one more request. @returns the requests that were paid */
async function openWithTwoRequests(): Promise<{ readonly asked: readonly string[]; readonly reader: StreamReader }> {
  const asked: string[] = [];
  const limits = scriptLimits(({ operation }) => {
    asked.push(operation);
    if (asked.length < 3) return allowed;
    return { allowed: false, code: 'rate_limited', plan: 'test', quota: null, retryAfterSeconds: 1 };
  });
  await start({ limits });
  return { asked, reader: await at.ws(one) };
}

/** Request of an upgrade with further lines. */
function upgradeText(lines: readonly string[]): string {
  const head = ['GET /api/streaming/v2/ws HTTP/1.1', 'Host: a', 'Connection: Upgrade', 'Upgrade: websocket', ...lines];
  return `${head.join('\r\n')}\r\n\r\n`;
}

/** Answer to an upgrade that is written as it is. */
async function upgrade(lines: readonly string[]): Promise<ReturnType<typeof parseRaw>> {
  return parseRaw(await rawExchange(at.port, upgradeText(lines)));
}

const handshake = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];

describe('messages of a WebSocket', () => {
  it('are answered as the protocol says, and the answer precedes every event', async () => {
    await start();
    const { socket, texts } = await open();
    socket.send(JSON.stringify({ operation: 'subscribe', id: '1', ...one }));
    await expect.poll(() => texts.length).toBe(1);
    at.hub.last().emit(stateEvent());
    socket.send(JSON.stringify({ operation: 'ping' }));
    await expect.poll(() => texts.length).toBe(3);
    const cursor = (mcSeqno: number): string => at.cursors.write({ position: { mcSeqno, index: 0 }, connection: 1 });
    expect(texts).toEqual([
      `{"id":"1","status":"subscribed","cursor":"${cursor(100)}","resumed":"none"}`,
      JSON.stringify({ ...stateEvent(), cursor: cursor(101) }),
      `{"status":"pong","cursor":"${cursor(101)}"}`,
    ]);
    expect(at.hub.last().wish).toMatchObject({ accounts: new Set([address]) });
  });

  it('replace the subscription, and absent options have their defaults again', async () => {
    await start();
    const reader = await at.ws({ ...one, min_finality: 'pending', include_metadata: true });
    expect(
      await ask(reader, { operation: 'subscribe', types: ['trace'], trace_external_hash_norms: [hash] }),
    ).toMatchObject({
      status: 'subscribed',
    });
    expect(at.hub.last().wish).toMatchObject({ minFinality: 'finalized', includeMetadata: false, accounts: new Set() });
  });

  it('remove addresses and traces', async () => {
    await start();
    const reader = await at.ws(one);
    const answer = await ask(reader, { operation: 'unsubscribe', id: 'u', addresses: [address] });
    expect(answer).toEqual({ id: 'u', status: 'unsubscribed' });
    expect(at.hub.last().removed).toMatchObject({ accounts: new Set([address]) });
  });

  it('that are refused change nothing, and name their id and fault', async () => {
    await start();
    const reader = await at.ws(one);
    const before = at.hub.last().wish;
    const answers = [
      await ask(reader, { operation: 'subscribe', id: 'a', types: ['x'] }),
      await ask(reader, { operation: 'subscribe', id: 'b', types: [], min_finality: 'x' }),
      await ask(reader, { operation: 'subscribe', id: 'c', ...one, cursor: 'garbage' }),
      await ask(reader, { operation: 'unsubscribe' }),
      await ask(reader, { operation: 'configure', id: 'd' }),
      await ask(reader, { id: 'e' }),
      await ask(reader, { operation: 'ping', id: 7 }),
      await ask(reader, { operation: 1, id: 'f' }),
      await ask(reader, []),
    ];
    expect(answers).toEqual([
      { id: 'a', error: 'invalid event type: x' },
      { id: 'b', error: 'invalid subscribe request: unknown finality state: x' },
      { id: 'c', error: 'invalid cursor' },
      { error: 'addresses or trace_external_hash_norms are required' },
      { id: 'd', error: 'unknown operation: configure' },
      { id: 'e', error: 'unknown operation: ' },
      { error: 'invalid request envelope: id: expected a string' },
      { error: 'invalid request envelope: operation: expected a string' },
      { error: 'invalid request envelope: expected an object' },
    ]);
    expect(at.hub.last().wish).toBe(before);
    expect(await ask(reader, { operation: 'ping' })).toMatchObject({ status: 'pong' });
  });

  it('are handled one after the other', async () => {
    await start();
    const { socket, texts } = await open();
    const { promise, resolve } = Promise.withResolvers<void>();
    at.hub.onSubscribe = () => promise;
    socket.send(JSON.stringify({ operation: 'subscribe', id: '1', ...one }));
    socket.send(JSON.stringify({ operation: 'ping', id: '2' }));
    await expect.poll(() => at.hub.connections.length).toBe(1);
    expect(texts).toEqual([]);
    resolve();
    await expect.poll(() => texts.length).toBe(2);
    expect(texts.map((text) => (JSON.parse(text) as { id: string }).id)).toEqual(['1', '2']);
  });

  it('to subscribe again cost one request each', async () => {
    const { asked, reader } = await openWithTwoRequests();
    expect(asked).toEqual(['streaming']);
    expect(await ask(reader, { operation: 'subscribe', ...one })).toMatchObject({ status: 'subscribed' });
    const refused = await ask(reader, { operation: 'subscribe', id: 'x', ...one });
    expect(refused).toEqual({ id: 'x', error: 'Ratelimit exceeded' });
  });

  it('above 16 KiB cost one request each, whatever they ask', async () => {
    const { asked, reader } = await openWithTwoRequests();
    const unsubscribe = { operation: 'unsubscribe', addresses: Array.from({ length: 300 }, () => address) };
    expect(await ask(reader, { operation: 'ping', padding: 'x'.repeat(16_000) })).toMatchObject({ status: 'pong' });
    expect(asked).toEqual(['streaming']);
    expect(await ask(reader, unsubscribe)).toMatchObject({ status: 'unsubscribed' });
    expect(await ask(reader, { ...unsubscribe, id: 'x' })).toEqual({ id: 'x', error: 'Ratelimit exceeded' });
  });

  it('leave the connection open while replays are busy', async () => {
    await start();
    at.hub.onSubscribe = () => Promise.reject(new StreamingError('replay_busy', 'too many replays run'));
    const reader = await at.ws({ id: 'r', ...one });
    expect(reader.frames).toEqual([{ id: 'r', error: 'too many replays run' }]);
    at.hub.onSubscribe = () => undefined;
    expect(await ask(reader, { operation: 'subscribe', ...one })).toMatchObject({ status: 'subscribed' });
  });
});

describe('an accepted upgrade', () => {
  it('chooses no subprotocol and no extension, whatever the caller offers', async () => {
    await start();
    const offers = ['Sec-WebSocket-Protocol: graphql-ws, v2', 'Sec-WebSocket-Extensions: permessage-deflate'];
    const socket = connect(at.port, '127.0.0.1');
    socket.write(upgradeText([...handshake, ...offers]));
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    const { status, headers } = parseRaw(bytes.toString('latin1'));
    expect(status).toBe(101);
    expect([headers.get('sec-websocket-protocol'), headers.get('sec-websocket-extensions')]).toEqual([null, null]);
  });
});

describe('an upgrade', () => {
  it('may offer other protocols beside', async () => {
    await start();
    const socket = connect(at.port, '127.0.0.1');
    socket.write(upgradeText(handshake).replace('Upgrade: websocket', 'Upgrade: h2c, WebSocket'));
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(parseRaw(bytes.toString('latin1')).status).toBe(101);
  });

  it('of HTTP/1.0 is ignored', async () => {
    await start();
    const text = upgradeText(handshake).replace('HTTP/1.1', 'HTTP/1.0');
    expect(parseRaw(await rawExchange(at.port, text)).status).toBe(426);
  });
});

describe('a WebSocket is closed', () => {
  it.each<[string, number, string, (socket: WebSocket) => void]>([
    ['a binary frame', 1003, 'text messages only', (socket) => socket.send(Buffer.from('{}'), { binary: true })],
    ['a message above 1 MiB', 1009, '', (socket) => socket.send(' '.repeat(1_048_577))],
    ['a message in 20,000 fragments', 1008, '', (socket) => fragments(socket, 20_000)],
    ['ten messages that are no JSON', 1008, 'too many errors', (socket) => send(socket, 10, '{')],
    ['more than forty messages at once', 1008, 'message rate', (socket) => send(socket, 50, '{"operation":"ping"}')],
    ['a flood of pings', 1008, 'message rate', (socket) => pings(socket, 50)],
  ])('after %s', async (_what, code, reason, act) => {
    await start();
    const { socket, ended } = await open();
    act(socket);
    expect(await ended).toEqual([code, reason]);
    await expect.poll(() => at.hub.last().isClosed).toBe(true);
    expect(await at.streamRegister.metrics()).toContain(`ton_streaming_closes_total{transport="ws",code="${code}"} 1`);
  });

  it('after invalid UTF-8, and after a frame without a mask', async () => {
    await start();
    for (const [frame, code] of [
      [[0x81, 0x81, 0, 0, 0, 0, 0xff], 1007],
      [[0x81, 0x01, 0x41], 1002],
    ] as const) {
      const socket = await rawSocket();
      socket.write(Buffer.from(frame));
      const closed = await closeFrameOf(socket);
      expect(closed).toBe(code);
      socket.destroy();
    }
  });

  it('when it never subscribes', async () => {
    await start();
    const { ended } = await open();
    await expect.poll(() => at.hub.connections.length).toBe(1);
    at.pass(60_000);
    expect(await ended).toEqual([1008, 'no subscription']);
  });

  it('when its key ends', async () => {
    await start();
    const reader = await at.ws(one);
    at.isInForce = false;
    expect(await reader.ended).toBe(1008);
  });

  it('when the process ends', async () => {
    await start();
    const { ended } = await open();
    await expect.poll(() => at.hub.connections.length).toBe(1);
    await at.close();
    expect(await ended).toEqual([1001, 'going away']);
    await start();
  });

  it('by the queue of its events', async () => {
    await start();
    const { ended } = await open();
    await expect.poll(() => at.hub.connections.length).toBe(1);
    at.hub.last().sink.end(1013, 'slow consumer', null);
    expect(await ended).toEqual([1013, 'slow consumer']);
  });

  it('when it does not answer pings', async () => {
    await start();
    const socket = await rawSocket();
    await expect.poll(() => at.hub.connections.length).toBe(1);
    at.hub.last().emit(stateEvent());
    socket.write(masked(JSON.stringify({ operation: 'subscribe', ...one })));
    await expect.poll(() => at.hub.last().wish).toBeDefined();
    at.pass(45_000);
    await expect.poll(() => at.hub.last().isClosed).toBe(true);
    socket.destroy();
  });

  it('by a ping of the server that is answered, it is not', async () => {
    await start();
    const { socket } = await open();
    const pinged = once(socket, 'ping');
    at.pass(15_000);
    await pinged;
    expect(socket.readyState).toBe(socket.OPEN);
  });
});

describe('the connections of a plan', () => {
  const refusal = { error: 'connection limit reached: 1 active connections' };

  it('are refused by a frame and then a close, because clients read that', async () => {
    await start({ connections: 1 });
    await at.ws(one);
    const second = await at.ws(one);
    expect(second.frames).toEqual([refusal]);
    expect(await second.ended).toBe(1008);
    const silent = await at.ws();
    expect(await silent.ended).toBe(1008);
    expect(silent.frames).toEqual([refusal]);
  });

  it('are free again at once for a caller with its cursor', async () => {
    await start({ connections: 1 });
    const first = await at.ws(one);
    const second = await at.ws({ ...one, cursor: first.cursor() });
    expect(second.frames).toMatchObject([{ status: 'subscribed', resumed: 'full' }]);
    expect(await first.ended).toBe(4001);
  });

  it('lose the one that a cursor names, also when the caller may have more', async () => {
    await start({ connections: 2 });
    const first = await at.ws(one);
    const second = await at.ws({ ...one, cursor: first.cursor() });
    expect(await first.ended).toBe(4001);
    await at.ws({ ...one, cursor: first.cursor() });
    expect(second.frames).toMatchObject([{ status: 'subscribed' }]);
  });

  it('make way for a caller with a cursor also while others are free, once its subscription is fine', async () => {
    await start();
    const first = await at.ws(one);
    const second = await at.ws({ types: ['x'], cursor: first.cursor() });
    expect(await ask(second, { operation: 'ping' })).toMatchObject({ status: 'pong' });
    expect(await ask(first, { operation: 'ping' })).toMatchObject({ status: 'pong' });
    expect(await ask(second, { operation: 'subscribe', ...one, cursor: first.cursor() })).toMatchObject({
      resumed: 'full',
    });
    expect(await first.ended).toBe(4001);
    const own = { operation: 'subscribe', ...one, cursor: second.cursor() };
    expect(await ask(second, own)).toMatchObject({ resumed: 'full' });
    expect(await ask(second, { operation: 'ping' })).toMatchObject({ status: 'pong' });
  });

  it('are counted for both transports together', async () => {
    await start({ connections: 1 });
    await at.ws(one);
    expect((await at.post(JSON.stringify(one))).status).toBe(429);
  });
});

describe('a refused upgrade', () => {
  it.each<['unknown_key' | 'network_not_allowed' | 'rate_limited', number, string]>([
    ['unknown_key', 401, 'API key does not exist'],
    ['network_not_allowed', 403, 'Network not allowed'],
    ['rate_limited', 429, 'Ratelimit exceeded'],
  ])('of a caller with %s has the answer of every operation', async (code, status, error) => {
    const refused = { allowed: false, code, plan: null, quota: null, retryAfterSeconds: null } as const;
    await start({ limits: scriptLimits(() => refused) });
    const reply = await upgrade(handshake);
    expect(reply).toMatchObject({ status, body: { ok: false, code: status, error } });
    expect(reply.headers.get('access-control-allow-origin')).toBe('*');
    expect(at.hub.connections).toEqual([]);
    await expect.poll(() => at.server.status().inFlight).toBe(0);
  });

  it('has a malformed handshake', async () => {
    await start();
    for (const lines of [
      ['Sec-WebSocket-Version: 13'],
      ['Sec-WebSocket-Version: 7', handshake[1]!],
      ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: x'],
    ]) {
      const reply = await upgrade(lines);
      expect(reply).toMatchObject({ status: 400, body: { ok: false, code: 400 } });
      expect(reply.headers.get('sec-websocket-version')).toBe('13');
    }
    expect(at.hub.connections).toEqual([]);
  });

  it('has more bytes of headers than any request may have', async () => {
    await start();
    const long = `X-Long: ${'x'.repeat(70_000)}`;
    expect(await upgrade([...handshake, long])).toMatchObject({ status: 431, body: { ok: false, code: 431 } });
    expect(at.hub.connections).toEqual([]);
  });

  it('is above the connections of the process', async () => {
    await start({ streaming: { connectionsMax: 1 } });
    await at.ws(one);
    const reply = await upgrade(handshake);
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1']);
  });

  it('at another path, or to another protocol, is ignored', async () => {
    await start();
    expect(parseRaw(await rawExchange(at.port, otherUpgrade('/healthcheck', 'websocket'))).status).toBe(200);
    expect(parseRaw(await rawExchange(at.port, otherUpgrade('/api/streaming/v2/ws', 'h2c'))).status).toBe(426);
  });

  it('leaves nothing behind when its caller goes away half-way', async () => {
    await start();
    const socket = connect(at.port, '127.0.0.1');
    socket.write('GET /api/streaming/v2/ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websoc');
    socket.end();
    await once(socket.resume(), 'close');
    expect(at.hub.connections).toEqual([]);
    await expect.poll(() => at.server.status().inFlight).toBe(0);
  });
});

/** Head of a request for another protocol. */
function otherUpgrade(path: string, protocol: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: ${protocol}\r\n\r\n`;
}

function send(socket: WebSocket, times: number, text: string): void {
  for (let count = 0; count < times; count++) socket.send(text);
}

/** Sends one message. */
function fragments(socket: WebSocket, times: number): void {
  for (let count = 1; count <= times; count++) socket.send(' ', { fin: count === times });
}

function pings(socket: WebSocket, times: number): void {
  for (let count = 0; count < times; count++) socket.ping();
}

/** A WebSocket without a library. */
async function rawSocket(): Promise<Socket> {
  const socket = connect(at.port, '127.0.0.1');
  socket.write(upgradeText(handshake));
  await once(socket, 'data');
  return socket;
}

/** A text frame of less than 126 bytes, or of less than 65,536, with a mask of zeros. */
function masked(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = bytes.length < 126 ? [0x80 | bytes.length] : [0xfe, bytes.length >> 8, bytes.length & 0xff];
  return Buffer.concat([Buffer.from([0x81, ...length, 0, 0, 0, 0]), bytes]);
}

/** Close code of the next close frame. */
async function closeFrameOf(socket: Socket): Promise<number> {
  for await (const chunk of socket) {
    const bytes = chunk as Buffer;
    if (bytes[0] === 0x88) return bytes.readUInt16BE(2);
  }
  return 0;
}
