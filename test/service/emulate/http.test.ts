import { Address } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { allowed, scriptLimits } from '#test/service/http/listener.ts';
import { post, request, type Reply } from '#test/service/http/requests.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { createEmulationJudge } from '#test/support/v3-reference.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';
import { startEmulateUnderTest, type EmulateUnderTest } from './emulate-under-test.ts';

let setting: EmulateUnderTest;
let boc: string;
let sender: string;
const limits = scriptLimits(({ key }) =>
  key === undefined
    ? { allowed: false, plan: null, code: 'unknown_key', retryAfterSeconds: null, quota: null }
    : allowed,
);

beforeAll(async () => {
  const network = await startPrivateNetwork();
  setting = await startEmulateUnderTest(network, { setup: { limits } });
  const faucet = testWallet(network.faucet.seed);
  sender = faucet.address.toRawString();
  const receiver = Address.parseRaw(`0:${'7'.repeat(64)}`);
  boc = faucet.send(0, [transfer(receiver, 5n)]).toString('base64');
});
afterAll(() => setting.close());

const key = { 'x-api-key': 'a-key' };
const send = (path: string, body: string, headers: Record<string, string> = key): Promise<Reply> =>
  post(`${setting.listener.url}${path}`, body, headers);

describe('the path of an operation of the emulation', () => {
  it.each(['/api/emulate/v1/emulateTrace', '/api/emulate/v1/emulatetrace/', '/API/EMULATE/V1/EMULATETRACE'])(
    'is of any case, with a slash at its end or without: %s',
    async (path) => {
      const { status, headers, body } = await send(path, JSON.stringify({ boc }));
      expect(status).toBe(200);
      expect(body['is_incomplete']).toBe(false);
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('x-api-version')).toMatch(/^\d+\.\d+\.\d+$/);
      expect(headers.get('server-timing')).toMatch(/^app;dur=/);
    },
  );

  it('is charged by the name of the operation, to the key of the caller', async () => {
    limits.asked.length = 0;
    await send('/api/emulate/v1/emulateTrace', JSON.stringify({ boc }));
    expect(limits.asked.map(({ operation }) => operation)).toEqual(['emulateTrace']);
    const { status, body } = await send('/api/emulate/v1/emulateTrace', JSON.stringify({ boc }), {});
    expect([status, body]).toEqual([401, { ok: false, code: 401, error: 'API key does not exist' }]);
  });

  it('is counted under a label of its own', async () => {
    await send('/api/emulate/v1/emulateTrace', JSON.stringify({ boc }));
    expect(await setting.listener.register.metrics()).toContain('operation="emulate/emulateTrace"');
  });

  it('is refused for another method, and for a name that is not there', async () => {
    const wrong = await request(`${setting.listener.url}/api/emulate/v1/emulateTrace`, { headers: key });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    const missing = await send('/api/emulate/v1/emulateNothing', '{}');
    expect([missing.status, missing.body]).toEqual([404, { ok: false, code: 404, error: 'Not Found' }]);
  });

  it('answers a preflight of a web page', async () => {
    const { status, headers } = await request(`${setting.listener.url}/api/emulate/v1/emulateTrace`, {
      method: 'OPTIONS',
      headers: { origin: 'https://wallet.example', 'access-control-request-method': 'POST' },
    });
    expect([status, headers.get('access-control-allow-origin')]).toEqual([204, '*']);
  });
});

describe('a body that is refused', () => {
  it.each([
    ['{"boc":', 400],
    ['', 400],
    ['  ', 400],
    ['[]', 400],
    ['"text"', 400],
    ['{}', 422],
    ['{"boc":""}', 422],
    ['{"boc":5}', 422],
    ['{"boc":"AAAA"}', 422],
    ['{"boc":"te6cckEBAQEAAgAAAEysuc0="}', 422],
  ])('has the status of its fault and one shape of error: %s', async (body, status) => {
    const reply = await send('/api/emulate/v1/emulateTrace', body);
    expect([reply.status, reply.body]).toEqual([status, { ok: false, code: status, error: expect.any(String) }]);
  });

  it('names a missing message', async () => {
    expect((await send('/api/emulate/v1/emulateTrace', '{}')).body['error']).toBe('boc is required');
  });

  it.each(['with_actions', 'ignore_chksig', 'include_metadata'])('names a flag that is none: %s', async (name) => {
    const { status, body } = await send('/api/emulate/v1/emulateTrace', JSON.stringify({ boc, [name]: 'maybe' }));
    expect([status, String(body['error'])]).toEqual([422, expect.stringContaining(name)]);
  });
});

