import { gzipSync } from 'node:zlib';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { activeAccount, scriptAccounts } from '#test/service/v2/scripted-accounts.ts';
import { startListener, type Listener } from './listener.ts';

const address = `0:${'ab'.repeat(32)}`;
let listener: Listener;

beforeAll(async () => {
  listener = await startListener({ accounts: scriptAccounts({ account: ({ account }) => activeAccount(account) }) });
});
afterAll(() => listener.close());

describe('HEAD on an operation of v2', () => {
  it.each([
    [`getAddressBalance?address=${address}`, 200],
    ['getAddressBalance?address=noise', 422],
    ['nothing', 404],
  ])('is answered as GET without a body: %s', async (path, status) => {
    const url = `${listener.url}/api/v2/${path}`;
    const [head, get] = await Promise.all([fetch(url, { method: 'HEAD' }), fetch(url)]);
    expect([head.status, get.status]).toEqual([status, status]);
    expect(await head.text()).toBe('');
    expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
  });
});

const post = (path: string, sent: string | Buffer, encoding?: string): Promise<{ status: number; text: string }> =>
  new Promise((done, fail) => {
    const headers = { 'content-type': 'application/json', ...(encoding && { 'content-encoding': encoding }) };
    const sending = request(`${listener.url}${path}`, { method: 'POST', headers }, (response) => {
      let text = '';
      response.on('data', (part: Buffer) => (text += part.toString()));
      response.on('end', () => done({ status: response.statusCode!, text }));
    });
    sending.on('error', fail);
    sending.end(sent);
  });

describe('a body that is encoded', () => {
  const body = JSON.stringify({ address });
  it.each(['/api/v2/getAddressBalance', '/api/v2/jsonRPC'])('is refused with 415 and the reason: %s', async (path) => {
    for (const encoding of ['gzip', 'br', 'x'.repeat(500), 'gzip, identity']) {
      const { status, text } = await post(path, gzipSync(body), encoding);
      expect([status, text.includes(`expected none or identity, got ${encoding.slice(0, 64)}`)]).toEqual([415, true]);
    }
  });

  it('is read when its encoding is identity', async () => {
    for (const encoding of [undefined, 'identity', 'Identity']) {
      expect((await post('/api/v2/getAddressBalance', body, encoding)).status).toBe(200);
    }
  });
});
