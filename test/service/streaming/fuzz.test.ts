import { once } from 'node:events';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { createDraw, oneOf, type Draw } from '#test/support/draw.ts';
import { heapBytes } from '#test/support/garbage.ts';
import { bodyFault, frameFault, messageFault } from '#test/support/stream-contract.ts';
import { countOf } from '#test/support/volume.ts';

import { address, hash, startStreams, type StreamListener } from './stream-listener.ts';

let at: StreamListener;
beforeAll(async () => void (at = await startStreams({ connections: 1000 })));
afterAll(() => at.close());

const fields = [
  'operation',
  'id',
  'types',
  'addresses',
  'trace_external_hash_norms',
  'min_finality',
  'finality_scope',
  'include_address_book',
  'include_metadata',
  'action_types',
  'supported_action_types',
  'cursor',
  '__proto__',
  'constructor',
] as const;

const scalars: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1e300,
  '',
  ' ',
  'x',
  '\u0000',
  '\uD800',
  'subscribe',
  'unsubscribe',
  'ping',
  'trace',
  'transactions',
  'pending',
  'transaction',
  'latest',
  address,
  hash,
  'x'.repeat(5000),
];

function value(draw: Draw, depth: number): unknown {
  const kind = depth > 2 ? 0 : draw(4);
  if (kind === 1) return Array.from({ length: draw(4) }, () => value(draw, depth + 1));
  if (kind === 2) return Object.fromEntries([[oneOf(draw, fields), value(draw, depth + 1)]]);
  if (kind === 3) return [oneOf(draw, [address, hash, 'trace', 'transactions', 'actions'])];
  return oneOf(draw, scalars);
}

/** Messages that are taken: their fuzzed fields come on top. */
const wholes: readonly object[] = [
  {},
  { operation: 'ping' },
  { operation: 'subscribe', types: ['transactions'], addresses: [address] },
  { operation: 'unsubscribe', addresses: [address] },
];

/** A message with some fields of the protocol and any values, at times cut or changed. */
function message(draw: Draw): string {
  const source = Object.fromEntries(
    Array.from({ length: draw(7) }, () => [oneOf(draw, fields), value(draw, 0)] as const),
  );
  const text = JSON.stringify(draw(10) === 0 ? value(draw, 0) : { ...oneOf(draw, wholes), ...source });
  if (draw(6) > 0) return text;
  const cut = draw(text.length + 1);
  return text.slice(0, cut) + oneOf(draw, ['', '}', '"', '\\u12', ',', '[', text]);
}

function query(draw: Draw): string {
  const parameters = new URLSearchParams(
    draw(2) === 0
      ? []
      : [
          ['types', 'transactions'],
          ['addresses', address],
        ],
  );
  for (let count = draw(5); count > 0; count--) {
    const given = value(draw, 1);
    parameters.append(oneOf(draw, fields), typeof given === 'string' ? given : JSON.stringify(given));
  }
  return parameters.toString();
}

/** Texts of section "Errors" of the protocol. */
const texts = [
  /^invalid (subscription|subscribe|unsubscribe) request: /,
  /^invalid request envelope: /,
  /^unknown operation: /,
  /^types are required( for subscription)?$/,
  /^invalid event type: /,
  /^invalid address: /,
  /^invalid trace hash: /,
  /^trace_external_hash_norms (contains empty value|requires type "trace"|are required for trace subscription)$/,
  /^addresses are required( for subscription)?$/,
  /^addresses or trace_external_hash_norms are required$/,
  /^invalid cursor$/,
  /^(too many addresses|address limit exceeded|too many traces|too many action types): /,
];

const isKnown = (error: unknown): boolean => texts.some((text) => text.test(String(error)));

/** Text of a field of another form. */
const formFault = /^invalid (subscription|subscribe|unsubscribe) request: /;

/** Says how an answer differs from the contract; undefined for an answer of the contract. */
function differenceOf(text: string, answer: Answer, faultOf: FaultOf | undefined): unknown {
  const given = parsed(text);
  const isTaken = typeof answer['status'] === 'string';
  if (!isTaken && !isKnown(answer['error'])) return { text, answer };
  if (faultOf === undefined) return undefined;
  const fault = given === undefined ? 'no JSON' : faultOf(given.value);
  if (isTaken && fault !== undefined) return { text, answer, fault };
  const isForm = formFault.test(String(answer['error']));
  return isForm && fault === undefined ? { text, answer, fault: 'it is of the contract' } : undefined;
}

/** Says why a value is not of a schema; undefined for a value of the schema. */
type FaultOf = (given: unknown) => string | undefined;

type Answer = Readonly<Record<string, unknown>>;

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Fewer than the rate of a connection takes at once, and fewer in a row than the errors that end it. */
const MESSAGES_AT_ONCE = 9;

