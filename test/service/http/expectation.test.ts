import { connect } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Decision } from '#service/limits/limits.ts';
import { allowed, scriptLimits, startListener, type Listener } from './listener.ts';

const refused: Decision = { allowed: false, code: 'unknown_key', plan: null, quota: null, retryAfterSeconds: null };
const limited: Decision = { ...refused, code: 'rate_limited', retryAfterSeconds: 1 };

let decision: Decision = allowed;
let listener: Listener;

beforeAll(async () => {
  listener = await startListener({
    limits: scriptLimits(() => decision),
    dependencies: { posts: new Map([['/faucet', { name: 'faucet', run: async () => 'funded' }]]) },
  });
});
afterAll(() => listener.close());

const paths = ['/api/v2/getMasterchainInfo', '/api/v2/jsonRPC', '/faucet'];
const body = '{"jsonrpc":"2.0","id":1,"method":"getMasterchainInfo","params":{}}';

/** Sends the headers of a POST that expects `100-continue`, the body once it is asked for, and returns all that comes back. */
function sendExpecting(path: string, length = body.length, headers = ''): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(listener.port, '127.0.0.1');
  let text = '';
  let isSent = false;
  socket.on('data', (chunk) => {
    text += chunk.toString();
    if (!isSent && text.startsWith('HTTP/1.1 100 ')) {
      isSent = true;
      socket.write(body);
    }
  });
  socket.on('error', reject);
  socket.on('close', () => resolve(text));
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: ${headers === '' ? 'close' : headers}\r\n` +
      `Content-Length: ${length}\r\nExpect: 100-continue\r\n\r\n`,
  );
  return promise;
}

const statusesOf = (text: string): string[] => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]!);

describe('a caller that expects 100-continue', () => {
  it.each(paths)('is asked for its body once it is let in, at %s', async (path) => {
    decision = allowed;
    expect(statusesOf(await sendExpecting(path))).toEqual(['100', '200']);
  });

  it.each(paths)('is refused for its key without being asked for its body, at %s', async (path) => {
    decision = refused;
    expect(statusesOf(await sendExpecting(path))).toEqual(['401']);
  });

  it.each(paths)('is refused for its rate without being asked for its body, at %s', async (path) => {
    decision = limited;
    expect(statusesOf(await sendExpecting(path))).toEqual(['429']);
  });

  it.each(paths)('is refused for the length of its body without being asked for it, at %s', async (path) => {
    decision = allowed;
    expect(statusesOf(await sendExpecting(path, 1_048_577))).toEqual(['413']);
  });

  it.each(['/nowhere', '/healthcheck'])('is not asked for a body that %s does not take', async (path) => {
    expect(statusesOf(await sendExpecting(path))).toEqual([path === '/nowhere' ? '404' : '405']);
  });

  it('loses its connection with a refusal, because its body may never come', async () => {
    decision = refused;
    const text = await sendExpecting('/api/v2/jsonRPC', body.length, 'keep-alive');
    expect(text).toMatch(/^connection: close\r$/im);
  });
});
