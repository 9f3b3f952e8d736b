import { Script } from 'node:vm';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startStreams, type StreamListener } from './stream-listener.ts';

let at: StreamListener;
beforeAll(async () => void (at = await startStreams()));
afterAll(() => at.close());

const read = async (path: string) => {
  const response = await fetch(at.url + path);
  return { status: response.status, headers: response.headers, text: await response.text() };
};

describe('the page of streaming', () => {
  it.each(['/api/streaming', '/api/streaming/'])('is at %s, and made of files of this server alone', async (path) => {
    const { status, headers, text } = await read(path);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const references = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map((match) => match[1]!);
    expect(references).toEqual([
      '/api/v3',
      '/api/streaming/docs',
      '/api/streaming/openapi.json',
      '/api/streaming/live.js',
    ]);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; /);
    expect(text).not.toMatch(/https?:/);
  });

  it('has a script that this Node can parse, and that opens both transports', async () => {
    const { text, headers } = await read('/api/streaming/live.js');
    expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(() => new Script(text)).not.toThrow();
    expect(text).toContain("new EventSource('/api/streaming/v2/sse?'");
    expect(text).toContain("new URL('/api/streaming/v2/ws'");
  });

  it('has a document of all paths, with a reader', async () => {
    const document = JSON.parse((await read('/api/streaming/openapi.json')).text) as { paths: object };
    expect(Object.keys(document.paths)).toEqual([
      '/api/streaming/v2/sse',
      '/api/streaming/v2/ws',
      '/api/streaming/healthz',
    ]);
    expect((await read('/api/streaming/docs')).text).toContain('/api/v2/docs/streaming.js');
    expect((await read('/api/v2/docs/streaming.js')).text).toContain("url: '/api/streaming/openapi.json'");
  });
});
