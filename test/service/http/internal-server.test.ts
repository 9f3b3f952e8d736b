import { Counter, Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createInternalServer, type InternalServer, type Readiness } from '#service/http/internal-server.ts';
import { request } from './requests.ts';

let readiness: Readiness = { ready: true, reasons: [] };
let server: InternalServer;
let url = '';

beforeAll(async () => {
  const register = new Registry();
  new Counter({ name: 'ton_test_total', help: 'x', registers: [register] }).inc(3);
  server = createInternalServer(
    { host: '127.0.0.1', port: 0 },
    {
      register,
      readiness: () => readiness,
      status: () => ({ head: 5, balance: 2n ** 70n }),
      statusPage: () => ({ contentType: 'text/html', body: '<p>5', contentSecurityPolicy: "default-src 'none'" }),
      pages: new Map([
        ['/global.config.json', async () => ({ contentType: 'application/json', body: '{"@type":"config.global"}' })],
        ['/broken', () => Promise.reject(new Error('no zerostate'))],
      ]),
    },
  );
  const { host, port } = await server.listen();
  url = `http://${host}:${port}`;
});
afterAll(() => server.close());

describe('the internal listener', () => {
  it('shows metrics in the form of Prometheus', async () => {
    const { status, headers, text } = await request(`${url}/metrics`);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(text).toContain('ton_test_total 3');
  });

  it('is alive whatever is not ready', async () => {
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