async function fuzzMessages(draw: Draw, count: number): Promise<unknown[]> {
  const differences: unknown[] = [];
  for (let asked = 0; asked < count; asked += MESSAGES_AT_ONCE) {
    const socket = new WebSocket(`ws://127.0.0.1:${at.port}/api/streaming/v2/ws`);
    await once(socket, 'open');
    const answers: Answer[] = [];
    const all = Promise.withResolvers<void>();
    socket.once('close', () => all.resolve());
    socket.on('message', (data: Buffer) => {
      if (answers.push(JSON.parse(data.toString('utf8')) as Answer) === MESSAGES_AT_ONCE) all.resolve();
    });
    const asking = Array.from({ length: MESSAGES_AT_ONCE }, () => message(draw));
    for (const text of asking) socket.send(text);
    await all.promise;
    socket.terminate();
    if (answers.length < asking.length) differences.push({ asking, answers });
    for (const [index, answer] of answers.entries()) {
      const difference = frameFault(answer) ?? differenceOf(asking[index]!, answer, messageFault);
      if (difference !== undefined) differences.push(difference);
    }
  }
  return differences;
}

/** Sends requests ten at a time. Each is a stream, or a refusal of the protocol. */
async function fuzzRequests(draw: Draw, count: number, send: (draw: Draw) => Sent): Promise<unknown[]> {
  const differences: unknown[] = [];
  for (let asked = 0; asked < count; asked += 10) {
    const sent = Array.from({ length: 10 }, () => send(draw));
    for (const { text, response, faultOf } of sent) {
      const { status, body } = await response;
      const answer = status === 200 ? { status: 'stream' } : ((await (await response).json()) as Answer);
      if (status === 200) await body?.cancel();
      const isRefusal = status === 400 && answer['ok'] === false && answer['code'] === 400;
      const difference = status === 200 || isRefusal ? differenceOf(text, answer, faultOf) : { text, status, answer };
      if (difference !== undefined) differences.push(difference);
    }
  }
  return differences;
}

type Sent = {
  readonly text: string;
  readonly response: Promise<Response>;
  /** Absent for a query, which has no schema of its own. */
  readonly faultOf?: FaultOf;
};

function sendBody(draw: Draw): Sent {
  const text = message(draw);
  return { text, response: at.post(text), faultOf: bodyFault };
}

function sendQuery(draw: Draw): Sent {
  const text = query(draw);
  return { text, response: fetch(`${at.url}/api/streaming/v2/sse?${text}`) };
}

/** Bytes that are in use once nothing is on its way. */
async function bytesInUse(): Promise<number> {
  await expect.poll(() => at.hub.status().connections).toBe(0);
  expect(at.server.status().inFlight).toBe(0);
  at.hub.forget();
  return heapBytes();
}

const messages = countOf({ quick: 500, full: 10_000, long: 100_000 });

/** Messages before the memory is measured: they compile the code. */
const FIRST = 250;

/**
 * Bytes that may stay for one message: compiled code, and what the collector leaves. A connection or request that stays has more. Sockets of a busy
 * machine end some time after their connections, so the bytes are polled.
 */
const LEFT_BYTES_MAX = 2000;

type Fuzz = (draw: Draw, count: number) => Promise<unknown[]>;

/** Fuzzes. Returns the answers that are not of the contract, and a reading of the bytes that stay for one message. */
async function run(fuzz: Fuzz, seed: number): Promise<readonly [unknown[], () => Promise<number>]> {
  const draw = createDraw(seed);
  const first = await fuzz(draw, FIRST);
  const before = await bytesInUse();
  const differences = [...first, ...(await fuzz(draw, messages))];
  return [differences, async () => ((await bytesInUse()) - before) / messages];
}

describe(`${messages} fuzzed messages`, () => {
  it('each have an answer of the protocol, those that are taken are of the schema, and nothing is left behind', async () => {
    const [differences, leftBytes] = await run(fuzzMessages, 43);
    expect(differences).toEqual([]);
    await expect.poll(leftBytes).toBeLessThan(LEFT_BYTES_MAX);
  }, 600_000);
});

describe(`${messages} fuzzed bodies`, () => {
  it('each have a stream or a refusal of the protocol, those that are taken are of the schema, and nothing is left behind', async () => {
    const [differences, leftBytes] = await run((draw, count) => fuzzRequests(draw, count, sendBody), 44);
    expect(differences).toEqual([]);
    await expect.poll(leftBytes).toBeLessThan(LEFT_BYTES_MAX);
  }, 600_000);
});

describe(`${messages} fuzzed queries`, () => {
  it('each have a stream or a refusal of the protocol, and nothing is left behind', async () => {
    const [differences, leftBytes] = await run((draw, count) => fuzzRequests(draw, count, sendQuery), 45);
    expect(differences).toEqual([]);
    await expect.poll(leftBytes).toBeLessThan(LEFT_BYTES_MAX);
  }, 600_000);
});
