import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';

import type { EventText } from './changes.ts';

// Events are written thousands at a time. So frames are made here and given to the socket itself, with a single copy and call.

/** Frames up to this size are made in a buffer that the next frame takes again. */
const SHARED_BYTES = 16_384;

let shared = Buffer.allocUnsafeSlow(SHARED_BYTES);

/** Starts of the shared buffer of the size of the last frame: an event has one size for all connections of a transport. */
const starts = { ws: shared, sse: shared };

/** Socket of one connection, with its kind of frames. */
export type FrameWriter = (event: EventText, cursor: string) => void;

const cursorField = ',"cursor":"';

/** First byte of a whole text frame (RFC 6455). */
const TEXT_FRAME = 0x81;

/** Codes of a length that follows in 2 or 8 bytes. */
const [LENGTH_16, LENGTH_64] = [126, 127] as const;

/** A ping without content. */
export const pingFrame = Buffer.from([0x89, 0x00]);

/** Writes WebSocket frames. The library writes at once too, so the order of both is that of their calls. */
export function createWsFrames(socket: Writable, onWritten: () => void): FrameWriter {
  return ({ body }, cursor) => {
    const content = body();
    const length = content.length + cursorField.length + cursor.length + 2;
    const headBytes = length < LENGTH_16 ? 2 : length <= 0xffff ? 4 : 10;
    const frame = frameFor('ws', socket, headBytes + length);
    frame[0] = TEXT_FRAME;
    if (headBytes === 2) frame[1] = length;
    else if (headBytes === 4) {
      frame[1] = LENGTH_16;
      frame.writeUInt16BE(length, 2);
    } else {
      frame[1] = LENGTH_64;
      frame.writeUInt32BE(0, 2);
      frame.writeUInt32BE(length, 6);
    }
    content.copy(frame, headBytes);
    frame.write(`${cursorField}${cursor}"}`, headBytes + content.length, 'latin1');
    write(socket, frame, onWritten);
  };
}

/** Writes the body of one stream. */
export type SseWriter = { readonly text: (text: string) => void; readonly event: FrameWriter };

/**
 * Sends the head of the answer, and writes server-sent events as chunks of its body. A response writes at the end of a turn, and a socket
 * writes at once. So the whole body goes to the socket, apart from its end.
 *
 * @param before lines between `id:` and `data:`
 */
export function createSseWriter(response: ServerResponse, before: string, onWritten: () => void): SseWriter {
  response.flushHeaders();
  const { socket, chunkedEncoding } = response;
  if (socket === null || !chunkedEncoding) return createPlainWriter(response, before, onWritten);
  return {
    text: (text) => void socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`, onWritten),
    event({ body }, cursor) {
      const content = body();
      const start = `id: ${cursor}\n${before}data: `;
      const length = start.length + content.length + cursorField.length + cursor.length + 4;
      const head = `${length.toString(16)}\r\n${start}`;
      const frame = frameFor('sse', socket, head.length - start.length + length + 2);
      frame.write(head, 0, 'latin1');
      content.copy(frame, head.length);
      frame.write(`${cursorField}${cursor}"}\n\n\r\n`, head.length + content.length, 'latin1');
      write(socket, frame, onWritten);
    },
  };
}

/** Writes through the response. A caller of HTTP/1.0 has no chunks, and a pipelined response has no socket yet. */
function createPlainWriter(response: ServerResponse, before: string, onWritten: () => void): SseWriter {
  const text = (written: string): void => void response.write(written, onWritten);
  return {
    text,
    event: ({ json }, cursor) =>
      text(`id: ${cursor}\n${before}data: ${json.slice(0, -1)}${cursorField}${cursor}"}\n\n`),
  };
}

/** A frame that has to wait needs memory of its own. */
function frameFor(transport: keyof typeof starts, socket: Writable, bytes: number): Buffer {
  if (bytes > SHARED_BYTES || socket.writableLength > 0) return Buffer.allocUnsafeSlow(bytes);
  if (starts[transport].length !== bytes) starts[transport] = shared.subarray(0, bytes);
  return starts[transport];
}

/** The kernel usually takes the bytes at once. Else the bytes stay in the shared buffer, and the next frame gets a new buffer. */
function write(socket: Writable, frame: Buffer, onWritten: () => void): void {
  socket.write(frame, onWritten);
  if (socket.writableLength === 0 || frame.buffer !== shared.buffer) return;
  shared = Buffer.allocUnsafeSlow(SHARED_BYTES);
  starts.ws = shared;
  starts.sse = shared;
}
