import { createConnection } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { scriptAccounts } from '../v2/scripted-accounts.ts';
import { startListener, type Listener } from './listener.ts';
import { parseRaw, rawExchange, request, type Reply } from './requests.ts';

/** Short timeouts, for requests that do not end. */
let listener: Listener;
/** The timeouts of users, for bodies that a busy machine sends slowly. */
let patient: Listener;

beforeAll(async () => {
  listener = await startListener({
    accounts: scriptAccounts(),
    options: { headersTimeoutMs: 300, receiveTimeoutMs: 600, requestTimeoutMs: 400, connectionsCheckMs: 100 },
  });
  patient = await startListener({ accounts: scriptAccounts() });
});
afterAll(() => Promise.all([listener.close(), patient.close()]));

/** What every failure has: the envelope, and the headers of every answer. */
function factsOf({ status, body, headers }: Reply): Record<string, unknown> {
  return {
    ok: body['ok'],
    status,
    code: body['code'],
    error: typeof body['error'],
    extra: typeof body['@extra'],
    type: headers.get('content-type'),
    origin: headers.get('access-control-allow-origin'),
    version: headers.get('x-api-version'),
  };
}

const failure = (status: number): Record<string, unknown> => ({
  ok: false,
  status,
  code: status,
  error: 'string',
  extra: 'string',
  type: 'application/json',
  origin: '*',
  version: '2.2.0',
});

const post = (head: string, body = ''): string =>
  `POST /api/v2/getMasterchainInfo HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n${body}`;

