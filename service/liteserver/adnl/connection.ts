import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import * as adnl from '../tl/adnl.ts';
import { decodeTl, encodeTl } from '../tl/record.ts';
import { batchedWrites } from './batched-writes.ts';
import { AdnlError } from './errors.ts';
import { createFrameDecoder, createFrameEncoder } from './frame.ts';
import { clientHandshake, PARAMS_BYTES } from './handshake.ts';

export type ConnectionOptions = {
  readonly host: string;
  readonly port: number;
  /** Ed25519 public key of the server, 32 bytes. */
  readonly publicKey: Buffer;
  /** Milliseconds for TCP connect and handshake together. */
  readonly connectTimeoutMs: number;
  /** Milliseconds of silence after which a ping is sent; it comes between this and twice this. */
  readonly pingAfterMs: number;
  /** Unanswered pings after which the connection is dead. */
  readonly pingsMissedMax: number;
};

export type ConnectionEvents = {
  /** Called when the server accepted the handshake: queries may be sent. */
  onReady(): void;
  /** Called with an answer; both arguments are views of a frame of their own. */
  onAnswer(queryId: Buffer, answer: Buffer): void;
  onTraffic(direction: 'received' | 'sent', bytes: number): void;
  /** Called exactly once, when the connection is over and its handle gone, whatever the reason. */
  onClosed(cause: Error | undefined): void;
};

/** ADNL connection over TCP, from its start to its end. It does not reconnect (service/liteserver/README.md#transport). */
export type Connection = {
  /** Sends one query; `queryId` is 32 bytes. May be called between `onReady` and `onClosed`. */
  sendQuery(queryId: Buffer, query: Buffer): void;
  /** Ends the connection; `onClosed` follows. */
  close(cause?: Error): void;
};

/** Bytes of one read from the socket, as in the runtime itself. */
const READ_BYTES = 64 * 1024;

/**
 * Bytes within `pingAfterMs` that are a sign of life though no frame ended: a long answer over a slow line. Fewer bytes may be pongs inside a frame
 * that announced a wrong length. No other rule would end such a frame before all of its 16 MiB came.
 */
const PROGRESS_BYTES_MIN = 4 * 1024;

/** Starts connecting at once; failures end in `onClosed`. Throws at once on an impossible port or public key. */
export function openConnection(options: ConnectionOptions, events: ConnectionEvents): Connection {
  const { packet, streams } = clientHandshake(options.publicKey, randomBytes(32), randomBytes(PARAMS_BYTES));
  const socket = connect({
    host: options.host,
    port: options.port,
    noDelay: true,
    // All reads share one buffer, because the decoder copies what it needs.
    onread: { buffer: Buffer.allocUnsafeSlow(READ_BYTES), callback: onRead },
  });
  const write = batchedWrites(socket);
  const encoder = createFrameEncoder(streams.send);
  const decoder = createFrameDecoder(streams.receive, onPayload);
  let cause: Error | undefined;
  let life: LifeWatch | undefined;
  const connectTimer = setTimeout(() => close(new Error('connecting took too long')), options.connectTimeoutMs);

  socket.on('connect', () => send(packet));
  socket.on('end', () => close(new Error('the lite server closed the connection')));
  socket.on('error', (error) => {
    cause ??= error;
  });
  socket.on('close', () => {
    clearTimeout(connectTimer);
    life?.stop();
    events.onClosed(cause);
  });
  return {
    sendQuery: (queryId, query) => send(encoder.encode(encodeTl(adnl.query.boxed, { queryId, query }))),
    close,
  };

  function close(reason?: Error): void {
    cause ??= reason;
    socket.destroy();
  }

  function send(bytes: Buffer): void {
    events.onTraffic('sent', bytes.length);
    write(bytes);
  }

  /** Takes the first `count` bytes of the read buffer; returns true to go on reading. */
  function onRead(count: number, buffer: Uint8Array): boolean {
    life?.received(count);
    events.onTraffic('received', count);
    try {
      decoder.push(buffer.subarray(0, count));
    } catch (error) {
      if (!(error instanceof AdnlError)) throw error;
      close(error);
    }
    return true;
  }

  function onPayload(payload: Buffer): void {
    // Frames decoded after the end of the connection are dropped.
    if (socket.destroyed) return;
    if (life === undefined) {
      clearTimeout(connectTimer);
      life = watchLife(options, sendPing, (missed) => close(new Error(`${missed} pings were not answered`)));
      events.onReady();
    }
    life.heard();
    if (payload.length === 0) return;
    const { queryId, answer } = readAnswer(payload) ?? {};
    if (queryId !== undefined && answer !== undefined) events.onAnswer(queryId, answer);
  }

  function sendPing(): void {
    send(encoder.encode(encodeTl(adnl.ping.boxed, { randomId: randomBytes(8).readBigInt64LE() })));
  }
}

type LifeWatch = {
  /** Called for a whole frame. */
  heard(): void;
  /** Called for received bytes of any kind. */
  received(bytes: number): void;
  stop(): void;
};

/** Sends pings after a silence. Calls `onDead` once the allowed number of pings brought no sign of life. */
function watchLife(
  { pingAfterMs, pingsMissedMax }: ConnectionOptions,
  sendPing: () => void,
  onDead: (pingsMissed: number) => void,
): LifeWatch {
  let heard = true;
  let receivedBytes = 0;
  let pingsMissed = 0;
  const timer = setInterval(() => {
    if (heard || receivedBytes >= PROGRESS_BYTES_MIN) {
      heard = false;
      pingsMissed = 0;
    } else if (pingsMissed === pingsMissedMax) {
      onDead(pingsMissed);
    } else {
      pingsMissed += 1;
      sendPing();
    }
    receivedBytes = 0;
  }, pingAfterMs);
  return {
    heard() {
      heard = true;
    },
    received(bytes) {
      receivedBytes += bytes;
    },
    stop: () => clearInterval(timer),
  };
}

/** Reads an answer; undefined for a payload without action (pongs). @throws AdnlError `payload` */
function readAnswer(payload: Buffer): { queryId: Buffer; answer: Buffer } | undefined {
  const kind = payload.length < 4 ? 0 : payload.readUInt32LE(0);
  if (kind === adnl.pong.id) return undefined;
  try {
    return decodeTl(adnl.answer.boxed, payload);
  } catch (error) {
    throw new AdnlError('payload', 'the lite server sent what is no answer', error);
  }
}
