import { runInNewContext } from 'node:vm';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { foldScript } from '#service/http/pages.ts';
import { startListener, type Listener } from './listener.ts';
import { request } from './requests.ts';

let listener: Listener;

beforeAll(async () => {
  listener = await startListener();
});
afterAll(() => listener.close());

describe('the documentation', () => {
  it.each(['/', '/api/v2', '/api/v2/'])('is a page at %s', async (path) => {
    const { status, headers, text } = await request(listener.url + path);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toContain('<div id="swagger-ui">');
  });

  it('is made of files of this server alone', async () => {
    const { text, headers } = await request(`${listener.url}/api/v2/`);
    const references = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map((match) => match[1]!);
    expect(references.length).toBeGreaterThanOrEqual(4);
    for (const reference of references) {
      expect(reference).toMatch(/^\/api\/v2\/docs\//);
      const asset = await request(listener.url + reference);
      expect(asset.status).toBe(200);
      expect(asset.headers.get('cache-control')).toContain('max-age');
      expect(reference.endsWith('.css') ? foreignUrls(asset.text) : []).toEqual([]);
    }
    expect(text.replaceAll(/(?:src|href)="[^"]*"/g, '')).not.toMatch(/https?:|\/\//);
    // Even a script that tried could reach no other host.
    const policy = headers.get('content-security-policy');
    expect(policy).toMatch(/^default-src 'none'; /);
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
  });

  it.each(['v2', 'v3'])(
    'of %s starts with the document of this server and without an outside validator',
    async (contract) => {
      const { text } = await request(`${listener.url}/api/v2/docs/${contract}.js`);
      expect(text).toContain(`url: '/api/${contract}/openapi.json'`);
      expect(text).toContain('validatorUrl: null');
      expect(foreignUrls(text)).toEqual([]);
    },
  );
});

describe('the page of all documents', () => {
  it('lists the documents of the served contracts, and each exists', async () => {
    const { text } = await request(`${listener.url}/api/v2/docs/all.js`);
    const [, list = '[]'] = /^const documents = (.*);$/m.exec(text) ?? [];
    const documents = JSON.parse(list) as { url: string; name: string }[];
    expect(documents.map(({ name }) => name)).toEqual(['v2']);
    for (const { url } of documents) expect((await request(listener.url + url)).status).toBe(200);
    expect(foreignUrls(text)).toEqual([]);
  });

  it('is the page at /', async () => {
    expect((await request(`${listener.url}/`)).text).toContain('src="/api/v2/docs/all.js"');
  });
});

/** Methods of each path of a document. */
const methodsOf = (document: unknown): string[][] =>
  Object.values((document as { paths: object }).paths).map((path) => Object.keys(path as object));

describe('the reader of a document', () => {
  type Answer = { ok: boolean; url: string; text: string; data: string };
  /** Runs the script as the page does. */
  const fold = (answer: Answer): Answer =>
    runInNewContext(`${foldScript}; foldDocument(answer)`, {
      URL,
      location: { href: 'http://host/api/v2' },
      answer,
    }) as Answer;

  it('shows GET and POST of one operation as one entry', () => {
    const paths = {
      '/both': { get: { summary: 'Both.', description: 'Long.' }, post: { summary: 'Both.' } },
      '/bare': { get: {}, post: {} },
      '/get': { get: { summary: 'Get.' } },
      '/post': { post: { summary: 'Post.' } },
    };
    const note = 'POST takes the same parameters as one JSON object.';
    const answer = fold({ ok: true, url: '/api/v2/openapi.json?x=1', text: JSON.stringify({ paths }), data: '' });
    expect(JSON.parse(answer.text)).toEqual({
      paths: {
        '/both': { get: { summary: 'Both.', description: `Long.\n\n${note}` } },
        '/bare': { get: { description: note } },
        '/get': paths['/get'],
        '/post': paths['/post'],
      },
    });
    expect(answer.data).toBe(answer.text);
  });

  it.each([
    { ok: true, url: '/api/v2/getMasterchainInfo', text: '{"paths":{}}', data: 'x' },
    { ok: false, url: '/api/v2/openapi.json', text: 'gateway timeout', data: 'x' },
  ])('leaves the answer $url with ok $ok as it is', (answer) => {
    expect(fold({ ...answer })).toEqual(answer);
  });

  it('folds every operation of v2 that has both methods, and loses none', async () => {
    const { text, body } = await request(`${listener.url}/api/v2/openapi.json`);
    const folded = JSON.parse(fold({ ok: true, url: '/api/v2/openapi.json', text, data: text }).text) as typeof body;
    expect(methodsOf(body).some((names) => names.length === 2)).toBe(true);
    expect(methodsOf(folded).map((names) => names.length)).toEqual(methodsOf(body).map(() => 1));
  });
});

describe('health', () => {
  it.each(['/healthcheck', '/api/v2/healthcheck', '/healthcheck/'])('is "OK" at %s', async (path) => {
    const { status, headers, text } = await request(listener.url + path);
    expect([status, text, headers.get('content-type')]).toEqual([200, '"OK"', 'application/json']);
  });

  it('the health page answers HEAD', async () => {
    expect((await request(`${listener.url}/healthcheck`, { method: 'HEAD' })).status).toBe(200);
  });
});

type Row = [what: string, path: string, method: string, status: number, contentType?: string | null];

describe('every answer', () => {
  it.each([
    ['a success', '/api/v2/getMasterchainInfo', 'GET', 200],
    ['a validation error', '/api/v2/getAddressState', 'GET', 422],
    ['an unknown path', '/nope', 'GET', 404],
    ['a wrong method', '/api/v2/getAddressState', 'PUT', 405],
    ['a page', '/', 'GET', 200, 'text/html; charset=utf-8'],
    ['an asset', '/api/v2/docs/swagger-ui.css', 'GET', 200, 'text/css; charset=utf-8'],
    ['the document', '/api/v2/openapi.json', 'GET', 200],
    ['health', '/healthcheck', 'GET', 200],
    ['a preflight', '/api/v2/getMasterchainInfo', 'OPTIONS', 204, null],
  ] as Row[])(
    'lets browsers of any origin read it: %s',
    async (_what, path, method, status, contentType = 'application/json') => {
      const reply = await request(listener.url + path, { method, headers: { origin: 'https://example.org' } });
      expect(reply.status).toBe(status);
      expect(reply.headers.get('access-control-allow-origin')).toBe('*');
      expect(reply.headers.get('access-control-expose-headers')).toBe(
        'X-API-Version, Server-Timing, Retry-After, RateLimit, RateLimit-Policy, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, X-Next-Cursor, X-Tonplane-Ignored, X-Tonplane-Upstreams, X-Tonplane-Attempts, X-Tonplane-Cache, X-Tonplane-Head',
      );
      expect(reply.headers.get('x-api-version')).toBe('2.2.0');
      expect(reply.headers.get('content-type')).toBe(contentType);
    },
  );

  it('to a preflight names methods and headers and has no body', async () => {
    const { status, text, headers } = await request(`${listener.url}/api/v2/jsonRPC`, { method: 'OPTIONS' });
    expect([status, text]).toEqual([204, '']);
    expect(headers.get('access-control-allow-methods')).toBe('GET, POST, OPTIONS');
    expect(headers.get('access-control-max-age')).toBe('86400');
    const allowed = headers.get('access-control-allow-headers')?.split(', ');
    expect(allowed).toEqual(
      expect.arrayContaining(['*', 'Content-Type', 'X-API-Key', 'X-Ton-Client-Version', 'Authorization']),
    );
  });
});

/** Addresses of other hosts that a style sheet or script would load; names of XML namespaces are none. */
function foreignUrls(text: string): string[] {
  return [...text.matchAll(/(?:url\(|@import|import\(|fetch\()\s*["']?((?:https?:)?\/\/[^"')\s]+)/g)].map(
    (match) => match[1]!,
  );
}
