import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { scriptLimits, startListener, type Listener } from './listener.ts';
import { post, request } from './requests.ts';

const bodies: unknown[] = [];
const limits = scriptLimits();
let listener: Listener;

async function run(body: unknown): Promise<string> {
  bodies.push(body);
  return 'funded';
}

beforeAll(async () => {
  listener = await startListener({
    limits,
    dependencies: { posts: new Map([['/faucet', { name: 'faucet', run }]]) },
  });
});
afterAll(() => listener.close());

describe('the faucet', () => {
  it('takes JSON by its media type', async () => {
    for (const type of ['application/json', 'APPLICATION/JSON;charset=utf-8']) {
      const reply = await post(`${listener.url}/faucet`, '{"amount":1}', { 'content-type': type });
      expect([type, reply.status, reply.body['result']]).toEqual([type, 200, 'funded']);
    }
  });

  it('refuses any other media type with 415, and none at all, and funds nobody', async () => {
    bodies.length = 0;
    limits.asked.length = 0;
    for (const type of ['text/plain', 'text/plain;application/json', 'application/x-www-form-urlencoded', 'a/b']) {
      const reply = await post(`${listener.url}/faucet`, '{"amount":1}', { 'content-type': type });
      expect([type, reply.status, reply.body['ok'], reply.body['code']]).toEqual([type, 415, false, 415]);
      expect(reply.headers.get('access-control-allow-origin')).toBe('*');
    }
    expect((await post(`${listener.url}/faucet`, new Uint8Array([0x7b, 0x7d]))).status).toBe(415);
    expect([bodies, limits.asked]).toEqual([[], []]);
  });

  it('answers a page of any origin, and its preflight', async () => {
    const origin = 'https://dapp.example';
    const preflight = await request(`${listener.url}/faucet`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-api-key',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect(preflight.headers.get('access-control-allow-methods')).toContain('POST');
    expect(preflight.headers.get('access-control-allow-headers')).toContain('Content-Type');
    const reply = await post(`${listener.url}/faucet`, '{}', { origin, 'content-type': 'application/json' });
    expect([reply.status, reply.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
  });

  it('is the only operation with a rule for media types: v2 reads JSON whatever the header says', async () => {
    const reply = await post(`${listener.url}/api/v2/getMasterchainInfo`, '{}', { 'content-type': 'text/plain' });
    expect(reply.status).toBe(200);
  });
});
