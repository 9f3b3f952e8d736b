import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  activeAccount,
  absentAccount,
  bytes32,
  emptyCellBoc,
  scriptAccounts,
} from '#test/service/v2/scripted-accounts.ts';
import type { LiveAccount } from '#service/live/accounts/accounts.ts';
import { startListener, type Listener } from './listener.ts';
import { reference, schemaOf, type Json, type OpenApi } from './reference.ts';
import { call, post, request, rpc, ways } from './requests.ts';

const id = bytes32(0xab);
const address = `0:${id.toString('hex')}`;
const accountId = { workchain: 0, id };

const states: Record<string, LiveAccount> = {
  active: activeAccount(accountId, {
    balance: 2n ** 120n,
    extraCurrencies: [{ id: -7, amount: 2n ** 200n }],
    suspended: true,
  }),
  'active without data': activeAccount(accountId, { data: null }),
  frozen: absentAccount(accountId, { state: 'frozen', balance: 12n, frozenHash: bytes32(0x99) }),
  uninitialized: absentAccount(accountId, { balance: 5n }),
  absent: absentAccount(accountId),
  'without code in its state': absentAccount(accountId, { data: emptyCellBoc }),
};

let current = states['active']!;
let listener: Listener;

beforeAll(async () => {
  listener = await startListener({ accounts: scriptAccounts({ account: () => current }) });
});
afterAll(() => listener.close());

describe('answers', () => {
  describe.each(Object.entries(states))('about an account that is %s', (_name, account) => {
    it.each(['getAddressInformation', 'getAddressBalance', 'getAddressState'])(
      'to %s satisfy the published schema',
      async (operation) => {
        current = account;
        expect(await flawsOf(operation, { address })).toEqual([]);
      },
    );
  });

  it('to getMasterchainInfo satisfy the published schema', async () => {
    expect(await flawsOf('getMasterchainInfo', {})).toEqual([]);
  });

  it.each([
    ['Error422', () => request(`${listener.url}/api/v2/getAddressState`)],
    ['RpcError422', () => rpc(listener.url, { method: 'nope', id: 1 })],
    ['RpcError422', () => rpc(listener.url, '{')],
    ['RpcError422', () => rpc(listener.url, { id: 5 })],
    ['NotFoundPage', () => request(`${listener.url}/nope`)],
    ['Error405', () => request(`${listener.url}/api/v2/getAddressState`, { method: 'DELETE' })],
    ['RpcError405', () => request(`${listener.url}/api/v2/jsonRPC`)],
    ['Error413', () => post(`${listener.url}/api/v2/getAddressState`, 'x'.repeat(1_048_577))],
  ])('that are errors satisfy %s', async (name, ask) => {
    const { text } = await ask();
    expect(schemaErrors(reference, name, JSON.parse(text))).toEqual([]);
  });

  it('to a batch satisfy the published schema', async () => {
    const { text } = await rpc(listener.url, [{ method: 'getMasterchainInfo', id: 1 }, { method: 'x' }]);
    expect(schemaErrors(reference, 'JsonRpcBatchResponse', JSON.parse(text))).toEqual([]);
  });
});

describe('the served document', () => {
  it('describes every operation as the published one does', async () => {
    const { text } = await request(`${listener.url}/api/v2/openapi.json`);
    const ours = JSON.parse(text) as OpenApi;
    const paths = Object.keys(ours.paths);
    expect(paths.length).toBeGreaterThan(7);
    for (const path of paths.filter((name) => !name.endsWith('openapi.json') && !name.endsWith('jsonRPC'))) {
      expect({ path, ...operationFacts(ours, path) }).toEqual({ path, ...operationFacts(reference, path) });
    }
  });

  it('has a version of the form a.b.c that the header repeats', async () => {
    const { text, headers } = await request(`${listener.url}/api/v2/openapi.json`);
    const { info } = JSON.parse(text) as { info: { version: string } };
    expect(info.version).toMatch(/^2\.2\.\d+$/);
    expect(headers.get('x-api-version')).toBe(info.version);
  });

  it('describes its own answers', async () => {
    const { text } = await request(`${listener.url}/api/v2/openapi.json`);
    const { body } = await request(`${listener.url}/api/v2/getMasterchainInfo`);
    expect(schemaErrors(JSON.parse(text) as OpenApi, 'GetMasterchainInfoResponse', body)).toEqual([]);
  });
});

