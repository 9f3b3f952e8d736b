import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { activeAccount, absentAccount, bytes32, emptyCellBoc, scriptAccounts } from '#test/service/v2/scripted-accounts.ts';
import type { LiveAccount } from '#service/live/accounts.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { startListener, type Listener } from './listener.ts';
import { missingReference, reference, schemaOf, type Json, type OpenApi } from './reference.ts';
import { call, post, request, rpc, ways } from './requests.ts';

const id = bytes32(0xab);
const address = `0:${id.toString('hex')}`;
const account = { workchain: 0, id };

const states: Record<string, LiveAccount> = {
  active: activeAccount(account, {
    balance: 2n ** 120n,
    extraCurrencies: [{ id: -7, amount: 2n ** 200n }],
    suspended: true,
  }),
  'active without data': activeAccount(account, { data: null }),
  frozen: absentAccount(account, { state: 'frozen', balance: 12n, frozenHash: bytes32(0x99) }),
  uninitialized: absentAccount(account, { balance: 5n }),
  absent: absentAccount(account),
  'without code in its state': absentAccount(account, { data: emptyCellBoc }),
};

let current = states['active']!;
let listener: Listener;

beforeAll(async () => {
  listener = await startListener({ accounts: scriptAccounts({ account: () => current }) });
});
afterAll(() => listener.close());

describe.skipIf(skipLoudly(reference === undefined, missingReference))('answers', () => {
  describe.each(Object.entries(states))('about an account that is %s', (_name, account) => {
    it.each(['getAddressInformation', 'getAddressBalance', 'getAddressState'])(
      'to %s satisfy the published schema',
      async (operation) => {
        current = account;
        await expectValid(operation, { address });
      },
    );
  });

  it('to getMasterchainInfo satisfy the published schema', () => expectValid('getMasterchainInfo', {}));

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
    expectSchema(reference!, name, JSON.parse(text));
  });

  it('to a batch satisfy the published schema', async () => {
    const { text } = await rpc(listener.url, [{ method: 'getMasterchainInfo', id: 1 }, { method: 'x' }]);
    expectSchema(reference!, 'JsonRpcBatchResponse', JSON.parse(text));
  });
});

describe.skipIf(skipLoudly(reference === undefined, missingReference))('the served document', () => {
  it('describes every operation as the published one does', async () => {
    const { text } = await request(`${listener.url}/api/v2/openapi.json`);
    const ours = JSON.parse(text) as OpenApi;
    const paths = Object.keys(ours.paths);
    expect(paths.length).toBeGreaterThan(7);
    for (const path of paths.filter((name) => !name.endsWith('openapi.json') && !name.endsWith('jsonRPC'))) {
      expect(operationFacts(ours, path), path).toEqual(operationFacts(reference!, path));
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
    expectSchema(JSON.parse(text) as OpenApi, 'GetMasterchainInfoResponse', body);
  });
});

async function expectValid(operation: string, params: Json): Promise<void> {
  for (const way of ways) {
    const { status, body } = await call(listener.url, way, operation, params);
    expect(status).toBe(200);
    const name = `${operation.charAt(0).toUpperCase()}${operation.slice(1)}${way === 'JSON-RPC' ? 'Rpc' : ''}Response`;
    expectSchema(reference!, name, body);
    expectOrder(body['result'], operation);
  }
}

function expectSchema(document: OpenApi, name: string, value: unknown): void {
  const validate = schemaOf(document, name);
  validate(value);
  expect(validate.errors, JSON.stringify(value)).toBeNull();
}

/** Fields stand in the order in which the published schema names them. */
function expectOrder(result: unknown, operation: string): void {
  if (typeof result !== 'object' || result === null) return;
  const name = operation === 'getMasterchainInfo' ? 'MasterchainInfo' : 'FullStateActive';
  expect(Object.keys(result)).toEqual(Object.keys(reference!.components.schemas[name]!['properties'] as Json));
}

/** What callers depend on of one path: methods, parameters, body fields and result, without references and prose. */
function operationFacts(document: OpenApi, path: string): Json {
  const methods = Object.entries(document.paths[path] ?? {}).map(([method, operation]) => {
    const content = (part: unknown): unknown => resolve(document, part as Json);
    const { parameters = [], requestBody, responses } = operation as {
      parameters?: Json[];
      requestBody?: Json;
      responses: Record<string, Json>;
    };
    return [
      method,
      {
        parameters: parameters.map((parameter) => content(parameter)),
        requestBody: content(requestBody ?? {}),
        success: content(responses['200']!),
      },
    ];
  });
  return Object.fromEntries(methods) as Json;
}

const prose = new Set(['description', 'examples', 'summary', 'discriminator']);

/** The value with every reference replaced by what it refers to, without prose; lists of required names sorted. */
function resolve(document: OpenApi, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => resolve(document, item));
  if (typeof value !== 'object' || value === null) return value;
  const reference = (value as Json)['$ref'];
  if (typeof reference === 'string') {
    const steps = reference.slice(2).split('/');
    return resolve(document, steps.reduce<unknown>((at, step) => (at as Json)[step], document));
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, item]) => !prose.has(key) || (key === 'examples' && typeof item !== 'object'))
      .map(([key, item]) => [key, key === 'required' && Array.isArray(item) ? item.toSorted() : resolve(document, item)]),
  );
}
