import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { list, object, scalar } from '#service/contract/shape.ts';
import { defineV3Operation } from '#service/v3/request/operation.ts';
import { int32 } from '#service/v3/request/parameters.ts';
import { createV3 } from '#service/v3/v3.ts';
import { startListener, type Listener } from './listener.ts';

/** Answers with so many texts of a thousand letters. */
const texts = defineV3Operation({
  name: 'texts',
  aliases: [],
  tag: 'tests',
  summary: 'Has a lot to say.',
  parameters: { count: int32('count') },
  result: object({ texts: list(scalar<string>({ type: 'string' })) }),
  handle: async ({ count = 0 }) => ({ texts: Array.from({ length: count }, (_, at) => `${at}`.padStart(1000, '.')) }),
});

const start = (compression: boolean): Promise<Listener> =>
  startListener({
    options: { compression },
    dependencies: {
      v3: createV3([texts], { store: { read: async () => [] }, nowMs: () => 0, register: new Registry() }),
    },
  });

let compressing: Listener;
let plain: Listener;
beforeAll(async () => {
  [compressing, plain] = [await start(true), await start(false)];
});
afterAll(() => Promise.all([compressing.close(), plain.close()]));

async function ask({ url }: Listener, path: string, accepted: string) {
  const response = await fetch(`${url}${path}`, { headers: { 'accept-encoding': accepted } });
  const text = await response.text();
  return {
    status: response.status,
    encoding: response.headers.get('content-encoding'),
    vary: response.headers.get('vary') ?? '',
    length: Number(response.headers.get('content-length')),
    text,
  };
}

describe('an answer with http.compression', () => {
  it.each([10, 1000, 4000])('of %i kB is compressed for a caller that accepts gzip, and is the same', async (count) => {
    const path = `/api/v3/texts?count=${count}`;
    const compressed = await ask(compressing, path, 'gzip, deflate, br');
    expect(compressed).toMatchObject({ status: 200, encoding: 'gzip' });
    expect(compressed.vary.toLowerCase()).toContain('accept-encoding');
    expect(compressed.text).toBe((await ask(plain, path, 'gzip')).text);
  });

  it('of less than 8 KiB is sent as it is', async () => {
    expect(await ask(compressing, '/api/v3/texts?count=5', 'gzip')).toMatchObject({ status: 200, encoding: null });
    expect(await ask(compressing, '/api/v2/getMasterchainInfo', 'gzip')).toMatchObject({ status: 200, encoding: null });
  });

  it.each(['identity', 'br', 'gzip;q=0'])('is sent as it is to a caller that accepts %s', async (accepted) => {
    const { status, encoding, length } = await ask(compressing, '/api/v3/texts?count=10', accepted);
    expect({ status, encoding }).toEqual({ status: 200, encoding: null });
    expect(length).toBeGreaterThan(10_000);
  });

  it('that is a document is compressed too', async () => {
    expect(await ask(compressing, '/api/v2/openapi.json', 'gzip')).toMatchObject({ status: 200, encoding: 'gzip' });
  });

  it('still is an error with its text when the request is wrong', async () => {
    const { status, text } = await ask(compressing, '/api/v3/texts?count=many', 'gzip');
    expect(status).toBe(422);
    expect(JSON.parse(text)).toHaveProperty('error');
  });
});

it('an answer without http.compression is sent as it is', async () => {
  expect(await ask(plain, '/api/v3/texts?count=1000', 'gzip')).toMatchObject({ status: 200, encoding: null });
});
