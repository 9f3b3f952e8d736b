import { connect } from 'node:net';

import { afterEach, describe, expect, it } from 'vitest';

import { StreamingError } from '#service/streaming/errors.ts';
import { allowed, scriptLimits } from '#test/service/http/listener.ts';
import { parseRaw, rawExchange } from '#test/service/http/requests.ts';

import { checkSseText } from '#test/support/stream-contract.ts';

import { stateEvent } from './fake-hub.ts';
import { address, hash, startStreams, type StreamListener, type StreamSetup } from './stream-listener.ts';
import { notQuick } from '#test/support/volume.ts';

let at: StreamListener;
afterEach(() => at.close());

const start = async (setup?: StreamSetup): Promise<void> => void (at = await startStreams(setup));
const one = { types: ['transactions'], addresses: [address] };
const query = `types=transactions&addresses=${address}`;
const url = (rest: string): string => `${at.url}/api/streaming/${rest}`;

/** Reads a stream as text until it holds a text or ends. */
async function textUntil(response: Response, last: string): Promise<string> {
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes(last)) break;
  }
  checkSseText(text);
  return text;
}

describe('a stream of server-sent events', () => {
  it('has the transcript of the protocol', async () => {
    await start();
    const response = await at.post(JSON.stringify({ id: 'a', ...one }));
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'access-control-allow-origin': '*',
      'x-api-version': expect.any(String) as string,
    });
    const connection = at.hub.last();
    connection.emit(stateEvent());
    const cursor = (mcSeqno: number): string => at.cursors.write({ position: { mcSeqno, index: 0 }, connection: 1 });
    const [first, second] = [cursor(100), cursor(101)];
    expect(await textUntil(response, second)).toBe(
      [
        `retry: 2000\nevent: connected\nid: ${first}\n`,
        `data: {"id":"a","status":"subscribed","cursor":"${first}","resumed":"none"}\n\n`,
        `id: ${second}\nevent: event\n`,
        `data: ${JSON.stringify({ ...stateEvent(), cursor: second })}\n\n`,
      ].join(''),
    );
    expect(connection.keyId).toBe(allowed.streaming.owner);
    await expect.poll(() => connection.isClosed).toBe(true);
  });

  it('has no event line in events by GET, so that EventSource shows them', async () => {
    await start();
    const response = await fetch(url(`v2/sse?${query}&min_finality=pending&include_metadata=true`));
    at.hub.last().emit(stateEvent());
    const text = await textUntil(response, 'account_state_change');
    expect(text).toContain('event: connected\n');
    expect(text).not.toContain('event: event');
    expect(at.hub.last().wish).toMatchObject({ minFinality: 'pending', includeMetadata: true });
  });

  it('resumes from Last-Event-ID rather than from the cursor of its query', async () => {
    await start();
    const [newer, older] = [9, 8].map((mcSeqno) =>
      at.cursors.write({ position: { mcSeqno, index: 0 }, connection: 77 }),
    );
    const response = await fetch(url(`v2/sse?${query}&cursor=${older}`), { headers: { 'last-event-id': newer! } });
    expect(await textUntil(response, 'connected')).toContain('"resumed":"full"');
    expect(at.hub.last().resumedFrom).toBe(newer);
  });

  it('says what to read elsewhere when it cannot resume', async () => {
    await start();
    at.hub.onSubscribe = () => Promise.resolve({ resumed: 'none', gap: { from_mc_seqno: 3, to_mc_seqno: 99 } });
    const reader = await at.sse({ ...one, cursor: at.cursors.write({ position: null, connection: 5 }) });
    const answer = await reader.until((frame) => 'status' in frame);
    expect(answer).toMatchObject({ resumed: 'none', gap: { from_mc_seqno: 3, to_mc_seqno: 99 } });
  });

  it('shows a sign of life and its cursor every 15 s', async () => {
    await start();
    const response = await at.post(JSON.stringify(one));
    at.pass(15_000);
    const cursor = at.cursors.write({ position: { mcSeqno: 100, index: 0 }, connection: 1 });
    expect(await textUntil(response, 'keepalive')).toContain(`\n\n: keepalive\n\nid: ${cursor}\n\n`);
  });

  it('is drained when its caller has read all', async () => {
    await start();
    const reader = await at.sse(one);
    at.hub.last().emit(stateEvent(20_000_000));
    expect(at.hub.last().sink.unsentBytes()).toBeGreaterThan(0);
    await reader.until((frame) => frame['type'] === 'account_state_change');
    await expect.poll(() => at.hub.last().drains).toBeGreaterThan(0);
    expect(at.hub.last().sink.unsentBytes()).toBe(0);
  });
});

