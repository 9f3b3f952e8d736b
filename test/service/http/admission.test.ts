import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';

import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';

import { createKeyring } from '#service/limits/keyring.ts';
import { makeKey } from '#service/limits/keys.ts';
import { createLimits, type Decision } from '#service/limits/limits.ts';
import type { LimitPlan } from '#service/limits/options.ts';
import { bytes32, scriptAccounts } from '#test/service/v2/scripted-accounts.ts';
import { allowed, scriptLimits, startListener, type Listener, type ListenerSetup } from './listener.ts';
import { parseRaw, post, request, rpc } from './requests.ts';

const address = `0:${bytes32(0xab).toString('hex')}`;
const key = makeKey(randomBytes);
const foreignKey = makeKey(randomBytes);
const strangeKey = makeKey(randomBytes).key;

let open: Listener[] = [];

async function start(setup: ListenerSetup): Promise<Listener> {
  const listener = await startListener(setup);
  open.push(listener);
  return listener;
}

afterEach(async () => {
  await Promise.all(open.map((listener) => listener.close()));
  open = [];
});

const plan = (overrides: Partial<LimitPlan>): LimitPlan => ({
  name: 'anonymous',
  requestsPerSecond: 1,
  burst: 1,
  requestsPerDay: null,
  maxConcurrent: null,
  methodCosts: {},
  ...overrides,
});

/** Real limits with a clock that stands still unless moved. */
function realLimits(anonymous: LimitPlan | null, keyed: Partial<LimitPlan> = {}) {
  const clock = { nowMs: 1_000_000 };
  const keyring = createKeyring({
    rows: [
      { id: key.id, sha256: key.sha256, plan: 'keyed' },
      { id: foreignKey.id, sha256: foreignKey.sha256, plan: 'keyed', networks: ['testnet'] },
    ],
  });
  const plans = [
    plan({ name: 'keyed', requestsPerSecond: 10, burst: 10, ...keyed }),
    ...(anonymous ? [anonymous] : []),
  ];
  const limits = createLimits(
    { plans, anonymousPlan: anonymous?.name ?? null, network: 'mainnet' },
    { keyring, now: () => clock.nowMs, register: new Registry() },
  );
  return { limits, clock };
}

const info = (listener: Listener, headers: Record<string, string> = {}, query = '') =>
  request(`${listener.url}/api/v2/getMasterchainInfo${query}`, { headers });

describe('keys', () => {
  it('are taken from the header in any case, else from the query, for every method', async () => {
    const limits = scriptLimits();
    const listener = await start({ limits });
    await info(listener, { 'X-API-KEY': 'a' });
    await info(listener, {}, '?api_key=b&api_key=c');
    await info(listener, { 'x-api-key': 'd' }, '?api_key=e');
    await info(listener, { 'x-api-key': '' });
    await post(`${listener.url}/api/v2/getMasterchainInfo?api_key=f`, '{}');
    await post(`${listener.url}/api/v2/jsonRPC?api_key=g`, '{"method":"getMasterchainInfo"}');
    await info(listener);
    expect(limits.asked.map((asked) => asked.key)).toEqual(['a', 'b', 'd', undefined, 'f', 'g', undefined]);
  });

  it('that are unknown are 401, of another network 403, and none without an anonymous plan 401', async () => {
    const { limits } = realLimits(null);
    const listener = await start({ limits });
    const facts = async (headers: Record<string, string>) => {
      const { status, body } = await info(listener, headers);
      return [status, body['error'], body['code']];
    };
    const unknown = [401, 'API key does not exist', 401];
    expect(await facts({ 'x-api-key': strangeKey })).toEqual(unknown);
    expect(await facts({ 'x-api-key': 'noise' })).toEqual(unknown);
    expect(await facts({})).toEqual(unknown);
    expect(await facts({ 'x-api-key': foreignKey.key })).toEqual([403, 'Network not allowed', 403]);
    expect((await info(listener, { 'x-api-key': key.key })).status).toBe(200);
  });

  it('appear in no log line, metric or answer, wherever they were sent', async () => {
    const { limits } = realLimits(plan({ requestsPerSecond: 0, burst: 1 }));
    const listener = await start({ limits });
    const secret = key.key;
    await info(listener, { 'x-api-key': secret });
    const encoded = secret.replace('_', '%5F');
    const texts = [
      ...(await Promise.all(
        [`?api_key=${secret}`, `?API_KEY=${secret}`, `?x=${secret}`, `?api%5Fkey=${encoded}`, `?x=${encoded}`].map(
          (query) => info(listener, {}, query),
        ),
      )),
      await request(`${listener.url}/${secret}?api_key=${secret}`),
      await request(`${listener.url}/${encoded}`),
      await post(`${listener.url}/api/v2/jsonRPC?api_key=${secret}`, '{"method":1}'),
      await post(`${listener.url}/api/v2/getAddressState?api_key=${secret}`, 'x'),
    ].map(({ text }) => text);
    const everything = JSON.stringify(listener.logs) + (await listener.register.metrics()) + texts.join('');
    expect(listener.logs.length).toBeGreaterThan(8);
    expect(everything).toContain('redacted');
    expect(everything).not.toContain(secret.slice(-20));
  });
});