/** What is wrong with the answers that the three ways give, by the published schema and the order of its fields. */
async function flawsOf(operation: string, params: Json): Promise<unknown[]> {
  const replies = await Promise.all(
    ways.map(async (way) => ({ way, ...(await call(listener.url, way, operation, params)) })),
  );
  return replies.flatMap(({ way, status, body }) => {
    const name = `${operation.charAt(0).toUpperCase()}${operation.slice(1)}${way === 'JSON-RPC' ? 'Rpc' : ''}Response`;
    return [
      ...(status === 200 ? [] : [status]),
      ...schemaErrors(reference, name, body),
      ...orderErrors(operation, body['result']),
    ];
  });
}

function schemaErrors(document: OpenApi, name: string, value: unknown): unknown[] {
  const validate = schemaOf(document, name);
  return validate(value) ? [] : [...(validate.errors ?? []), value];
}

/** Fields stand in the order in which the published schema names them. */
function orderErrors(operation: string, result: unknown): unknown[] {
  if (typeof result !== 'object' || result === null) return [];
  const name = operation === 'getMasterchainInfo' ? 'MasterchainInfo' : 'FullStateActive';
  const expected = Object.keys(reference.components.schemas[name]!['properties'] as Json);
  return Object.keys(result).join() === expected.join() ? [] : [Object.keys(result)];
}

/** What callers depend on of one path: methods, parameters, body fields and result, without references and prose. */
function operationFacts(document: OpenApi, path: string): Json {
  const methods = Object.entries(document.paths[path] ?? {}).map(([method, operation]) => {
    const {
      parameters = [],
      requestBody,
      responses,
    } = operation as {
      parameters?: Json[];
      requestBody?: Json;
      responses: Record<string, Json>;
    };
    return [
      method,
      {
        parameters: parameters.map((parameter) => resolve(document, parameter)),
        requestBody: resolve(document, requestBody ?? {}),
        success: resolve(document, responses['200']!),
      },
    ];
  });
  return Object.fromEntries(methods) as Json;
}

const prose = new Set(['description', 'examples', 'summary', 'discriminator']);

/**
 * The value with every reference replaced by what it refers to, without prose; lists of required names sorted. A reference that
 * leads back to where it stands is written as the number of steps back.
 */
function resolve(document: OpenApi, value: unknown, trail: readonly string[] = []): unknown {
  if (Array.isArray(value)) return value.map((item) => resolve(document, item, trail));
  if (typeof value !== 'object' || value === null) return value;
  const target = (value as Json)['$ref'];
  if (typeof target === 'string') {
    if (trail.includes(target)) return { stepsBack: trail.length - trail.indexOf(target) };
    const steps = target.slice(2).split('/');
    return resolve(
      document,
      steps.reduce<unknown>((at, step) => (at as Json)[step], document),
      [...trail, target],
    );
  }
  const { allOf, ...beside } = value as Json;
  if (Array.isArray(allOf) && allOf.length === 1) {
    // A default stands around a reference or in a schema of its own.
    return { ...(resolve(document, allOf[0], trail) as Json), ...(resolve(document, beside, trail) as Json) };
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, item]) => !prose.has(key) || (key === 'examples' && typeof item !== 'object'))
      .map(([key, item]) => [
        key,
        key === 'required' && Array.isArray(item)
          ? item.map(String).toSorted((a, b) => a.localeCompare(b))
          : resolve(document, item, trail),
      ]),
  );
}