describe('the end of a stream of server-sent events', () => {
  it('has its code, reason and cursor', async () => {
    await start();
    const response = await at.post(JSON.stringify(one));
    at.hub.last().sink.end(1013, 'slow consumer', 'abc');
    const text = await response.text();
    expect(text).toMatch(/event: close\ndata: \{"error":"slow consumer","code":1013,"cursor":"abc"\}\n\n$/);
    expect(at.hub.last().isClosed).toBe(true);
  });

  it('follows the end of its key', async () => {
    await start();
    const response = await at.post(JSON.stringify(one));
    at.isInForce = false;
    expect(await response.text()).toContain('"error":"API key does not exist","code":1008');
  });

  it('comes with the end of the process, with a moment to return at', async () => {
    await start();
    const response = await at.post(JSON.stringify(one));
    const closed = at.close();
    expect(await response.text()).toContain('retry: 2750\nevent: close\ndata: {"error":"going away","code":1001,');
    await closed;
    expect(at.hub.last().isClosed).toBe(true);
    await start();
  });

  it('frees the place of its caller', async () => {
    await start({ connections: 1 });
    const first = await at.sse(one);
    expect((await at.post(JSON.stringify(one))).status).toBe(429);
    first.close();
    await expect.poll(() => at.hub.connections[0]!.isClosed).toBe(true);
    const third = await at.sse(one);
    expect(await third.until((frame) => 'status' in frame)).toMatchObject({ status: 'subscribed' });
  });

  it('makes way for a stream that resumes from its cursor', async () => {
    await start({ connections: 1 });
    const first = await at.post(JSON.stringify(one));
    const cursor = at.cursors.write({ position: { mcSeqno: 100, index: 0 }, connection: 1 });
    const second = await at.sse({ ...one, cursor });
    expect(await first.text()).toContain('"error":"superseded","code":4001');
    expect(await second.until((frame) => 'status' in frame)).toMatchObject({ resumed: 'full' });
  });
});

describe('a refused request for server-sent events', () => {
  it.each<[string, string, number, string]>([
    [
      'no JSON',
      '{',
      400,
      "invalid subscription request: Expected property name or '}' in JSON at position 1 (line 1 column 2)",
    ],
    ['an empty body', '', 400, 'invalid subscription request: Unexpected end of JSON input'],
    ['an array', '[]', 400, 'invalid subscription request: expected an object'],
    ['a number', '1', 400, 'invalid subscription request: expected an object'],
    ['deep nesting', '['.repeat(1_000_000), 400, 'invalid subscription request: nested deeper than 2048'],
    [
      'a long id',
      JSON.stringify({ ...one, id: 'x'.repeat(257) }),
      400,
      'invalid subscription request: id: expected at most 256 characters',
    ],
    [
      'an id that is a number',
      JSON.stringify({ ...one, id: 1 }),
      400,
      'invalid subscription request: id: expected a string',
    ],
    ['no types', '{}', 400, 'types are required for subscription'],
    ['a forged cursor', JSON.stringify({ ...one, cursor: 'AAAA' }), 400, 'invalid cursor'],
    ['a body above 1 MiB', ' '.repeat(1_048_577), 413, 'request body too large'],
  ])('%s has its status and text', async (_what, body, status, error) => {
    await start();
    const response = await at.post(body);
    expect(await response.json()).toEqual({ ok: false, code: status, error });
    expect(response.status).toBe(status);
    expect(at.hub.connections.every(({ isClosed }) => isClosed)).toBe(true);
  });

  it('repeats the id of its body', async () => {
    await start();
    const response = await at.post('{"id":"a"}');
    const body = { ok: false, code: 400, error: 'types are required for subscription', id: 'a' };
    expect(await response.json()).toEqual(body);
  });

  it('needs the media type of JSON', async () => {
    await start();
    const response = await at.post(JSON.stringify(one), { 'content-type': 'text/plain' });
    expect(response.status).toBe(415);
  });

  it('is over the connections of the plan', async () => {
    await start({ connections: 1 });
    await at.sse(one);
    const response = await at.post(JSON.stringify({ ...one, id: 'b' }));
    const error = 'connection limit reached: 1 active connections';
    expect(await response.json()).toEqual({ ok: false, code: 429, error, id: 'b' });
  });

  it.each<['unknown_key' | 'network_not_allowed' | 'rate_limited', number, string]>([
    ['unknown_key', 401, 'API key does not exist'],
    ['network_not_allowed', 403, 'Network not allowed'],
    ['rate_limited', 429, 'Ratelimit exceeded'],
  ])('of a caller with %s has the answer of every operation', async (code, status, error) => {
    const refused = { allowed: false, code, plan: null, quota: null, retryAfterSeconds: null } as const;
    await start({ limits: scriptLimits(() => refused) });
    const response = await fetch(url(`v2/sse?${query}`));
    expect(await response.json()).toEqual({ ok: false, code: status, error });
    expect(at.hub.connections).toEqual([]);
  });

  it('has a query of at most 16 KiB', async () => {
    await start();
    const longest = `${query}&more=`.padEnd(16_384, 'x');
    const taken = await fetch(url(`v2/sse?${longest}`));
    expect(taken.status).toBe(200);
    await taken.body?.cancel();
    expect((await fetch(url(`v2/sse?${longest}x`))).status).toBe(414);
  });

  it('comes back later when the refusal passes: EventSource gives up at any status but 200', async () => {
    await start();
    at.hub.onSubscribe = () => Promise.reject(new StreamingError('replay_busy', 'too many replays run'));
    const byPost = await at.post(JSON.stringify(one));
    expect([byPost.status, byPost.headers.get('retry-after')]).toEqual([503, '1']);
    const byGet = await fetch(url(`v2/sse?${query}`));
    expect(byGet.headers.get('content-type')).toBe('text/event-stream');
    expect(await byGet.text()).toBe(
      'retry: 5000\nevent: close\ndata: {"error":"too many replays run","code":1013}\n\n',
    );
    expect(at.hub.connections.every(({ isClosed }) => isClosed)).toBe(true);
  });

  it('comes back later also when its time runs out', async () => {
    await start({ options: { requestTimeoutMs: 300 } });
    at.hub.onSubscribe = () => new Promise(() => undefined);
    expect((await at.post(JSON.stringify(one))).status).toBe(504);
    const byGet = await fetch(url(`v2/sse?${query}`));
    expect(byGet.headers.get('content-type')).toBe('text/event-stream');
    expect(await byGet.text()).toBe(
      'retry: 5000\nevent: close\ndata: {"error":"timeout of the request","code":1013}\n\n',
    );
    expect(at.hub.connections.every(({ isClosed }) => isClosed)).toBe(true);
  });

  it('is above the connections of the process', async () => {
    await start({ streaming: { connectionsMax: 1 } });
    await at.sse(one);
    expect((await at.post(JSON.stringify(one))).status).toBe(503);
  });

  it('costs nothing when its caller goes away while it waits', async () => {
    await start();
    const { promise, resolve } = Promise.withResolvers<void>();
    at.hub.onSubscribe = () => promise;
    const leaving = new AbortController();
    const asked = fetch(url(`v2/sse?${query}`), { signal: leaving.signal });
    await expect.poll(() => at.hub.connections.length).toBe(1);
    leaving.abort();
    await expect(asked).rejects.toThrow('aborted');
    await expect.poll(() => at.hub.last().isClosed).toBe(true);
    resolve();
  });
});

