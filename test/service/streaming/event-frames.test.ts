import { once } from 'node:events';
import { connect } from 'node:net';

import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { address, startStreams, type StreamListener } from './stream-listener.ts';

// Frames are written to the socket itself, past the library and the HTTP response. The clients here are those of others.

/** Around the lengths at which a frame of WebSocket changes its head, around the shared buffer, and above what a socket takes at once. */
const lengths = [1, 60, 61, 62, 63, 64, 65, 16_300, 16_400, 65_460, 65_480, 65_540, 400_000, 2, 3_000_000, 5];

const wish = { types: ['account_state_change'], addresses: [address] };

let at: StreamListener;
afterEach(() => at.close());

/** Letters of several bytes: a frame counts bytes. */
const eventOf = (length: number) => ({ type: 'made', text: 'é~'.repeat(length).slice(0, length) });

async function openSocket(framesMin = 1): Promise<{ readonly socket: WebSocket; readonly texts: string[] }> {
  const socket = new WebSocket(`${at.url.replace('http', 'ws')}/api/streaming/v2/ws`, { perMessageDeflate: false });
  const texts: string[] = [];
  socket.on('message', (data: Buffer) => texts.push(data.toString('utf8')));
  await once(socket, 'open');
  socket.send(JSON.stringify({ operation: 'subscribe', ...wish }));
  await expect.poll(() => texts.length).toBeGreaterThanOrEqual(framesMin);
  return { socket, texts };
}

const eventsIn = (texts: readonly string[]): unknown[] =>
  texts.map((text) => {
    const { cursor, ...event } = JSON.parse(text) as { cursor: unknown };
    expect(cursor).toMatch(/^[\w-]{26}$/);
    return event;
  });

describe('frames of events', () => {
  it('arrive whole and in order over WebSocket at any length, between the answers of the library', async () => {
    at = await startStreams();
    const { socket, texts } = await openSocket();
    const { emit } = at.hub.last();
    for (const length of lengths) emit(eventOf(length));
    socket.send(JSON.stringify({ operation: 'ping', id: 'p' }));
    await expect.poll(() => texts.length).toBe(lengths.length + 2);
    expect(JSON.parse(texts.at(-1)!)).toMatchObject({ id: 'p', status: 'pong' });
    expect(eventsIn(texts.slice(1, -1))).toEqual(lengths.map(eventOf));
  });

  it('wait whole for a caller that reads late, while other callers get theirs from the same buffer', async () => {
    at = await startStreams();
    const late = await openSocket();
    const lateHub = at.hub.last();
    const quick = await openSocket();
    const quickHub = at.hub.last();
    late.socket.pause();
    const count = 3_000;
    for (let number = 0; number < count; number++) {
      lateHub.emit({ type: 'made', number, text: 'l'.repeat(2_000) });
      quickHub.emit({ type: 'made', number, text: 'q'.repeat(2_000) });
      if (number % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(lateHub.sink.unsentBytes()).toBeGreaterThan(0);
    late.socket.resume();
    for (const [letter, { texts }] of [
      ['l', late],
      ['q', quick],
    ] as const) {
      await expect.poll(() => texts.length).toBe(count + 1);
      expect(eventsIn(texts.slice(1))).toEqual(
        Array.from({ length: count }, (_, number) => ({ type: 'made', number, text: letter.repeat(2_000) })),
      );
    }
  });

  it('arrive whole and in order as server-sent events at any length, and the stream ends as HTTP does', async () => {
    at = await startStreams();
    const response = await at.post(JSON.stringify(wish));
    const { emit, sink } = at.hub.last();
    for (const length of lengths) emit(eventOf(length));
    sink.end(1013, 'slow consumer', null);
    const texts = (await response.text()).split('\n').filter((line) => line.startsWith('data:'));
    expect(texts).toHaveLength(lengths.length + 2);
    expect(eventsIn(texts.slice(1, -1).map((line) => line.slice(5)))).toEqual(lengths.map(eventOf));
  });

  it('follow the answer when they come in the turn in which the stream begins, as those of a replay do', async () => {
    at = await startStreams();
    at.hub.onBegun = ({ emit }) => lengths.forEach((length) => emit(eventOf(length)));
    const response = await at.post(JSON.stringify(wish));
    at.hub.last().sink.end(1013, 'slow consumer', null);
    const texts = (await response.text()).split('\n').filter((line) => line.startsWith('data:'));
    expect(JSON.parse(texts[0]!.slice(5))).toMatchObject({ status: 'subscribed' });
    expect(eventsIn(texts.slice(1, -1).map((line) => line.slice(5)))).toEqual(lengths.map(eventOf));
    const { socket, texts: frames } = await openSocket(lengths.length + 1);
    expect(eventsIn(frames.slice(1))).toEqual(lengths.map(eventOf));
    socket.terminate();
  });

  it('go to a caller of HTTP/1.0, which has no chunks, as plain bytes', async () => {
    at = await startStreams();
    const socket = connect(at.port, '127.0.0.1');
    let text = '';
    socket.on('data', (bytes: Buffer) => (text += bytes.toString('utf8')));
    const query = `types=account_state_change&addresses=${encodeURIComponent(address)}`;
    socket.write(`GET /api/streaming/v2/sse?${query} HTTP/1.0\r\nHost: localhost\r\n\r\n`);
    await expect.poll(() => text).toContain('"status":"subscribed"');
    at.hub.last().emit(eventOf(3));
    await expect
      .poll(() => text)
      .toMatch(/"status":"subscribed"[^\n]*\n\nid: [\w-]+\ndata: \{"type":"made",[^\n]*"cursor":"[\w-]+"\}\n\n$/);
    socket.destroy();
    await once(socket, 'close');
  });
});