describe('the document of the emulation', () => {
  it.each(['emulateTrace', 'emulateTonConnect'] as const)('has the least seqno that %s takes', async (operation) => {
    const document = await request(`${setting.listener.url}/api/emulate/v1/openapi.json`);
    const schema = [
      'paths',
      `/api/emulate/v1/${operation}`,
      'post',
      'requestBody',
      'content',
      'application/json',
      'schema',
    ];
    expect(at(document.body, [...schema, 'properties', 'mc_block_seqno', 'minimum'])).toBe(1);
    const message = { address: sender, amount: '1' };
    const bodies = { emulateTrace: { boc }, emulateTonConnect: { from: sender, messages: [message] } };
    const below = await send(
      `/api/emulate/v1/${operation}`,
      JSON.stringify({ ...bodies[operation], mc_block_seqno: 0 }),
    );
    expect([below.status, below.body['error']]).toEqual([422, 'mc_block_seqno should be positive']);
  });
});

describe('the objects of v3 in an answer', () => {
  const flaws = createEmulationJudge();

  it('satisfy the published contract of v3, which finds each change of them', async () => {
    const { body } = await send('/api/emulate/v1/emulateTrace', JSON.stringify({ boc, with_actions: true }));
    expect(flaws(body)).toEqual([]);
    const shown = body as Readonly<Record<'trace' | 'transactions' | 'actions', object>>;
    const [hash, transaction] = Object.entries(shown.transactions)[0] as [string, object];
    const [action] = shown.actions as object[];
    const changes = [
      { trace: { ...shown.trace, children: 'none' } },
      { transactions: { [hash]: { ...transaction, lt: 5 } } },
      { transactions: { [hash]: { ...transaction, extra: 1 } } },
      { transactions: { none: transaction } },
      { actions: [{ ...action, success: 'yes' }] },
      { address_book: { [sender]: {} } },
      { metadata: { [sender]: {} } },
    ];
    for (const change of changes) expect(flaws({ ...body, ...change })).not.toEqual([]);
  });
});

describe('an optional field of a body', () => {
  it.each(['emulateTrace', 'emulateTonConnect'] as const)(
    'may be null, and the document of %s says so',
    async (operation) => {
      const document = await request(`${setting.listener.url}/api/emulate/v1/openapi.json`);
      const path = ['paths', `/api/emulate/v1/${operation}`, 'post', 'requestBody', 'content', 'application/json'];
      const schema = at(document.body, [...path, 'schema']) as {
        readonly properties: Readonly<Record<string, { readonly type: unknown }>>;
        readonly required: readonly string[];
      };
      const optional = Object.keys(schema.properties).filter((name) => !schema.required.includes(name));
      expect(optional).toContain('mc_block_seqno');
      for (const name of optional)
        expect([name, schema.properties[name]!.type]).toEqual([name, [expect.any(String), 'null']]);
      const nulls = Object.fromEntries(optional.map((name) => [name, null]));
      const bodies = {
        emulateTrace: { boc },
        emulateTonConnect: { from: sender, messages: [{ address: sender, amount: '1' }] },
      };
      const { status } = await send(`/api/emulate/v1/${operation}`, JSON.stringify({ ...bodies[operation], ...nulls }));
      expect(status).toBe(200);
    },
  );
});

/** Part of a document below these names. */
function at(document: unknown, names: readonly string[]): unknown {
  return names.reduce((part, name) => (part as Record<string, unknown>)[name], document);
}

describe('the pages of the emulation', () => {
  it('are a document and a reader that asks no other host', async () => {
    const document = await request(`${setting.listener.url}/api/emulate/v1/openapi.json`);
    expect(Object.keys(document.body['paths'] as object)).toEqual([
      '/api/emulate/v1/emulateTrace',
      '/api/emulate/v1/emulateTonConnect',
    ]);
    for (const path of ['/api/emulate', '/api/emulate/', '/api/emulate/v1', '/api/emulate/v1/']) {
      const { status, text, headers } = await request(`${setting.listener.url}${path}`);
      expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(text).toContain('/api/v2/docs/emulate.js');
    }
    const script = await request(`${setting.listener.url}/api/v2/docs/emulate.js`);
    expect(script.text).toContain("url: '/api/emulate/v1/openapi.json'");
  });
});
