import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startApiUnderTest, type ApiUnderTest } from '#test/support/api.ts';

const address = `-1:${'5'.repeat(64)}`;
const names = ['upstreams', 'attempts', 'cache', 'head'] as const;

let api: ApiUnderTest;
beforeAll(async () => {
  api = await startApiUnderTest({ servers: 2 });
});
afterAll(() => api.close());

type Debug = Record<(typeof names)[number], string | null> & { status: number; body: unknown };

async function ask(path: string, init: Omit<RequestInit, 'headers'> = {}, debug = '1'): Promise<Debug> {
  const headers = { 'x-api-key': api.key, 'x-tonplane-debug': debug };
  const response = await fetch(`${api.api.url}/api/v2/${path}`, { ...init, headers });
  const told = Object.fromEntries(names.map((name) => [name, response.headers.get(`x-tonplane-${name}`)]));
  return { ...told, status: response.status, body: await response.json() } as Debug;
}

const rpc = (body: unknown, debug?: string): Promise<Debug> =>
  ask('jsonRPC', { method: 'POST', body: JSON.stringify(body) }, debug);

const rpcCall = (id: number, method: string, params = {}) => ({ id, jsonrpc: '2.0', method, params });

const head = (): string => `${api.api.pool.head()!.block.seqno}`;

/** Reads of each source, in the order of the header. */
const cacheOf = ({ cache }: Debug): Record<string, number> =>
  Object.fromEntries((cache ?? '').split(', ').map((pair) => [pair.split('=')[0], Number(pair.split('=')[1])]));

describe('a caller that asks by X-Tonplane-Debug', () => {
  test('is told the lite servers, attempts, caches and head of an answer, and of the same one from the cache', async () => {
    const first = await ask(`getAddressInformation?address=${address}`);
    expect(first).toMatchObject({ status: 200, head: head() });
    expect(first.upstreams).toMatch(/^[01](,1)?$/);
    expect(Number(first.attempts)).toBeGreaterThanOrEqual(1);
    expect(cacheOf(first)['lite_server']).toBeGreaterThanOrEqual(1);
    const again = await ask(`getAddressInformation?address=${address}`);
    expect(again).toMatchObject({ status: 200, upstreams: '_', attempts: '0', head: head() });
    expect(cacheOf(again)).toMatchObject({ lite_server: 0, redis: 0, joined: 0, failed: 0 });
    expect(cacheOf(again)['cache']).toBeGreaterThanOrEqual(1);
  });

  test('is told the sum of several reads', async () => {
    const { attempts, ...sum } = await ask('runGetMethod', {
      method: 'POST',
      body: JSON.stringify({ address, method: 'active_election_id', stack: [] }),
    });
    expect(sum.status).toBe(200);
    const counts = Object.values(cacheOf(sum as Debug));
    expect(counts.reduce((all, count) => all + count, 0)).toBeGreaterThanOrEqual(3);
    expect(Number(attempts)).toBeGreaterThanOrEqual(cacheOf(sum as Debug)['lite_server']!);
  });

  test('is told the sum of all calls of a batch, by JSON-RPC too', async () => {
    const single = await rpc(rpcCall(1, 'getMasterchainInfo'));
    expect(single).toMatchObject({ status: 200, upstreams: '_', attempts: '0', head: head() });
    const batch = await rpc(
      [1, 2, 3].map((id) =>
        rpcCall(id, 'getBlockHeader', {
          workchain: -1,
          shard: '-9223372036854775808',
          seqno: Number(head()) - 10 - id,
        }),
      ),
    );
    expect(batch.status).toBe(200);
    expect(Number(batch.attempts)).toBeGreaterThanOrEqual(3);
  });

  test('is told of every operation that is documented, whether it reads, fails or only computes', async () => {
    const document = (await (await fetch(`${api.api.url}/api/v2/openapi.json`)).json()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const operations = Object.entries(document.paths)
      .filter(
        ([path, methods]) => 'get' in methods && /^\/(api\/v2\/)?\w+$/.test(path) && !/healthcheck|usage/.test(path),
      )
      .map(([path]) => path.split('/').at(-1)!);
    expect(operations.length).toBeGreaterThan(20);
    for (const operation of operations) {
      const { attempts, upstreams, cache, head: seqno } = await ask(operation);
      expect([operation, attempts, upstreams, cache, seqno]).toEqual([
        operation,
        expect.stringMatching(/^\d+$/),
        expect.stringMatching(/^(_|\d+(,\d+)*)$/),
        expect.stringMatching(/^cache=\d+, redis=\d+, joined=\d+, lite_server=\d+, failed=\d+$/),
        head(),
      ]);
    }
  });

  test('is told of attempts that failed', async () => {
    for (const server of api.network.liteServers) await server.setFaults({ notReady: 'lagging' });
    const failed = await ask(`lookupBlock?workchain=-1&shard=-9223372036854775808&seqno=77`);
    for (const server of api.network.liteServers) await server.setFaults({});
    expect(failed.status).not.toBe(200);
    expect(Number(failed.attempts)).toBeGreaterThanOrEqual(2);
    expect(cacheOf(failed)['failed']).toBeGreaterThanOrEqual(1);
  });

  test('may be a browser: CORS lets it send the header and see the answers', async () => {
    const response = await fetch(`${api.api.url}/api/v2/getMasterchainInfo`, { method: 'OPTIONS' });
    expect(response.headers.get('access-control-allow-headers')).toContain('X-Tonplane-Debug');
    for (const name of ['Upstreams', 'Attempts', 'Cache', 'Head']) {
      expect(response.headers.get('access-control-expose-headers')).toContain(`X-Tonplane-${name}`);
    }
  });
});

test('nobody else is told anything', async () => {
  for (const debug of ['0', 'true', '']) {
    const { upstreams, attempts, cache, head: seqno } = await ask('getMasterchainInfo', {}, debug);
    expect([upstreams, attempts, cache, seqno]).toEqual([null, null, null, null]);
  }
});
