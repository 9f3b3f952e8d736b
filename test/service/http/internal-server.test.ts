import { Counter, Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createInternalServer, type InternalServer, type Readiness } from '#service/http/internal-server.ts';
import { parseRaw, rawExchange, request, type Reply } from './requests.ts';

let readiness: Readiness = { ready: true, reasons: [] };
let server: InternalServer;
let url = '';
let port = 0;
const ran: string[] = [];

beforeAll(async () => {
  const register = new Registry();
  new Counter({ name: 'ton_test_total', help: 'x', registers: [register] }).inc(3);
  server = createInternalServer(
    { host: '127.0.0.1', port: 0, names: ['pod-7', 'Status.Example.org.'] },
    {
      register,
      readiness: () => readiness,
      status: () => ({ head: 5, balance: 2n ** 70n }),
      statusPage: () => ({ contentType: 'text/html', body: '<p>5', contentSecurityPolicy: "default-src 'none'" }),
      pages: new Map([
        ['/global.config.json', async () => ({ contentType: 'application/json', body: '{"@type":"config.global"}' })],
        ['/broken', () => Promise.reject(new Error('no zerostate'))],
      ]),
      posts: new Map([
        [
          '/dev',
          async (body) => {
            ran.push(body.toString());
            return { contentType: 'application/json', body: '{"result":1}' };
          },
        ],
      ]),
    },
  );
  const at = await server.listen();
  port = at.port;
  url = `http://${at.host}:${port}`;
});
afterAll(() => server.close());

