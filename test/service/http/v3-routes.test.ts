import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Registry } from 'prom-client';

import { object, scalar } from '#service/contract/shape.ts';
import { StoreError } from '#service/store/errors.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { notIndexed, V3Error } from '#service/v3/request/errors.ts';
import { defineV3Operation, type V3Operation } from '#service/v3/request/operation.ts';
import { paging, plainText } from '#service/v3/request/parameters.ts';
import type { RequestSettings } from '#service/v3/request/settings.ts';
import { createV3 } from '#service/v3/v3.ts';
import { allowed, scriptLimits, startListener, type Listener } from './listener.ts';
import { request, type Reply } from './requests.ts';

/** What the store is asked for; a test says what it answers. */
type AttemptResult = { sql: string; timeoutMs: number | undefined };

const failures: Readonly<Record<string, () => Error>> = {
  missing: () => notIndexed('blocks not found'),
  wallet: () => new V3Error('not_a_wallet', 'not a wallet'),
  empty: () => new V3Error('index_empty', 'no block is indexed yet'),
  slow: () => new StoreError('statement_timeout', 'canceling statement due to statement timeout'),
  away: () => new StoreError('store_unavailable', 'connect ECONNREFUSED'),
  broken: () => new Error('a fault of ours'),
};

let seen: RequestSettings[] = [];

const answer = object({ value: scalar<string | null>({ type: ['string', 'null'] }) });

const operations: readonly V3Operation[] = [
  defineV3Operation({
    name: 'jetton/Things',
    aliases: ['stuff'],
    tag: 'tests',
    summary: 'Says what it was told.',
    parameters: { value: plainText('value'), ...paging },
    result: answer,
    handle: async ({ value = null }, { settings }) => {
      seen.push(settings);
      return { value };
    },
  }),
  defineV3Operation({
    name: 'failing',
    tag: 'tests',
    summary: 'Fails as it is told.',
    parameters: { how: plainText('how') },
    result: answer,
    handle: async ({ how = '' }) => {
      throw failures[how]!();
    },
  }),
  defineV3Operation({
    name: 'reading',
    tag: 'tests',
    summary: 'Reads twice.',
    parameters: {},
    result: answer,
    handle: async (_values, { store }: { store: StoreReader }) => {
      await store.read('one', []);
      await store.read('two', []);
      return { value: null };
    },
  }),
  defineV3Operation({
    name: 'posted',
    methods: ['POST'],
    tag: 'tests',
    summary: 'Takes a body.',
    parameters: { value: plainText('value') },
    result: answer,
    handle: async ({ value = null }) => ({ value }),
  }),
];

let listener: Listener;
let asked: AttemptResult[] = [];
let clockMs: number | undefined;
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

beforeAll(async () => {
  const store = {
    read: async (sql: string, _values?: readonly unknown[], options?: { timeoutMs?: number }) => {
      asked.push({ sql, timeoutMs: options?.timeoutMs });
      if (clockMs !== undefined) clockMs += 600;
      return [];
    },
  };
  const v3 = createV3(operations, { store, nowMs: () => clockMs ?? performance.now(), register: new Registry() });
  listener = await startListener({ limits, dependencies: { v3 } });
});
afterAll(() => listener.close());

const get = (path: string, init?: RequestInit): Promise<Reply> => request(`${listener.url}/${path}`, init);

describe('a path of v3', () => {
  it.each(['api/v3/jetton/Things', 'api/v3/jetton/things', 'API/V3/JETTON/THINGS/', 'api/v3/Stuff', 'api/v3/stuff/'])(
    'is of any case, with a slash at its end or without: %s',
    async (path) => {
      const { status, text, headers } = await get(`${path}?value=As%20It%20Is`);
      expect([status, text, headers.get('content-type')]).toEqual([200, '{"value":"As It Is"}', 'application/json']);
    },
  );

  it('answers HEAD as GET, without the body', async () => {
    const { status, text, headers } = await get('api/v3/stuff', { method: 'HEAD' });
    expect([status, text, headers.get('content-length')]).toEqual([200, '', '14']);
  });

  it.each([
    ['api/v3/nothing', {}, 404, 'Not Found', null],
    ['api/v3/jetton', {}, 404, 'Not Found', null],
    ['api/v3/stuff', { method: 'PUT' }, 405, 'unsupported http method: PUT', 'GET, HEAD, OPTIONS'],
    ['api/v3/posted', {}, 405, 'unsupported http method: GET', 'POST, OPTIONS'],
  ])('that is not there, or not for the method, is refused: %s', async (path, init, status, error, allow) => {
    const reply = await get(path, init);
    expect([reply.status, reply.body]).toEqual([status, { ok: false, code: status, error }]);
    expect(reply.headers.get('allow')).toBe(allow);
  });

  it('has its version and its time in every answer', async () => {
    for (const path of ['api/v3/stuff', 'api/v3/nothing', 'api/v3/failing?how=missing', 'api/v3/', 'api/v3/doc.json']) {
      const { headers } = await get(path);
      expect(headers.get('x-api-version')).toMatch(/^\d+\.\d+\.\d+$/);
      expect(headers.get('server-timing')).toMatch(/^app;dur=\d+\.\d+ms$/);
      expect(headers.get('access-control-allow-origin')).toBe('*');
    }
    const other = await get('api/v2/detectHash');
    expect([other.headers.get('server-timing'), other.headers.get('x-api-version')]).toEqual([null, '2.2.0']);
  });

  it('may have a query of a thousand raw addresses', async () => {
    const long = `-1:${'5'.repeat(64)},`.repeat(1000);
    const query = `collection_address=${encodeURIComponent(long)}`;
    expect((await get(`api/v3/stuff?value=end&${query}`)).body).toEqual({ value: 'end' });
    expect((await get(`api/v2/detectHash?hash=${'x'.repeat(50_000)}`)).status).toBe(414);
    expect((await get(`api/v2/detectHash?${query}`)).status).toBe(431);
  });

  it('is not there when v3 is not served', async () => {
    const without = await startListener();
    const { status, body } = await request(`${without.url}/api/v3/stuff`);
    await without.close();
    expect([status, body]).toEqual([404, { ok: false, code: 404, error: 'Not Found' }]);
  });
});

