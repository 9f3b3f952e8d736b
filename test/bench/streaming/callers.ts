import { once } from 'node:events';
import { Agent, request, type ClientRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { WebSocket } from 'ws';

import { ADDRESSES, MARK, quietAddress, watchedAccount, type CallersAnswer, type CallersOrder } from './orders.ts';

// Callers of one server: half over WebSocket, half over server-sent events.

const path = '/api/streaming/v2';
const mark = MARK.charCodeAt(0);
/** Connections that open at once. */
const AT_ONCE = 50;

const agent = new Agent({ keepAlive: false, maxSockets: Infinity });
const sockets: WebSocket[] = [];
const requests: ClientRequest[] = [];
let seen = 0;
let wanted = Infinity;
let awaited = 0;

function arrived(count: number): void {
  seen += count;
  if (seen < wanted) return;
  wanted = Infinity;
  answer({ kind: 'arrived', atMs: performance.timeOrigin + performance.now() });
}

function marksIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1)) count++;
  return count;
}

/** A connection that the server cuts would be waited for without end. */
function onCut(): void {
  process.exit(1);
}

function wishOf(connection: number, account: string, cursor?: string): object {
  const addresses = Array.from({ length: ADDRESSES - 1 }, (_, ordinal) => quietAddress(connection, ordinal));
  return { types: ['transactions'], addresses: [account, ...addresses], cursor };
}

async function openSocket(port: number, wish: object): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}/ws`, { perMessageDeflate: false });
  await once(socket, 'open');
  socket.send(JSON.stringify({ operation: 'subscribe', ...wish }));
  await once(socket, 'message');
  socket.on('message', (data: Buffer) => arrived(marksIn(data)));
  socket.once('close', onCut);
  sockets.push(socket);
}

async function openSse(port: number, wish: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const sent = request({ port, host: '127.0.0.1', path: `${path}/sse`, method: 'POST', headers, agent });
  requests.push(sent);
  sent.on('error', () => undefined);
  sent.end(JSON.stringify(wish));
  const [response] = (await once(sent, 'response')) as [NodeJS.ReadableStream];
  await once(response, 'data');
  response.on('data', (chunk: Buffer) => arrived(marksIn(chunk)));
  response.once('close', onCut);
}

const openAt = (port: number, connection: number, wish: object): Promise<void> =>
  connection % 2 === 0 ? openSocket(port, wish) : openSse(port, wish);

/** Connections before these. */
let opened = 0;

async function open(port: number, connections: number, account: string): Promise<void> {
  for (let first = 0; first < connections; first += AT_ONCE) {
    const count = Math.min(AT_ONCE, connections - first);
    await Promise.all(
      Array.from({ length: count }, (_, ordinal) => {
        const connection = opened + first + ordinal;
        return openAt(port, connection, wishOf(connection, account));
      }),
    );
  }
  opened += connections;
  answer({ kind: 'opened' });
}

/** Opens connections at an even pace, whether the earlier ones are answered or not. */
async function resume({ port, connections, perSecond, cursor }: ResumeOrder): Promise<void> {
  const timesMs = await Promise.all(
    Array.from({ length: connections }, async (_, connection) => {
      await sleep((connection * 1000) / perSecond);
      const beforeMs = performance.now();
      await openAt(port, connection, wishOf(connection, watchedAccount, cursor));
      return performance.now() - beforeMs;
    }),
  );
  answer({ kind: 'resumed', timesMs });
}

type ResumeOrder = Extract<CallersOrder, { readonly kind: 'resume' }>;

/** Times from a `subscribe` to its answer. */
async function subscribe(port: number, addresses: number, times: number): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}/ws`, { perMessageDeflate: false });
  await once(socket, 'open');
  const timesMs: number[] = [];
  for (let time = 0; time < times; time++) {
    const list = Array.from({ length: addresses }, (_, ordinal) => quietAddress(1_000_000 + time, ordinal));
    const text = JSON.stringify({ operation: 'subscribe', types: ['transactions'], addresses: list });
    const before = performance.now();
    socket.send(text);
    await once(socket, 'message');
    timesMs.push(performance.now() - before);
    // The rate of one connection is 20 messages a second.
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
  socket.terminate();
  answer({ kind: 'subscribed', timesMs });
}

function answer(given: CallersAnswer): void {
  process.send?.(given);
}

process.on('message', (order: CallersOrder) => {
  if (order.kind === 'open') void open(order.port, order.connections, order.account);
  else if (order.kind === 'resume') void resume(order);
  else if (order.kind === 'subscribe') void subscribe(order.port, order.addresses, order.times);
  else {
    awaited += order.events * (sockets.length + requests.length);
    wanted = awaited;
    arrived(0);
  }
});
process.once('disconnect', () => process.exit(0));
