import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { defineV3Operation } from '#service/v3/request/operation.ts';
import { plainText } from '#service/v3/request/parameters.ts';
import { createV3 } from '#service/v3/v3.ts';
import { object } from '#service/contract/shape.ts';
import { notIndexed } from '#service/v3/request/errors.ts';
import { Registry } from 'prom-client';
import { allowed, scriptLimits, startListener, type Listener } from './listener.ts';
import { parseRaw, post, rawExchange, request, rpc } from './requests.ts';

let listener: Listener;

const nothing = defineV3Operation({
  name: 'nothing',
  aliases: [],
  tag: 'tests',
  summary: 'Has nothing to say.',
  parameters: { how: plainText('how') },
  result: object({}),
  handle: async ({ how }) => {
    if (how === 'missing') throw notIndexed('nothing');
    return {};
  },
});

beforeAll(async () => {
  listener = await startListener({
    limits: scriptLimits(({ key }) =>
      key === undefined || key === 'good'
        ? allowed
        : {
            allowed: false,
            code: key === 'busy' ? 'rate_limited' : 'unknown_key',
            plan: null,
            quota: null,
            retryAfterSeconds: 1,
          },
    ),
    dependencies: {
      v3: createV3([nothing], { store: { read: async () => [] }, nowMs: () => 0, register: new Registry() }),
      posts: new Map([['/faucet', { name: 'faucet', run: async () => 'funded' }]]),
    },
  });
});
afterAll(() => listener.close());

const caching = async (path: string, init?: RequestInit): Promise<(number | string | null)[]> => {
  const { status, headers } = await request(listener.url + path, init);
  return [path, status, headers.get('cache-control')];
};

describe('caches between the caller and the service', () => {
  it.each(['/api/v2/getMasterchainInfo', '/api/v3/nothing'])('may keep %s for its caller alone', async (path) => {
    expect(await caching(path)).toEqual([path, 200, 'private']);
    expect(await caching(path, { headers: { 'x-api-key': 'good' } })).toEqual([path, 200, 'private']);
  });

  it('may keep an answer of JSON-RPC, a batch, a funded transfer for its caller alone', async () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'getMasterchainInfo' };
    expect((await rpc(listener.url, call)).headers.get('cache-control')).toBe('private');
    expect((await rpc(listener.url, [call, call])).headers.get('cache-control')).toBe('private');
    const funded = await post(`${listener.url}/faucet`, '{}', { 'content-type': 'application/json' });
    expect([funded.status, funded.headers.get('cache-control')]).toEqual([200, 'private']);
  });

  it.each(['/', '/api/v2/', '/api/v3/', '/api/v2/openapi.json', '/api/v3/openapi.json', '/api/v2/docs/v2.js'])(
    'may keep the page %s, and none that is shared may',
    async (path) => {
      const [, status, control] = await caching(path);
      expect([status, control]).toEqual([200, expect.stringMatching(/^private, /)]);
    },
  );

  it('never keep what a key did today', async () => {
    expect(await caching('/usage', { headers: { 'x-api-key': 'good' } })).toEqual(['/usage', 200, 'no-store']);
    expect(await caching('/usage', { headers: { 'x-api-key': 'bad' } })).toEqual(['/usage', 401, 'no-store']);
  });

  it('never keep an error, whichever surface it is of', async () => {
    const bad = { headers: { 'x-api-key': 'bad' } };
    const busy = { headers: { 'x-api-key': 'busy' } };
    const seen = await Promise.all([
      caching('/nowhere'),
      caching('/api/v2/nowhere'),
      caching('/api/v3/nowhere'),
      caching('/api/v2/%zz'),
      caching(`/healthcheck?${'x'.repeat(8192)}`).then(([, ...rest]) => ['long', ...rest]),
      caching('/healthcheck', { method: 'POST' }),
      caching('/api/v2/getMasterchainInfo', bad),
      caching('/api/v3/nothing', bad),
      caching('/api/v2/getMasterchainInfo', busy),
      caching('/api/v3/nothing', busy),
      caching('/api/v2/getAddressBalance?address=x'),
      caching('/api/v3/nothing?how=missing'),
      caching('/api/v2/jsonRPC', { method: 'POST', body: '{' }),
      caching('/faucet', { method: 'POST', body: '{}' }),
    ]);
    expect(seen.map(([path, , control]) => [path, control])).toEqual(seen.map(([path]) => [path, 'no-store']));
    expect(seen.map(([, status]) => status)).toEqual([
      404, 404, 404, 400, 414, 405, 401, 401, 429, 429, 422, 404, 422, 415,
    ]);
  });

  it('never keep a batch in which a call failed', async () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'getMasterchainInfo' };
    const { status, headers } = await rpc(listener.url, [call, { ...call, method: 'nothing' }]);
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
  });

  it.each([
    ['noise\r\n\r\n', 400],
    ['CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', 405],
    ['GET / HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n', 417],
  ])('never keep the answer to %j', async (bytes, status) => {
    const reply = parseRaw(await rawExchange(listener.port, bytes));
    expect([reply.status, reply.headers.get('cache-control')]).toEqual([status, 'no-store']);
  });
});