describe('limits', () => {
  it('refuse the second request of a second without a key, with times to wait', async () => {
    const { limits, clock } = realLimits(plan({}));
    const listener = await start({ limits });
    const first = await info(listener);
    expect([first.status, first.headers.get('ratelimit-limit'), first.headers.get('ratelimit-remaining')]).toEqual([
      200,
      '1',
      '0',
    ]);
    const second = await info(listener);
    expect(second.status).toBe(429);
    expect(second.body).toEqual({ ok: false, error: 'Ratelimit exceeded', code: 429, '@extra': expect.any(String) });
    expect(second.headers.get('retry-after')).toBe('1');
    expect(second.headers.get('ratelimit-reset')).toBe('1');
    expect(second.headers.get('access-control-allow-origin')).toBe('*');
    clock.nowMs += 1000;
    expect((await info(listener)).status).toBe(200);
  });

  it.each<[number, string, string, string, string | undefined]>([
    [200, 'GET', '/api/v2/getMasterchainInfo', 'keyed', key.key],
    [422, 'GET', '/api/v2/getAddressState?address=x', 'keyed', key.key],
    [401, 'GET', '/api/v2/getMasterchainInfo', 'anonymous', strangeKey],
    [403, 'GET', '/api/v2/getMasterchainInfo', 'keyed', foreignKey.key],
    [404, 'GET', '/api/v2/nowhere?x=1', 'keyed', key.key],
    [404, 'GET', '/api/v2/nowhere', 'anonymous', undefined],
    [405, 'DELETE', '/api/v2/getMasterchainInfo', 'keyed', key.key],
    [200, 'POST', '/api/v2/jsonRPC', 'keyed', key.key],
    [401, 'POST', '/api/v2/jsonRPC', 'anonymous', strangeKey],
    [405, 'GET', '/api/v2/jsonRPC', 'keyed', key.key],
  ])('are told with %i to %s %s, as those of %s', async (status, method, path, policy, sent) => {
    const { limits } = realLimits(plan({}));
    const listener = await start({ limits });
    const answer = await request(listener.url + path, {
      method,
      headers: sent === undefined ? {} : { 'x-api-key': sent },
      ...(method === 'POST' && { body: '{"method":"getMasterchainInfo"}' }),
    });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('ratelimit-policy')).toMatch(new RegExp(`^"${policy}";q=\\d+;w=1$`));
    expect(answer.headers.get('ratelimit')).toMatch(new RegExp(`^"${policy}";r=\\d+;t=\\d$`));
  });

  it("take the caller's address from as many proxies as are trusted, also after that was changed", async () => {
    const { limits } = realLimits(plan({}));
    const listener = await start({ limits });
    const from = (client: string) => info(listener, { 'x-forwarded-for': client });
    expect([(await from('192.0.2.1')).status, (await from('192.0.2.2')).status]).toEqual([200, 429]);
    listener.server.reconfigure({ trustedProxies: 1, maxConnectionsPerPod: 1 });
    expect([(await from('192.0.2.1')).status, (await from('192.0.2.2')).status]).toEqual([200, 200]);
    expect((await from('192.0.2.9, 192.0.2.1')).status).toBe(429);
  });

  it('hold for JSON-RPC alike: one token a call', async () => {
    const { limits, clock } = realLimits(plan({}));
    const listener = await start({ limits });
    const ask = () => rpc(listener.url, { id: 1, method: 'getMasterchainInfo' });
    expect((await ask()).status).toBe(200);
    const refused = await ask();
    expect([refused.status, refused.body['error'], refused.headers.get('retry-after')]).toEqual([
      429,
      'Ratelimit exceeded',
      '1',
    ]);
    clock.nowMs += 1000;
    expect((await ask()).status).toBe(200);
  });

  it('charge a JSON-RPC call what its method costs', async () => {
    const { limits } = realLimits(plan({ requestsPerSecond: 1, burst: 10, methodCosts: { getMasterchainInfo: 7 } }));
    const listener = await start({ limits });
    const answer = await rpc(listener.url, { method: 'getMasterchainInfo' });
    expect([answer.status, answer.headers.get('ratelimit-remaining')]).toEqual([200, '3']);
    expect((await rpc(listener.url, { id: 9, method: 'getMasterchainInfo' })).body).toMatchObject({ code: 429, id: 9 });
  });

  it('charge a batch one token a call, and refuse the calls beyond', async () => {
    const { limits } = realLimits(plan({ requestsPerSecond: 1, burst: 3 }));
    const listener = await start({ limits });
    const { status, text } = await rpc(
      listener.url,
      Array.from({ length: 5 }, (_, id) => ({ id, method: 'getMasterchainInfo' })),
    );
    expect(status).toBe(200);
    const codes = (JSON.parse(text) as { code?: number; id: number }[]).map(({ code = 200, id }) => [id, code]);
    expect(codes).toEqual([
      [0, 200],
      [1, 200],
      [2, 200],
      [3, 429],
      [4, 429],
    ]);
  });

  it.each([
    ['bad JSON', '{'],
    ['an unknown method', '{"method":"x"}'],
    ['an empty batch', '[]'],
    ['too long a body', 'x'.repeat(1_048_577)],
  ])('charge %s to JSON-RPC too', async (_what, body) => {
    const { limits } = realLimits(plan({}));
    const listener = await start({ limits });
    expect((await rpc(listener.url, body)).status).not.toBe(429);
    expect((await rpc(listener.url, body)).status).toBe(429);
  });

  it('count places for one request only once, a batch included, and give them back', async () => {
    const { limits } = realLimits(plan({ requestsPerSecond: 0, maxConcurrent: 1 }));
    const gate = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const listener = await start({
      limits,
      accounts: scriptAccounts({
        info: async () => {
          started.resolve();
          await gate.promise;
          throw new Error('any');
        },
      }),
    });
    const batch = rpc(listener.url, [{ method: 'getMasterchainInfo' }, { method: 'getMasterchainInfo' }]);
    await started.promise;
    expect((await request(`${listener.url}/api/v2/getAddressState?address=${address}`)).status).toBe(429);
    gate.resolve();
    expect((await batch).text).not.toContain('429');
    expect((await request(`${listener.url}/api/v2/getAddressState?address=${address}`)).status).toBe(200);
  });

  it('are asked with the name of the operation, not of its path, and the address of the caller', async () => {
    const limits = scriptLimits();
    const listener = await start({ limits, options: { trustedProxies: 1 } });
    await info(listener, { 'x-forwarded-for': '1.2.3.4, 5.6.7.8' });
    expect(limits.asked).toEqual([{ key: undefined, clientAddress: '5.6.7.8', operation: 'getMasterchainInfo' }]);
  });

  it.each([
    ['REST', '/api/v2/getAddressState'],
    ['JSON-RPC', '/api/v2/jsonRPC'],
  ])('come before the body is read: %s', async (_what, path) => {
    const refused: Decision = { allowed: false, code: 'unknown_key', plan: null, quota: null, retryAfterSeconds: null };
    const listener = await start({ limits: scriptLimits(() => refused) });
    // A body is promised and never sent: only an answer that does not wait for it can come.
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(listener.port, '127.0.0.1', () => {
        socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n`);
      });
      socket.once('data', (chunk: Buffer) => {
        resolve(chunk.toString());
        socket.destroy();
      });
      socket.once('error', reject);
    });
    expect(parseRaw(text).body).toMatchObject({ code: 401 });
  });

  it('do not concern probes, the document and preflights', async () => {
    const limits = scriptLimits();
    const listener = await start({ limits });
    for (const path of ['/healthcheck', '/api/v2/healthcheck', '/', '/api/v2/openapi.json', '/nope']) {
      await request(listener.url + path);
    }
    await request(`${listener.url}/api/v2/getMasterchainInfo`, { method: 'OPTIONS' });
    expect(limits.asked).toEqual([]);
  });

  it('free the place of a call whose caller hung up', async () => {
    let held = 0;
    const limits = scriptLimits(() => {
      held++;
      let once = true;
      return {
        ...allowed,
        allowed: true,
        plan: 'x',
        quota: null,
        release: () => {
          if (once) held--;
          once = false;
        },
      };
    });
    const started = Promise.withResolvers<void>();
    const listener = await start({
      limits,
      accounts: scriptAccounts({
        info: () => {
          started.resolve();
          return new Promise(() => undefined);
        },
      }),
    });
    const abort = new AbortController();
    const asked = fetch(`${listener.url}/api/v2/getMasterchainInfo`, { signal: abort.signal }).catch(() => 'gone');
    await started.promise;
    abort.abort();
    expect(await asked).toBe('gone');
    await expect.poll(() => held).toBe(0);
  });
});
