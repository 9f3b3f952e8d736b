import { connect, type Socket } from 'node:net';

import { afterEach, describe, expect, it } from 'vitest';

import type { StateChange } from '#service/streaming/changes.ts';
import { createCursors } from '#service/streaming/request/cursor.ts';

import { stateEvent } from './fake-hub.ts';
import { createHubUnderTest } from './hub/hub-under-test.ts';
import { address, startStreams, type StreamListener } from './stream-listener.ts';
import { someOf } from '#test/support/volume.ts';

// A caller that reads one byte a second, beside one that reads all. Both have the real hub and real sockets.

/** Bytes of an event, and events that are more than the kernel stores for a socket. */
const EVENT_BYTES = 200_000;
const EVENTS_MAX = 500;

/** Bytes of a connection that may wait in its queue. */
const QUEUE_BYTES_MAX = 1024 * 1024;

const wish = { types: ['account_state_change'], addresses: [address] };

let at: StreamListener;
const sockets: Socket[] = [];
const ticks: NodeJS.Timeout[] = [];
afterEach(async () => {
  for (const tick of ticks.splice(0)) clearInterval(tick);
  for (const socket of sockets.splice(0)) socket.destroy();
  await at.close();
});

function change(number: number): StateChange {
  const state = { ...stateEvent(EVENT_BYTES).state, last_transaction_lt: String(number) };
  return { kind: 'state', account: address, finality: 'finalized', position: null, state };
}

const body = JSON.stringify(wish);
const message = JSON.stringify({ operation: 'subscribe', ...wish });

/** First bytes of a caller, over each transport. */
const beginnings = {
  sse: Buffer.from(
    `POST /api/streaming/v2/sse HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  ),
  ws: Buffer.concat([
    Buffer.from(
      'GET /api/streaming/v2/ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    ),
    // A text frame of more than 125 bytes with a mask of zeros.
    Buffer.from([0x81, 0xfe, message.length >> 8, message.length & 0xff, 0, 0, 0, 0]),
    Buffer.from(message),
  ]),
};

/** Reads one byte a second. */
function readSlowly(beginning: Buffer): void {
  const socket = connect(at.port, '127.0.0.1');
  socket.pause();
  socket.on('error', () => undefined);
  socket.write(beginning);
  sockets.push(socket);
  ticks.push(setInterval(() => void socket.read(1), 1000));
}

describe('a caller that reads one byte a second', () => {
  it.each(someOf(['sse', 'ws'] as const, 1))(
    'over %s is closed with 1013 at its own bound, and another caller has each event',
    async (transport) => {
      const under = createHubUnderTest({ cursors: createCursors('testnet') });
      at = await startStreams({ hub: under.hub });
      const fast = await at.ws(wish);
      readSlowly(beginnings[transport]);
      await expect.poll(() => at.streamRegister.metrics()).toContain(`transport="${transport}",result="subscribed"`);
      await expect.poll(() => under.hub.status().connections).toBe(2);
      const first = fast.cursor();
      let sent = 0;
      let queued = 0;
      while (under.hub.status().connections === 2 && sent < EVENTS_MAX) {
        await under.block(change(++sent));
        queued = Math.max(queued, under.hub.status().queueBytes);
        await fast.until(({ state }) => (state as { last_transaction_lt?: string })?.last_transaction_lt === `${sent}`);
      }
      expect(queued).toBeLessThan(2 * QUEUE_BYTES_MAX);
      expect(queued).toBeGreaterThan(0);
      const closes = `ton_streaming_closes_total{transport="${transport}",code="1013"} 1`;
      await expect.poll(() => at.streamRegister.metrics()).toContain(closes);
      expect(fast.events()).toHaveLength(sent);
      await expect.poll(() => under.hub.status().queueBytes).toBe(0);
      // The caller comes back and reads all that it lacks.
      const again = await at.ws({ ...wish, cursor: first });
      await expect.poll(() => again.events().length).toBe(sent);
      expect(again.frames[0]).toMatchObject({ resumed: 'full' });
      await under.hub.close();
    },
  );
});
