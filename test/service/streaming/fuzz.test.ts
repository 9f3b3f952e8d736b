import { once } from 'node:events';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { address, hash, startStreams, type StreamListener } from './stream-listener.ts';

let at: StreamListener;
beforeAll(async () => void (at = await startStreams({ connections: 1000 })));
afterAll(() => at.close());

/** Pseudo-random numbers of a seed: a failure repeats. */
function createDraws(seed: number) {
  let state = seed;
  const below = (end: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
  const of = <T>(items: readonly T[]): T => items[below(items.length)]!;
  return { below, of };
}

type Draws = ReturnType<typeof createDraws>;

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

function value(draws: Draws, depth: number): unknown {
  const kind = depth > 2 ? 0 : draws.below(4);
  if (kind === 1) return Array.from({ length: draws.below(4) }, () => value(draws, depth + 1));
  if (kind === 2) return Object.fromEntries([[draws.of(fields), value(draws, depth + 1)]]);
  if (kind === 3) return [draws.of([address, hash, 'trace', 'transactions', 'actions'])];
  return draws.of(scalars);
}

/** A message with some fields of the protocol and any values, at times cut or changed. */
function message(draws: Draws): string {
  const source = Object.fromEntries(
    Array.from({ length: draws.below(7) }, () => [draws.of(fields), value(draws, 0)] as const),
  );
  const text = JSON.stringify(draws.below(10) === 0 ? value(draws, 0) : source);
  if (draws.below(6) > 0) return text;
  const cut = draws.below(text.length + 1);
  return text.slice(0, cut) + draws.of(['', '}', '"', '\\u12', ',', '[', text]);
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

describe('5,000 fuzzed messages', () => {
  it('each have an answer of the protocol', async () => {
    const draws = createDraws(43);
    let asked = 0;
    let answers: Record<string, unknown>[] = [];
    while (asked < 5000) {
      const socket = new WebSocket(`ws://127.0.0.1:${at.port}/api/streaming/v2/ws`);
      await once(socket, 'open');
      socket.on('message', (data: Buffer) =>
        answers.push(JSON.parse(data.toString('utf8')) as Record<string, unknown>),
      );
      const sent = answers.length;
      // Fewer than the rate of a connection takes at once, and fewer in a row than the errors that end it.
      for (let count = 0; count < 9; count++) socket.send(message(draws));
      asked += 9;
      await expect.poll(() => answers.length).toBe(sent + 9);
      socket.terminate();
      answers = answers.filter(({ error, status }) => !(isKnown(error) || typeof status === 'string'));
    }
    expect(answers).toEqual([]);
  });
});

describe('5,000 fuzzed bodies', () => {
  it('each have a stream or a refusal of the protocol', async () => {
    const draws = createDraws(44);
    const others: unknown[] = [];
    for (let asked = 0; asked < 5000; asked += 10) {
      const responses = Array.from({ length: 10 }, () => at.post(message(draws)));
      for (const response of await Promise.all(responses)) {
        if (response.status === 200) {
          await response.body?.cancel();
          continue;
        }
        const body = (await response.json()) as Record<string, unknown>;
        if (response.status !== 400 || body['ok'] !== false || !isKnown(body['error'])) others.push(body);
      }
    }
    expect(others).toEqual([]);
  });

  it('leave no connection and no request behind', async () => {
    await expect.poll(() => at.hub.status().connections).toBe(0);
    expect(at.server.status().inFlight).toBe(0);
  });
});