describe('bytes that are no HTTP request', () => {
  it.each([
    ['noise', 'noise\r\n\r\n', 400],
    ['a TLS hello', Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]), 400],
    ['HTTP/9.9', 'GET / HTTP/9.9\r\n\r\n', 400],
    ['a negative length', post('Content-Length: -5'), 400],
    ['a length of noise', post('Content-Length: five'), 400],
    ['two lengths', post('Content-Length: 5\r\nContent-Length: 6'), 400],
    ['a length and chunks', post('Content-Length: 5\r\nTransfer-Encoding: chunked'), 400],
    ['a chunk size of noise', post('Transfer-Encoding: chunked', 'zz\r\nx\r\n0\r\n\r\n'), 400],
    ['a header with a control character', 'GET / HTTP/1.1\r\nHost: x\r\nA: \u0001\r\n\r\n', 400],
    ['a header without a name', 'GET / HTTP/1.1\r\n: x\r\n\r\n', 400],
    ['headers beyond 128 KiB', `GET / HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(132_000)}\r\n\r\n`, 431],
    ['a URL beyond 128 KiB', `GET /${'x'.repeat(132_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    ['CONNECT', 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n', 405],
    ['an unknown expectation', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n', 417],
    ['headers that never end', 'GET / HTTP/1.1\r\nHost: x\r\n', 408],
  ])('are answered: %s', async (_what, bytes, status) => {
    expect(factsOf(parseRaw(await rawExchange(listener.port, bytes)))).toEqual(failure(status));
  });

  it('are counted', async () => {
    const before = await malformedCount();
    await rawExchange(listener.port, 'noise\r\n\r\n');
    expect(await malformedCount()).toBe(before + 1);
  });

  it('may end or reset their connection at any point', async () => {
    const whole = post('Content-Length: 20', '{"a":"01234567890"}\n');
    for (let length = 0; length < whole.length; length += 7) {
      const socket = createConnection(listener.port, '127.0.0.1');
      await new Promise<void>((resolve) => socket.write(whole.slice(0, length) || '\r', () => resolve()));
      if (length % 2 === 0) socket.resetAndDestroy();
      else socket.destroy();
    }
    expect((await request(`${listener.url}/healthcheck`)).status).toBe(200);
    await expect.poll(() => listener.server.status().inFlight).toBe(0);
  });
});

const exchange = async (bytes: string): Promise<Reply> => parseRaw(await rawExchange(listener.port, bytes));
const get = (path: string, head = ''): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${head}Connection: close\r\n\r\n`;

describe('requests at the edge of the protocol', () => {
  it.each([
    ['HTTP/1.0', 'GET /healthcheck HTTP/1.0\r\n\r\n', 200],
    ['a whole URL', get('http://example.org/healthcheck'), 200],
    ['an upgrade', get('/healthcheck', 'Upgrade: websocket\r\nConnection: upgrade\r\n'), 200],
    ['a URL of 8192 bytes', get(`/healthcheck?${'x'.repeat(8192 - 13)}`), 200],
  ])('are served: %s', async (_what, bytes, status) => {
    expect((await exchange(bytes)).status).toBe(status);
  });

  it.each([
    ['headers beyond 64 KiB', get('/', `A: ${'x'.repeat(66_000)}\r\n`), 431, 'request headers too large'],
    ['a URL beyond 64 KiB', get(`/${'x'.repeat(66_000)}`), 431, 'request headers too large'],
    ['a URL of 8193 bytes', get(`/healthcheck?${'x'.repeat(8193 - 13)}`), 414, 'request URL too long'],
    ['no Host', 'GET /healthcheck HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'expected one Host header'],
    ['two Hosts', get('/healthcheck', 'host: y\r\n'), 400, 'expected one Host header'],
    ['a bad escape', get('/api/v2/%zz'), 400, 'malformed request URL'],
    ['half a character', get('/api/v2/%c3'), 400, 'malformed request URL'],
    ['an escaped slash', get('/api%2fv2/getMasterchainInfo'), 404, 'Not Found'],
    ['dots', get('/api/v2/../v2/getMasterchainInfo'), 404, 'Not Found'],
    ['two slashes', get('//api/v2/getMasterchainInfo'), 404, 'Not Found'],
    ['another case', get('/api/v2/GETMASTERCHAININFO'), 404, 'Not Found'],
    ['raw UTF-8', get('/api/v2/\u00e9'), 400, 'malformed HTTP request'],
    [
      'a method of WebDAV',
      get('/api/v2/getMasterchainInfo').replace('GET', 'PROPFIND'),
      405,
      'unsupported http method: PROPFIND',
    ],
    ['TRACE', get('/healthcheck').replace('GET', 'TRACE'), 405, 'unsupported http method: TRACE'],
    ['POST to a page', get('/healthcheck').replace('GET', 'POST'), 405, 'unsupported http method: POST'],
    ['QUERY', get('/api/v2/getMasterchainInfo').replace('GET', 'QUERY'), 405, 'unsupported http method: QUERY'],
  ])('are refused with the envelope: %s', async (_what, bytes, status, error) => {
    const reply = await exchange(bytes);
    expect(factsOf(reply)).toEqual(failure(status));
    expect(reply.body['error']).toBe(error);
  });

  it('name the methods of a path that has others', async () => {
    const { headers } = await request(`${listener.url}/api/v2/getMasterchainInfo`, { method: 'DELETE' });
    expect(headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
  });

  it('may not take longer than the request timeout to send a body', async () => {
    const reply = parseRaw(await rawExchange(listener.port, post('Content-Length: 5', '{')));
    expect(factsOf(reply)).toEqual(failure(408));
    expect(reply.body['error']).toBe('request body took too long');
  });

  it('that end within their body are nobody to answer', async () => {
    await rawExchange(listener.port, post('Content-Length: 5', '{'), true);
    await expect.poll(() => listener.server.status().inFlight).toBe(0);
  });

  it('can follow each other on one connection, a refused big body between them', async () => {
    const big = post(`Content-Length: 1500000`, 'x'.repeat(1_500_000));
    const text = await rawExchange(patient.port, post('Content-Length: 2', '{}') + big + get('/healthcheck'));
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]);
    expect(statuses).toEqual(['200', '413', '200']);
  });

  it.each([
    ['to an operation', '/api/v2/jsonRPC', 413],
    ['to a path that does not exist', '/nowhere', 404],
    ['to a page', '/healthcheck', 405],
  ])(
    'get `connection: close` when they end with their answer and still send a big body %s',
    async (_name, path, status) => {
      const body = 'x'.repeat(8_000_000);
      for (let turn = 0; turn < 10; turn++) {
        const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
        const reply = parseRaw(await rawExchange(patient.port, head + body));
        expect([reply.status, reply.headers.get('connection')]).toEqual([status, 'close']);
      }
    },
  );

  it('lose their connection when a refused body is too big to let run out', async () => {
    const reply = parseRaw(await rawExchange(listener.port, post('Content-Length: 99000000', 'x'.repeat(1000))));
    expect(factsOf(reply)).toEqual(failure(413));
    expect(reply.headers.get('connection')).toBe('close');
  });
});

async function malformedCount(): Promise<number> {
  const text = await listener.register.metrics();
  return Number(/^ton_http_malformed_requests_total (\d+)$/m.exec(text)?.[1]);
}