describe('other paths of streaming', () => {
  it('version 1 is gone', async () => {
    await start();
    for (const path of ['v1/sse', 'v1/ws']) {
      const response = await fetch(url(path));
      const error = 'streaming v1 is not served, use /api/streaming/v2';
      expect(await response.json()).toEqual({ ok: false, code: 410, error });
      expect(response.status).toBe(410);
    }
  });

  it('a WebSocket path asks for an upgrade', async () => {
    await start();
    const reply = parseRaw(await rawExchange(at.port, 'GET /api/streaming/v2/ws HTTP/1.1\r\nHost: a\r\n\r\n'));
    expect(reply).toMatchObject({ status: 426, body: { ok: false, code: 426, error: 'Upgrade Required' } });
    expect(reply.headers.get('upgrade')).toBe('websocket');
  });

  it('health names the part that is late', async () => {
    const components = { source: { ok: true, age_seconds: 1 }, log: { ok: false, error: 'no block for 20 s' } };
    await start({ components });
    const response = await fetch(url('healthz'));
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ ok: false, now: 1_755_516_054, components });
  });

  it('pages of other origins may send what a stream needs', async () => {
    await start();
    const headers = { origin: 'https://example.com', 'access-control-request-method': 'GET' };
    const response = await fetch(url('v2/sse'), { method: 'OPTIONS', headers });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-headers')).toContain('Last-Event-ID');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
  });

  it('a wrong method is refused', async () => {
    await start();
    const response = await fetch(url('v2/sse'), { method: 'PUT', body: '{}' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST, OPTIONS']);
  });

  it('streams are counted by transport and plan, and leave the requests in flight', async () => {
    await start();
    const reader = await at.sse({ types: ['trace'], trace_external_hash_norms: [hash] });
    expect(at.server.status().inFlight).toBe(0);
    expect(await at.streamRegister.metrics()).toContain('ton_streaming_connections{transport="sse",plan="test"} 1');
    reader.close();
    const closes = 'ton_streaming_closes_total{transport="sse",code="client"} 1';
    await expect.poll(() => at.streamRegister.metrics()).toContain(closes);
  });

  it('a caller that never reads is cut after the farewell', notQuick(), async () => {
    await start();
    const body = JSON.stringify(one);
    const socket = connect(at.port, '127.0.0.1');
    const head = `POST /api/streaming/v2/sse HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    socket.write(head + body);
    socket.pause();
    await expect.poll(() => at.hub.connections.length).toBe(1);
    for (let count = 0; count < 20; count++) at.hub.last().emit(stateEvent(20_000_000));
    at.hub.last().sink.end(1013, 'slow consumer', null);
    await expect.poll(() => at.hub.last().isClosed).toBe(true);
    socket.destroy();
  });
});
