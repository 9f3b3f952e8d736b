import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { list, object, scalar } from '#service/contract/shape.ts';
import { isNewestPage } from '#service/v3/request/newest-page.ts';
import { defineV3Operation } from '#service/v3/request/operation.ts';
import { cursorPaging } from '#service/v3/request/parameters.ts';
import { createV3 } from '#service/v3/v3.ts';
import { allowed, scriptLimits, startListener, type Listener } from './listener.ts';
import { post, request, type Reply } from './requests.ts';

let listener: Listener;
let state: string;
let made: number;

const limits = scriptLimits(({ key }) =>
  key === 'over'
    ? {
        allowed: false,
        code: 'rate_limited',
        retryAfterSeconds: 1,
        plan: 'test',
        quota: null,
        release: () => undefined,
      }
    : allowed,
);

async function start(unknownParameters: 'Ignore' | 'Refuse'): Promise<Listener> {
  const newest = defineV3Operation({
    name: 'newest',
    methods: ['GET', 'POST'],
    tag: 'tests',
    summary: 'Has the number of its making.',
    parameters: cursorPaging,
    result: object({ made: scalar<number>({ type: 'number' }), texts: list(scalar<string>({ type: 'string' })) }),
    sameForBlock: isNewestPage,
    handle: async ({ limit }, { onNextPage }) => {
      made++;
      onNextPage(`cursor-${made}`);
      return { made, texts: Array.from({ length: limit }, () => '.'.repeat(1000)) };
    },
  });
  const store = { read: async <R extends object>() => [{ state }] as unknown as R[] };
  const v3 = createV3([newest], { store, nowMs: () => performance.now(), register: new Registry() });
  return startListener({ limits, options: { compression: true, unknownParameters }, dependencies: { v3 } });
}

beforeEach(async () => {
  [state, made] = ['a', 0];
  limits.asked.length = 0;
  listener = await start('Ignore');
});
afterEach(() => listener.close());

const get = (query = '', init?: RequestInit): Promise<Reply> =>
  request(`${listener.url}/api/v3/newest?limit=20${query}`, init);

/** Headers besides those of the moment. */
const headersOf = ({ headers }: Reply) =>
  [...headers].filter(([name]) => !['date', 'server-timing', 'x-request-id'].includes(name));

describe('a cached answer of v3', () => {
  it('is the same as a new one, with its cursor, its time and its headers', async () => {
    const [first, second] = [await get(), await get()];
    expect([made, second.status, second.text]).toEqual([1, 200, first.text]);
    expect(headersOf(second)).toEqual(headersOf(first));
    expect(second.headers.get('x-next-cursor')).toBe('cursor-1');
    expect(second.headers.get('server-timing')).toMatch(/^app;dur=\d+\.\d+ms$/);
  });

  it('counts as a request, in limits and in metrics', async () => {
    for (let at = 0; at < 3; at++) await get();
    expect(limits.asked.map(({ operation }) => operation)).toEqual(['newest', 'newest', 'newest']);
    const { status } = await get('', { headers: { 'x-api-key': 'over' } });
    expect([status, made]).toEqual([429, 1]);
    await expect
      .poll(() => listener.register.metrics())
      .toMatch(/^ton_http_requests_total\{operation="v3\/newest",status="200"\} 3$/m);
  });

  it('is sent to HEAD without its body, and compressed to a caller that accepts gzip', async () => {
    const plain = await get('', { headers: { 'accept-encoding': 'identity' } });
    const head = await get('', { method: 'HEAD', headers: { 'accept-encoding': 'identity' } });
    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers.get('content-length')).toBe(plain.headers.get('content-length'));
    const compressed = await get('', { headers: { 'accept-encoding': 'gzip' } });
    expect([compressed.headers.get('content-encoding'), compressed.text]).toEqual(['gzip', plain.text]);
    expect(made).toBe(1);
  });

  it('is that of the same values of a POST', async () => {
    const first = await get();
    const reply = await post(`${listener.url}/api/v3/newest`, '{"limit":"20"}', { 'content-type': 'application/json' });
    expect([reply.status, reply.text, made]).toEqual([200, first.text, 1]);
  });

  it('names parameters that this request has and the operation does not', async () => {
    await get();
    const reply = await get('&colour=red');
    expect([reply.headers.get('x-tonplane-ignored'), made]).toEqual(['colour', 1]);
    expect((await get()).headers.get('x-tonplane-ignored')).toBeNull();
    await listener.close();
    listener = await start('Refuse');
    await get();
    expect([(await get('&colour=red')).status, (await get('&limit=1001')).status]).toEqual([422, 422]);
  });

  it('is not for a request with a time limit of its own, in either form', async () => {
    await get();
    await get('&x_timeout=500');
    await get('', { headers: { 'X-Timeout': '500' } });
    expect(made).toBe(3);
    await get('&x_timeout=3000');
    expect(made).toBe(3);
  });

  it('ends with the state of the index', async () => {
    await get();
    state = 'b';
    const { body, headers } = await get();
    expect([body['made'], headers.get('x-next-cursor')]).toEqual([2, 'cursor-2']);
  });
});
