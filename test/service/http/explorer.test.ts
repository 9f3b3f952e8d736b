import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { acceptedEncoding } from '#service/explorer/answer.ts';
import { createExplorer, createExplorerAssets } from '#service/explorer/explorer.ts';
import { createInternalServer, type InternalServer } from '#service/http/internal-server.ts';
import { startListener, type Listener } from './listener.ts';
import { parseRaw, rawExchange, request } from './requests.ts';

const settings = { network: 'testnet', version: '1.2.3', surfaces: ['v3', 'explorer'] };
const explorer = createExplorer(() => settings, createExplorerAssets());

let listener: Listener;
let without: Listener;
let internal: InternalServer;
let internalUrl = '';
beforeAll(async () => {
  listener = await startListener({ dependencies: { explorer }, options: { compression: true } });
  without = await startListener();
  internal = createInternalServer(
    { host: '127.0.0.1', port: 0, names: [] },
    {
      register: new Registry(),
      readiness: () => ({ ready: true, reasons: [] }),
      status: () => ({}),
      statusPage: () => ({ contentType: 'text/html', body: '' }),
      pages: new Map(),
      explorer,
    },
  );
  const at = await internal.listen();
  internalUrl = `http://${at.host}:${at.port}`;
});
afterAll(() => Promise.all([listener.close(), without.close(), internal.close()]));

describe.each([
  ['public', () => listener.url],
  ['internal', () => internalUrl],
])('the explorer on the %s listener', (_name, base) => {
  it.each([
    '/explorer',
    '/explorer/',
    '/explorer/account/tonplane.ton?tab=nfts',
    '/explorer/tx/a%2Fb',
    '/explorer/account/%E0%A4%A',
  ])('is a page at %s', async (path) => {
    const { status, headers, text } = await request(base() + path);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toContain('<div id="app">');
  });

  it.each([
    ['/explorer/app/main.ts', 'text/javascript; charset=utf-8'],
    ['/explorer/app/explorer.css', 'text/css; charset=utf-8'],
    ['/explorer/app/icon.svg', 'image/svg+xml'],
    ['/explorer/vendor/preact.mjs', 'text/javascript; charset=utf-8'],
    ['/explorer/settings.json', 'application/json'],
  ])('has %s as %s, and asks browsers to check it at each use', async (path, type) => {
    const { status, headers } = await request(base() + path);
    expect([status, headers.get('content-type')]).toEqual([200, type]);
    expect(headers.get('cache-control')).toBe('private, no-cache');
    expect(headers.get('content-security-policy')).toBe(explorer.policy());
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('vary')?.toLowerCase()).toBe('accept-encoding');
  });

  it.each(['/explorer/app/none.ts', '/explorer/app/', '/explorerx', '/Explorer'])('%s does not exist', async (path) => {
    expect((await request(base() + path)).status).toBe(404);
  });

  it('a path that climbs out of the folder is no file', async () => {
    const { port } = new URL(base());
    for (const path of ['app/../explorer.ts', 'app/%2e%2e/explorer.ts', 'vendor/../../../package.json']) {
      const answer = await rawExchange(
        Number(port),
        `GET /explorer/${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`,
      );
      expect(parseRaw(answer).status).toBe(404);
    }
  });

  it.each(['br', 'gzip', 'identity'])('answers 304 to a browser that has the file, for %s', async (encoding) => {
    const headers = { 'accept-encoding': encoding };
    const first = await request(`${base()}/explorer/app/texts.ts`, { headers });
    const etag = first.headers.get('etag') ?? '';
    expect(first.text.length).toBeGreaterThan(1000);
    const second = await request(`${base()}/explorer/app/texts.ts`, {
      headers: { ...headers, 'if-none-match': `"other", W/${etag}` },
    });
    expect([second.status, second.text, second.headers.get('etag')]).toEqual([304, '', etag]);
    const third = await request(`${base()}/explorer/app/texts.ts`, {
      headers: { ...headers, 'if-none-match': '"other"' },
    });
    expect(third.status).toBe(200);
  });

  it('sends bytes that decode to the file', async () => {
    const url = `${base()}/explorer/app/texts.ts`;
    const plain = await request(url, { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    for (const encoding of ['br', 'gzip']) {
      const encoded = await request(url, { headers: { 'accept-encoding': encoding } });
      expect(encoded.headers.get('content-encoding')).toBe(encoding);
      expect(Number(encoded.headers.get('content-length'))).toBeLessThan(plain.text.length);
      expect(encoded.text).toBe(plain.text);
    }
  });

  it('refuses a POST', async () => {
    const init = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
    expect((await request(`${base()}/explorer`, init)).status).toBeGreaterThanOrEqual(404);
  });
});

describe('the explorer', () => {
  it('answers HEAD on the public listener', async () => {
    const { status, text } = await request(`${listener.url}/explorer`, { method: 'HEAD' });
    expect([status, text]).toEqual([200, '']);
  });

  it('is not served by a listener without that surface', async () => {
    expect((await request(`${without.url}/explorer`)).status).toBe(404);
    expect((await request(`${without.url}/explorer/app/main.ts`)).status).toBe(404);
  });

  it('on the internal listener is not served under a foreign host name', async () => {
    const { port } = new URL(internalUrl);
    const answer = await rawExchange(
      Number(port),
      'GET /explorer/settings.json HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
    );
    expect(parseRaw(answer).status).toBe(421);
  });
});

describe('the encoding of an answer', () => {
  it.each([
    ['gzip, deflate, br, zstd', 'br'],
    ['GZIP', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['br;q=0.0', undefined],
    ['identity', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('for the callers accepting %j is %s', (header, encoding) => {
    expect(acceptedEncoding(header)).toBe(encoding);
  });
});
