import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { object } from '#service/contract/shape.ts';
import type { UnknownParameters } from '#service/v3/request/ignored-parameters.ts';
import { defineV3Operation } from '#service/v3/request/operation.ts';
import { accounts, int32 } from '#service/v3/request/parameters.ts';
import { createV3 } from '#service/v3/v3.ts';
import { startListener, type Listener } from './listener.ts';

const operation = defineV3Operation({
  name: 'things',
  methods: ['GET', 'POST'],
  tag: 'tests',
  summary: 'Has two parameters.',
  parameters: { owners: accounts('owner_address'), count: int32('count') },
  result: object({}),
  handle: async () => ({}),
});

const start = (unknownParameters?: UnknownParameters): Promise<Listener> =>
  startListener({
    options: { ...(unknownParameters && { unknownParameters }) },
    dependencies: {
      v3: createV3([operation], { store: { read: async () => [] }, nowMs: () => 0, register: new Registry() }),
    },
  });

let lenient: Listener;
let strict: Listener;

beforeAll(async () => {
  [lenient, strict] = [await start(), await start('Refuse')];
});
afterAll(async () => {
  await lenient.close();
  await strict.close();
});

type Answered = { readonly status: number; readonly ignored: string | null; readonly body: string };

async function ask(listener: Listener, query: string, body?: object): Promise<Answered> {
  const init = body && { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const response = await fetch(`${listener.url}/api/v3/things?${query}`, init);
  return { status: response.status, ignored: response.headers.get('x-tonplane-ignored'), body: await response.text() };
}

const owner = `0:${'0a'.repeat(32)}`;

const cases: readonly (readonly [query: string, ignored: string | null])[] = [
  ['', null],
  [`owner_address=${owner}&count=3`, null],
  [`Owner_Address[]=${owner}&COUNT=3`, null],
  ['api_key=x&x_timeout=100&x_no_metadata=1&x_no_address_book=1', null],
  [`jetton_master_address=${owner}`, 'jetton_master_address'],
  ['jetton_master_address=', 'jetton_master_address'],
  ['zeta=1&alpha=2&alpha=3', 'alpha,zeta'],
  ['owner_address=', 'owner_address'],
  [`owner_address=&owner_address=${owner}`, null],
  ['count=', 'count'],
  [`${'n'.repeat(200)}=1`, 'n'.repeat(64)],
  ['a%0D%0Ab%2C=1', 'a%0D%0Ab%2C'],
];

describe('parameters that an operation of v3 does not have, or that are empty', () => {
  it.each(cases)('are named in a header, and the answer goes by the others: %s', async (query, ignored) => {
    expect(await ask(lenient, query)).toMatchObject({ status: 200, ignored });
  });

  it.each(cases)('are refused where the manifest says so: %s', async (query, ignored) => {
    const { status, body } = await ask(strict, query);
    const refusal = `unknown or empty parameters: ${ignored?.split(',').join(', ')}`;
    expect([status, body.includes(refusal)]).toEqual(ignored === null ? [200, false] : [422, true]);
  });

  it('are those of the body in a POST', async () => {
    expect(await ask(lenient, '', { owner_address: [owner], limits: 3 })).toMatchObject({
      status: 200,
      ignored: 'limits',
    });
    expect((await ask(strict, '', { owner_address: [owner], limits: 3 })).status).toBe(422);
    expect((await ask(strict, '', { owner_address: [owner] })).status).toBe(200);
    expect((await ask(lenient, '', { owner_address: [] })).ignored).toBe('owner_address');
  });

  it('are at most 32 names', async () => {
    const query = Array.from({ length: 100 }, (_, at) => `name${at}=1`).join('&');
    expect((await ask(lenient, query)).ignored?.split(',')).toHaveLength(32);
  });
});