describe('the internal listener', () => {
  it('shows metrics in the form of Prometheus', async () => {
    const { status, headers, text } = await request(`${url}/metrics`);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(text).toContain('ton_test_total 3');
  });

  it('livez answers 200 while the service is not ready', async () => {
    readiness = { ready: false, reasons: ['no lite server is usable'] };
    expect((await request(`${url}/livez`)).status).toBe(200);
  });

  it.each([
    [true, [], 200],
    [false, ['draining', 'no lite server is usable'], 503],
  ])('is ready: %j, with reasons %j', async (ready, reasons, status) => {
    readiness = { ready, reasons };
    const reply = await request(`${url}/readyz`);
    expect([reply.status, reply.body]).toEqual([status, { ready, reasons }]);
  });

  it('shows the status, big numbers as text', async () => {
    expect((await request(`${url}/status`)).body).toEqual({ head: 5, balance: '1180591620717411303424' });
  });

  it.each([
    ['/status', undefined, 'application/json'],
    ['/status', '*/*', 'application/json'],
    ['/status', 'application/json, text/html', 'application/json'],
    ['/status', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html'],
    ['/status.html', '*/*', 'text/html'],
  ])('shows %s to one who accepts %s as %s', async (path, accept, contentType) => {
    const { headers } = await request(`${url}${path}`, { headers: accept === undefined ? {} : { accept } });
    expect(headers.get('content-type')).toBe(contentType);
    expect(headers.get('content-security-policy')).toBe(contentType === 'text/html' ? "default-src 'none'" : null);
  });

  it('serves the pages it was given, and nothing else', async () => {
    const { body, headers } = await request(`${url}/global.config.json`);
    expect([body, headers.get('content-type')]).toEqual([{ '@type': 'config.global' }, 'application/json']);
    expect((await request(`${url}/nope`)).status).toBe(404);
    const broken = await request(`${url}/broken`);
    expect([broken.status, broken.body]).toEqual([500, { error: 'no zerostate' }]);
  });
});

/** Sends a request with exactly these header lines; `Connection: close` is added. */
async function send(first: string, lines: readonly string[], body = ''): Promise<Reply> {
  const length = body === '' ? [] : [`content-length: ${body.length}`];
  const text = [`${first} HTTP/1.1`, ...lines, ...length, 'connection: close', '', body].join('\r\n');
  return parseRaw(await rawExchange(port, text));
}

const json = 'content-type: application/json';

describe('the internal listener answers', () => {
  it.each([
    '127.0.0.1',
    '127.0.0.1:8082',
    '10.4.0.17:8082',
    '127.0.0.1.',
    '[::1]',
    '[::1]:8082',
    '[FD00::A:17]:8082',
    '[::ffff:127.0.0.1]:8082',
    'localhost',
    'localhost:8082',
    'LOCALHOST:8082',
    'localhost.:8082',
    'localhost:',
    'mainnet-api.ton.svc',
    'mainnet-api.ton.svc:8082',
    'Mainnet-Api.Ton.SVC.Cluster.Local.:8082',
    '10-4-0-17.ton.pod.cluster.local',
    'pod-7:8082',
    'POD-7.',
    'status.example.org',
    'STATUS.example.org.:80',
  ])('the host %s', async (host) => {
    expect((await send('GET /livez', [`host: ${host}`])).status).toBe(200);
  });

  it.each([
    'rebound.example',
    'rebound.example:8082',
    '127.0.0.1.rebound.example',
    'localhost.rebound.example',
    'notlocalhost',
    'svc',
    '.svc',
    'cluster.local',
    'a.svc.rebound.example',
    'a.notsvc',
    'a.notcluster.local',
    'evil.status.example.org',
    'pod-70',
    'localhost..',
    'localhost:8082:8082',
    'localhost:http',
    'rebound.example@localhost',
    'localhost, rebound.example',
    'localhost rebound.example',
    '::1',
    '[::1',
    '[rebound.example]',
    '[127.0.0.1]',
    '127.0.0.1.5',
    '2130706433',
    '0x7f.1',
    '',
  ])('421 to the host %j, for every page', async (host) => {
    for (const path of ['/livez', '/readyz', '/status', '/metrics', '/global.config.json', '/nope', '/%zz']) {
      const { status, body } = await send(`GET ${path}`, [`host: ${host}`]);
      expect([path, status, Object.keys(body)]).toEqual([path, 421, ['error']]);
    }
  });

  it('421 when one of two hosts is foreign, and when there are two of the same', async () => {
    expect((await send('GET /status', ['host: localhost', 'host: rebound.example'])).status).toBe(421);
    expect((await send('GET /status', ['host: rebound.example', 'host: localhost'])).status).toBe(421);
    expect((await send('GET /status', ['host: localhost', 'host: localhost'])).status).toBe(421);
  });

  it('421 to a target in absolute form that names a foreign host', async () => {
    const lines = ['host: localhost'];
    expect((await send('GET http://rebound.example/status', lines)).status).toBe(421);
    expect((await send('GET HTTP://rebound.example:8082/status', lines)).status).toBe(421);
    expect((await send('GET http://localhost/status', ['host: rebound.example'])).status).toBe(421);
    expect((await send('GET http://127.0.0.1:8082/status', lines)).status).toBe(200);
  });

  it('no request without a host', async () => {
    expect((await send('GET /status', [])).status).toBe(400);
    expect(parseRaw(await rawExchange(port, 'GET /status HTTP/1.0\r\n\r\n')).status).toBe(421);
  });

  it.each([
    ['origin: https://page.example'],
    ['origin: null'],
    ['origin: '],
    ['origin: http://localhost:3000'],
    ['origin: http://127.0.0.1:8082'],
    ['origin: file://localhost:8082'],
    ['sec-fetch-site: cross-site'],
    ['sec-fetch-site: same-site'],
    ['sec-fetch-site: anything'],
    ['origin: http://localhost:8082', 'sec-fetch-site: cross-site'],
    ['origin: http://localhost:8082', 'origin: https://page.example'],
  ])('403 to a page with %s', async (...lines) => {
    const host = 'host: localhost:8082';
    expect((await send('GET /status', [host, ...lines])).status).toBe(403);
    expect((await send('OPTIONS /dev', [host, ...lines])).status).toBe(403);
    ran.length = 0;
    expect((await send('POST /dev', [host, json, ...lines], '{}')).status).toBe(403);
    expect(ran).toEqual([]);
  });

  it.each([
    ['sec-fetch-site: none'],
    ['sec-fetch-site: same-origin', 'origin: http://localhost:8082'],
    ['origin: HTTP://LOCALHOST:8082'],
    ['origin: https://localhost:8082'],
  ])('a page of its own with %s', async (...lines) => {
    expect((await send('GET /status', ['host: localhost:8082', ...lines])).status).toBe(200);
  });

  it('a POST of JSON by its media type', async () => {
    for (const type of ['application/json', 'Application/JSON; charset=utf-8', 'application/json;']) {
      ran.length = 0;
      const { status, body } = await send('POST /dev', ['host: localhost', `content-type: ${type}`], '{"id":1}');
      expect([type, status, body, ran]).toEqual([type, 200, { result: 1 }, ['{"id":1}']]);
    }
  });

  it('415 to a POST of any other media type, and runs nothing', async () => {
    const types = [
      'text/plain',
      'text/plain;charset=UTF-8',
      'text/plain; application/json',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonp',
      'application/json, text/plain',
      'text/json',
      '',
    ];
    ran.length = 0;
    for (const type of types) {
      const { status } = await send('POST /dev', ['host: localhost', `content-type: ${type}`], '{"id":1}');
      expect([type, status]).toEqual([type, 415]);
    }
    expect((await send('POST /dev', ['host: localhost'], '{"id":1}')).status).toBe(415);
    expect((await send('POST /dev', ['host: localhost', json, 'content-type: text/plain'], '{}')).status).toBe(415);
    expect(ran).toEqual([]);
  });

  it('nothing that a cache may store', async () => {
    for (const path of ['/livez', '/readyz', '/status', '/status.html', '/metrics', '/global.config.json', '/nope']) {
      expect([path, (await request(`${url}${path}`)).headers.get('cache-control')]).toEqual([path, 'no-store']);
    }
    expect((await send('GET /status', ['host: rebound.example'])).headers.get('cache-control')).toBe('no-store');
  });
});
