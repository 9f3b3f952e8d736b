import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { bytes32, scriptAccounts } from '#test/service/v2/scripted-accounts.ts';
import { methodRun, scriptGetMethods } from '#test/service/v2/scripted-get-methods.ts';
import { startListener, type Listener } from './listener.ts';
import { post, request, rpc } from './requests.ts';

const address = `0:${bytes32(0xab).toString('hex')}`;
const accounts = scriptAccounts();
let listener: Listener;

beforeAll(async () => {
  listener = await startListener({ accounts, options: { batchMax: 5 } });
});
afterAll(() => listener.close());

const state = (rest: Record<string, unknown>) => ({ method: 'getAddressState', params: { address }, ...rest });

const run = (id: number) => ({ id, method: 'runGetMethodStd', params: { address, method: 'a', stack: [] } });

describe('JSON-RPC', () => {
  it.each([
    ['a text', '"1"'],
    ['a number', '1'],
    ['a negative fraction', '-1.5'],
    ['null', 'null'],
    ['an empty text', '""'],
    ['an integer beyond 2^53', '12345678901234567890'],
    ['a text with quotes', '"a\\"b"'],
  ])('repeats an id that is %s', async (_what, id) => {
    const { status, text } = await rpc(
      listener.url,
      `{"id":${id},"method":"getAddressState","params":{"address":"${address}"}}`,
    );
    expect(status).toBe(200);
    expect(text).toMatch(/^\{"ok":true,"result":"active","@extra":"1755516054:4:[\d.]+","jsonrpc":"2.0","id":/);
    expect(text.endsWith(`"id":${id}}`)).toBe(true);
  });

  it('an answer to a call without id has no id', async () => {
    const { text } = await rpc(listener.url, state({}));
    expect(text.endsWith('"jsonrpc":"2.0"}')).toBe(true);
  });

  it.each([undefined, null, [], 5, 'text', true])('takes params of %j as {}', async (params) => {
    expect((await rpc(listener.url, { method: 'getMasterchainInfo', params })).status).toBe(200);
  });

  it.each([
    ['an unknown method', { id: 7, method: 'nope' }, 'Unknown method'],
    ['itself', { id: 7, method: 'jsonRPC' }, 'Unknown method'],
    ['a path', { id: 7, method: '../getMasterchainInfo' }, 'Unknown method'],
    ['an inherited name', { id: 7, method: '__proto__' }, 'Unknown method'],
    ['another case', { id: 7, method: 'getmasterchaininfo' }, 'Unknown method'],
    ['params in a list', { id: 7, method: 'getAddressState', params: [address] }, 'params must contain an object'],
    ['no method', { id: 7 }, 'failed to parse request: method must be a string'],
    ['a numeric method', { id: 7, method: 5 }, 'failed to parse request: method must be a string'],
    ['a method of null', { id: 7, method: null }, 'failed to parse request: method must be a string'],
  ])('refuses %s with the id', async (_what, value, message) => {
    const { status, body, text } = await rpc(listener.url, value);
    expect(status).toBe(422);
    expect(body).toEqual({ ok: false, error: message, code: 422, '@extra': '_', jsonrpc: '2.0', id: 7 });
    expect(Object.keys(JSON.parse(text) as object)).toEqual(['ok', 'error', 'code', '@extra', 'jsonrpc', 'id']);
  });

  it.each([
    ['an id of true', '{"id":true,"method":"getMasterchainInfo"}', 'id must be a string or a number'],
    ['an id that is an object', '{"id":{},"method":"getMasterchainInfo"}', 'id must be a string or a number'],
    ['an id beyond all numbers', '{"id":1e999,"method":"getMasterchainInfo"}', 'id must be a string or a number'],
    ['an empty body', '', 'method must be a string'],
    ['a number', '5', 'expected a JSON object'],
    ['null', 'null', 'expected a JSON object'],
    ['an empty batch', '[]', 'empty batch'],
    ['too big a batch', JSON.stringify(Array(6).fill(state({}))), 'more than 5 calls in a batch'],
  ])('refuses %s', async (_what, text, reason) => {
    const { status, body } = await rpc(listener.url, text);
    expect(status).toBe(422);
    const message = `failed to parse request: ${reason}`;
    expect(body).toEqual({ ok: false, error: message, code: 422, '@extra': '_', jsonrpc: '2.0' });
  });

  it('refuses what is no JSON', async () => {
    const { status, body } = await rpc(listener.url, '{"method":');
    expect([status, body['@extra']]).toEqual([422, '_']);
    expect(body['error']).toMatch(/^failed to parse request: /);
  });

  it('has the status of the operation', async () => {
    const { status, body } = await rpc(listener.url, { id: 'a', method: 'getAddressState', params: { address: 'x' } });
    expect([status, body['error'], body['id']]).toEqual([422, 'failed to parse address', 'a']);
    expect(body['@extra']).toMatch(/^1755516054:_:/);
  });

  it('answers GET with 405', async () => {
    const { status, body, headers } = await request(`${listener.url}/api/v2/jsonRPC?method=getMasterchainInfo`);
    expect([status, headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    expect(body).toEqual({ ok: false, error: 'method GET is not supported', code: 405, '@extra': '_' });
  });

  it('is there with a slash at the end', async () => {
    const url = `${listener.url}/api/v2/jsonRPC/`;
    expect((await post(url, JSON.stringify(state({})))).status).toBe(200);
    expect((await request(url)).body['error']).toBe('method GET is not supported');
  });
});

describe('a batch', () => {
  it('is answered in its order with status 200, call by call', async () => {
    const { status, text } = await rpc(listener.url, [
      state({ id: 1 }),
      { id: 'b', method: 'getAddressBalance', params: {} },
      5,
      { id: 3, method: 'jsonRPC' },
      { method: 'getMasterchainInfo' },
    ]);
    expect(status).toBe(200);
    expect(JSON.parse(text)).toEqual([
      { ok: true, result: 'active', '@extra': expect.any(String), jsonrpc: '2.0', id: 1 },
      { ok: false, error: 'empty address', code: 422, '@extra': expect.any(String), jsonrpc: '2.0', id: 'b' },
      {
        ok: false,
        error: 'failed to parse request: expected a JSON object',
        code: 422,
        '@extra': '_',
        jsonrpc: '2.0',
      },
      { ok: false, error: 'Unknown method', code: 422, '@extra': '_', jsonrpc: '2.0', id: 3 },
      { ok: true, result: expect.any(Object), '@extra': expect.any(String), jsonrpc: '2.0' },
    ]);
  });

  it('runs its calls beside each other', async () => {
    let running = 0;
    let most = 0;
    const gate = Promise.withResolvers<void>();
    const slow = await startListener({
      accounts: scriptAccounts({
        account: async ({ account }) => {
          most = Math.max(most, ++running);
          if (running === 3) gate.resolve();
          await gate.promise;
          running--;
          return accounts
            .readAccount(account, undefined, { deadlineMs: 0, signal: AbortSignal.abort() })
            .then((answer) => answer.value);
        },
      }),
    });
    const { status } = await rpc(slow.url, [state({}), state({}), state({})]);
    expect([status, most]).toEqual([200, 3]);
    await slow.close();
  });

  it('refuses the answers that are beyond 32 MiB together, and gives the others', async () => {
    // Numbers in a list: a stack of 3 MB as text, which is written whole.
    const items = Array.from({ length: 20_000 }, () => ({ type: 'int', value: 2n ** 256n - 1n }) as const);
    const large = await startListener({
      live: { getMethods: scriptGetMethods(() => methodRun({ stack: [{ type: 'tuple', items }] })) },
    });
    const calls = [...Array.from({ length: 12 }, (_, id) => run(id)), state({ id: 12 })];
    const { status, text } = await rpc(large.url, calls);
    const answers = JSON.parse(text) as { id: number; code?: number; error?: string }[];
    expect([status, answers.map(({ id }) => id)]).toEqual([200, calls.map((_, id) => id)]);
    const refused = answers.filter(({ code }) => code === 422);
    expect(refused[0]?.error).toBe('the answers of the batch are larger than 32 MiB: make fewer calls at once');
    expect(answers.at(-1)).toMatchObject({ ok: true, result: 'active' });
    expect(text.length).toBeLessThan(33 * 1024 * 1024);
    expect(await large.register.metrics()).toContain(
      `ton_http_batch_calls_total{operation="runGetMethodStd",status="422"} ${refused.length}`,
    );
    await large.close();
  });

  it('counts its calls by operation and status', async () => {
    const fresh = await startListener();
    await rpc(fresh.url, [state({}), { method: 'zzz' }, state({ params: {} })]);
    const text = await fresh.register.metrics();
    expect(text).toContain('ton_http_batch_calls_total{operation="getAddressState",status="200"} 1');
    expect(text).toContain('ton_http_batch_calls_total{operation="getAddressState",status="422"} 1');
    expect(text).toContain('ton_http_batch_calls_total{operation="unknown",status="422"} 1');
    expect(text).toContain('ton_http_requests_total{operation="batch",status="200"} 1');
    await fresh.close();
  });
});

describe('without the surfaces v2 and jsonrpc', () => {
  it('no call is taken, by path or by JSON-RPC', async () => {
    const none = await startListener({ options: { rest: false, rpc: false } });
    expect((await rpc(none.url, state({}))).status).toBe(404);
    expect((await request(`${none.url}/api/v2/getMasterchainInfo`)).status).toBe(404);
    expect((await request(`${none.url}/healthcheck`)).status).toBe(200);
    await none.close();
  });
});

describe('the surface jsonrpc alone', () => {
  it('serves JSON-RPC and pages, and no operation by path', async () => {
    const only = await startListener({ options: { rest: false } });
    expect((await rpc(only.url, state({}))).status).toBe(200);
    expect((await request(`${only.url}/api/v2/getMasterchainInfo`)).status).toBe(404);
    expect((await request(`${only.url}/healthcheck`)).status).toBe(200);
    await only.close();
  });
});
