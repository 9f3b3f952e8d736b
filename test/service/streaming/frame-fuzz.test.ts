import { once } from 'node:events';
import { connect } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createDraw, oneOf, type Draw } from '#test/support/draw.ts';
import { frameFault } from '#test/support/stream-contract.ts';
import { countOf } from '#test/support/volume.ts';

import { address, startStreams, type StreamListener } from './stream-listener.ts';

// Connections whose frames are no frames of a library: broken, fragmented, cut, without a mask, of unknown kinds.

let at: StreamListener;
beforeAll(async () => void (at = await startStreams({ connections: 1000 })));
afterAll(() => at.close());

const connections = countOf({ quick: 300, full: 3000, long: 30_000 });

/** Connections at once: most of their time they wait. */
const AT_ONCE = 10;

const CONTINUATION = 0;
const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;
const RESERVED = 3;

/** Text is the most frequent: any other kind is likely to end the connection. */
const opcodes = [...Array.from({ length: 9 }, () => TEXT), CONTINUATION, BINARY, CLOSE, PING, PONG, RESERVED];

const payloads: readonly Buffer[] = [
  Buffer.from('{"operation":"ping","id":"1"}'),
  Buffer.from(`{"operation":"subscribe","types":["transactions"],"addresses":["${address}"]}`),
  Buffer.from('{"operation":'),
  Buffer.from('"ping"}'),
  Buffer.alloc(0),
  Buffer.from([0xff, 0xfe]),
  Buffer.from([0x03, 0xe8]),
  Buffer.from([0x00]),
  Buffer.alloc(200, '['),
];

/** Length field of a payload, which at times promises more than comes. */
function lengthField(draw: Draw, length: number, mask: number): Buffer {
  const kind = draw(30);
  if (kind === 0) return Buffer.from([mask | 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
  if (kind === 1) return Buffer.from([mask | 127, 0, 0, 0, 0, 0, 0x20, 0, 0]);
  if (kind === 2) return Buffer.from([mask | 126, 0xff, 0xff]);
  return length < 126 ? Buffer.from([mask | length]) : Buffer.from([mask | 126, length >> 8, length & 0xff]);
}

function fuzzedFrame(draw: Draw): Buffer {
  const opcode = oneOf(draw, opcodes);
  const isWhole = draw(6) > 0;
  const reserved = draw(30) === 0 ? 0x40 : 0;
  const payload = oneOf(draw, payloads);
  const isMasked = draw(20) > 0;
  const head = Buffer.from([(isWhole ? 0x80 : 0) | reserved | opcode]);
  const length = lengthField(draw, payload.length, isMasked ? 0x80 : 0);
  return Buffer.concat([head, length, Buffer.alloc(isMasked ? 4 : 0), payload]);
}

/** Message behind the fuzzed frames. A frame that promises more than comes swallows it. */
const last = Buffer.concat([
  Buffer.from([0x81, 0x80 | 33, 0, 0, 0, 0]),
  Buffer.from('{"operation":"ping","id":"final"}'),
]);

/** Milliseconds after which a connection that does not answer the last message is ended. */
const PATIENCE_MS = 300;

/** Sends an upgrade and frames, and returns the bytes that came until the end. */
async function exchange(frames: Buffer): Promise<Buffer> {
  const socket = connect(at.port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // The service may cut the connection while it is written to.
  socket.on('error', () => undefined);
  const head = [
    'GET /api/streaming/v2/ws HTTP/1.1',
    'Host: a',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  await once(socket, 'data');
  socket.on('data', () => {
    if (chunks.at(-1)!.includes('"final"')) socket.end();
  });
  socket.write(Buffer.concat([frames, last]));
  const patience = setTimeout(() => socket.end(), PATIENCE_MS);
  await once(socket, 'close');
  clearTimeout(patience);
  return Buffer.concat(chunks);
}

type Reply = { readonly opcode: number; readonly payload: Buffer };

/** Frames of the service: unmasked and whole. */
function repliesIn(bytes: Buffer): readonly Reply[] {
  const replies: Reply[] = [];
  for (let offset = bytes.indexOf('\r\n\r\n') + 4; offset < bytes.length;) {
    const short = bytes[offset + 1]!;
    const [start, length] = short < 126 ? [offset + 2, short] : [offset + 4, bytes.readUInt16BE(offset + 2)];
    replies.push({ opcode: bytes[offset]!, payload: bytes.subarray(start, start + length) });
    offset = start + length;
  }
  return replies;
}

/** Codes of section "Closing" that a caller's own frames cause; 1000 and 1005 answer a close frame of the caller. */
const closeCodes = [1000, 1002, 1003, 1005, 1007, 1008, 1009];

function isOfProtocol({ opcode, payload }: Reply): boolean {
  if (opcode === (0x80 | PONG)) return true;
  if (opcode === (0x80 | CLOSE)) return payload.length === 0 || closeCodes.includes(payload.readUInt16BE(0));
  if (opcode !== (0x80 | TEXT)) return false;
  return frameFault(JSON.parse(payload.toString('utf8')) as Record<string, unknown>) === undefined;
}

describe(`${connections} connections with fuzzed frames`, () => {
  it('get answers and close codes of the protocol alone, and leave nothing behind', async () => {
    const draw = createDraw(49);
    const others: unknown[] = [];
    let texts = 0;
    const exchangeFuzzed = async (): Promise<void> => {
      const frames = Buffer.concat(Array.from({ length: 1 + draw(5) }, () => fuzzedFrame(draw)));
      const replies = repliesIn(await exchange(frames));
      texts += replies.filter(({ opcode }) => opcode === (0x80 | TEXT)).length;
      const strange = replies.filter((reply) => !isOfProtocol(reply));
      if (strange.length > 0) others.push({ frames: frames.toString('hex'), strange });
    };
    let left = connections;
    const caller = async (): Promise<void> => {
      while (left-- > 0) await exchangeFuzzed();
    };
    await Promise.all(Array.from({ length: AT_ONCE }, caller));
    expect(others).toEqual([]);
    expect(texts).toBeGreaterThan(0);
    await expect.poll(() => at.hub.status().connections).toBe(0);
    expect(at.server.status().inFlight).toBe(0);
    const reader = await at.ws({ types: ['transactions'], addresses: [address] });
    expect(reader.frames).toMatchObject([{ status: 'subscribed' }]);
  }, 600_000);
});