describe('a failure', () => {
  it.each([
    ['missing', 404, 'blocks not found'],
    ['wallet', 409, 'not a wallet'],
    ['empty', 503, 'no block is indexed yet'],
    ['slow', 504, 'timeout of the query'],
    ['away', 503, 'the index is not available'],
    ['broken', 500, 'internal error'],
  ])('is told as status and text: %s', async (how, status, error) => {
    const reply = await get(`api/v3/failing?how=${how}`);
    expect([reply.status, reply.text]).toEqual([status, JSON.stringify({ ok: false, code: status, error })]);
    expect(reply.headers.get('retry-after')).toBe(status === 503 ? '1' : null);
  });

  it('of a parameter has the words of the contract', async () => {
    const reply = await get('api/v3/stuff?limit=1001');
    expect([reply.status, reply.body]).toEqual([
      422,
      { ok: false, code: 422, error: 'limit is not allowed: 1001 > 1000' },
    ]);
  });

  it('of a limit comes before anything else', async () => {
    const reply = await get('api/v3/stuff?limit=1001', { headers: { 'x-api-key': 'over' } });
    expect([reply.status, reply.body]).toEqual([429, { ok: false, code: 429, error: 'Ratelimit exceeded' }]);
  });

  it('of a body is reported like any other', async () => {
    const reply = await get('api/v3/posted', { method: 'POST', body: '{"value":' });
    expect([reply.status, reply.body['ok'], reply.body['code']]).toEqual([422, false, 422]);
    expect(Object.keys(reply.body)).toEqual(['ok', 'code', 'error']);
  });
});

describe('an empty body', () => {
  it('is an object without fields', async () => {
    const reply = await get('api/v3/posted', { method: 'POST' });
    expect([reply.status, reply.body]).toEqual([200, { value: null }]);
  });
});

describe('settings of a request', () => {
  const defaults = { timeoutMs: 3000, addressBook: true, metadata: true, actionsVersion: undefined };

  it.each([
    ['', {}, {}],
    [
      '?x_timeout=250&x_no_address_book=true&x_no_metadata=1',
      {},
      { timeoutMs: 250, addressBook: false, metadata: false },
    ],
    [
      '',
      { 'X-Timeout': '250', 'X-No-Address-Book': 'TRUE', 'X-No-Metadata': 't' },
      { timeoutMs: 250, addressBook: false, metadata: false },
    ],
    ['?x_timeout=100', { 'X-Timeout': '200' }, { timeoutMs: 200 }],
    ['?x_timeout=60000', {}, {}],
    ['?x_timeout=0', {}, {}],
    ['?x_timeout=soon&x_no_metadata=maybe', {}, {}],
    ['', { 'X-Actions-Version': 'v1' }, { actionsVersion: 'v1' }],
  ])('%#: are in headers or in the query: %s', async (query, headers, expected) => {
    seen = [];
    await get(`api/v3/stuff${query}`, { headers: headers as Record<string, string> });
    expect(seen).toEqual([{ ...defaults, ...expected }]);
  });

  it('bound the time of the queries together', async () => {
    asked = [];
    clockMs = performance.now();
    await get('api/v3/reading?x_timeout=1000');
    expect(asked.map(({ timeoutMs }) => timeoutMs)).toEqual([1000, 500]);
    const { status } = await get('api/v3/reading?x_timeout=500');
    clockMs = undefined;
    expect([status, asked.length]).toEqual([504, 3]);
  });
});

describe('the documentation of v3', () => {
  it.each(['api/v3', 'api/v3/', 'API/v3/Index.html'])('is a page at %s', async (path) => {
    const { status, headers, text } = await get(path);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toContain('docs/v3.js');
  });

  it('has its document under two names, made of the operations', async () => {
    const [one, other] = [await get('api/v3/openapi.json'), await get('api/v3/doc.json')];
    expect(one.text).toBe(other.text);
    const { paths } = one.body as { paths: Record<string, object> };
    expect(Object.keys(paths)).toEqual([
      '/api/v3/jetton/Things',
      '/api/v3/stuff',
      '/api/v3/failing',
      '/api/v3/reading',
      '/api/v3/posted',
    ]);
  });
});

describe('operations of v3', () => {
  it('are counted by their names, and charged by them', async () => {
    limits.asked.length = 0;
    await get('api/v3/STUFF');
    expect(limits.asked.map(({ operation }) => operation)).toEqual(['jetton/Things']);
    expect(await listener.register.metrics()).toContain(
      'ton_http_requests_total{operation="v3/jetton/Things",status="200"}',
    );
  });
});
