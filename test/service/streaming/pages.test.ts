import { Script } from 'node:vm';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { address, startStreams, type StreamListener } from './stream-listener.ts';

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

  it('has a form that sends its fields over a WebSocket, and the late end of a former stream leaves the state of the newer one', async () => {
    const page = openPage((await read('/api/streaming/live.js')).text);
    page.submit({ types: ['transactions'], addresses: `${address}\n`, transport: 'ws', min_finality: 'pending' });
    const [first] = page.sockets;
    first!.onopen();
    expect(first!.sent.map((text) => JSON.parse(text) as unknown)).toEqual([
      {
        operation: 'subscribe',
        types: ['transactions'],
        addresses: [address],
        trace_external_hash_norms: [],
        min_finality: 'pending',
      },
    ]);
    first!.onmessage({ data: '{"status":"subscribed"}' });
    expect([page.textOf('state'), page.textOf('events')]).toEqual(['open', '{"status":"subscribed"}']);
    page.submit({ types: ['actions'], addresses: address, transport: 'ws', min_finality: 'finalized' });
    page.sockets[1]!.onopen();
    first!.onclose({ code: 1005, reason: '' });
    expect(page.textOf('state')).toBe('open');
    page.sockets[1]!.onclose({ code: 1008, reason: 'no subscription' });
    expect(page.textOf('state')).toBe('closed 1008 no subscription');
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

type Fields = Readonly<Record<string, string | readonly string[]>>;

/** A socket of the page, whose end the test plays. */
class PlayedSocket {
  readonly sent: string[] = [];
  onopen = (): void => {};
  onmessage = (_event: { readonly data: string }): void => {};
  onclose = (_event: { readonly code: number; readonly reason: string }): void => {};
  send(text: string): void {
    this.sent.push(text);
  }
  close(): void {}
}

/** Runs the script of the page over a document of its few elements. */
function openPage(script: string) {
  const sockets: PlayedSocket[] = [];
  const elements = new Map<string, { textContent: string; addEventListener: (name: string, run: Run) => void }>();
  const listeners = new Map<string, Run>();
  let fields: Fields = {};
  const elementOf = (id: string) => {
    const there = elements.get(id) ?? {
      textContent: '',
      addEventListener: (name: string, run: Run) => void listeners.set(`${id} ${name}`, run),
    };
    elements.set(id, there);
    return there;
  };
  class PlayedForm {
    get(name: string): unknown {
      return fields[name] ?? '';
    }
    getAll(name: string): unknown {
      return fields[name] ?? [];
    }
  }
  class Opened extends PlayedSocket {
    constructor() {
      super();
      sockets.push(this);
    }
  }
  const location = { href: 'http://127.0.0.1/api/streaming/', protocol: 'http:' };
  const document = { getElementById: elementOf };
  new Script(script).runInNewContext({ document, location, URL, FormData: PlayedForm, WebSocket: Opened });
  return {
    sockets,
    textOf: (id: string) => elementOf(id).textContent,
    submit(given: Fields) {
      fields = given;
      listeners.get('form submit')!({ preventDefault: () => {} });
    },
  };
}

type Run = (event: { readonly preventDefault: () => void }) => void;
