import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

import type { Logger } from 'pino';
import { WebSocketServer, type RawData, type ServerOptions, type WebSocket } from 'ws';

import { closings, type Closing } from './closing.ts';
import { StreamingError } from './errors.ts';
import { createMessageRate } from './message-rate.ts';
import { createWsFrames, pingFrame } from './event-frames.ts';
import { errorAnswer } from './request/answers.ts';
import type { Outlet, Stream, StreamCaller, Streams } from './streams.ts';
import { createMessages, type Messages } from './ws-messages.ts';

/** An upgrade that the limits admitted. */
export type WsRequest = {
  readonly message: IncomingMessage;
  readonly socket: Socket;
  /** First bytes after the head. */
  readonly head: Buffer;
  readonly caller: StreamCaller;
  /** Answers a handshake that is malformed. */
  readonly refuse: (error: StreamingError) => void;
};

export type WsDependencies = {
  readonly streams: Streams;
  /** Parses a message. The message of its error says why the text is no JSON. */
  readonly parseJson: (bytes: Uint8Array) => unknown;
  readonly logger: Logger;
  readonly nowMs: () => number;
};

/** Bytes of one message. */
const MESSAGE_BYTES_MAX = 1_048_576;

/** Frames of one message. */
const FRAGMENTS_MAX = 16_384;

/** Milliseconds between pings, and from a ping without an answer to the cut. */
const PING_MS = 15_000;
const PONG_MS = 30_000;

/** Milliseconds for the first subscription. */
const SUBSCRIBE_MS = 60_000;

/** Milliseconds for a connection without a place to name the connection that it replaces. */
const PLACE_MS = 1000;

/** Milliseconds for a caller to answer a close frame. Then the connection is cut. */
const FAREWELL_MS = 5000;

/** Codes of the errors with which the library ends a connection. */
const libraryCodes: ReadonlyMap<string, number> = new Map([
  ['WS_ERR_UNSUPPORTED_MESSAGE_LENGTH', 1009],
  ['WS_ERR_INVALID_UTF8', 1007],
  ['WS_ERR_TOO_MANY_BUFFERED_PARTS', 1008],
]);

const PROTOCOL_ERROR = 1002;

/** The types of the library lack `closeTimeout`. */
const serverOptions: ServerOptions & { readonly closeTimeout: number } = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  // The protocol has no subprotocol: none is chosen, whatever a caller offers.
  handleProtocols: () => false,
  maxPayload: MESSAGE_BYTES_MAX,
  maxFragments: FRAGMENTS_MAX,
  closeTimeout: FAREWELL_MS,
};

/** Serves WebSockets. Returns a function that upgrades one connection. */
export function createWsTransport(dependencies: WsDependencies): (request: WsRequest) => void {
  const refusals = new WeakMap<IncomingMessage, WsRequest['refuse']>();
  const server = new WebSocketServer(serverOptions);
  server.on('wsClientError', (error, _socket, message) => {
    refusals.get(message)?.(new StreamingError('bad_upgrade', error.message));
  });
  return ({ message, socket, head, caller, refuse }) => {
    refusals.set(message, refuse);
    server.handleUpgrade(message, socket, head, (webSocket) => {
      socket.setNoDelay(true).setKeepAlive(true, PING_MS);
      serve(webSocket, { socket, caller }, dependencies);
    });
  };
}

function serve(
  socket: WebSocket,
  { socket: raw, caller }: Pick<WsRequest, 'socket' | 'caller'>,
  dependencies: WsDependencies,
): void {
  const { streams, nowMs, logger } = dependencies;
  const outlet = createOutlet(socket, raw, nowMs, {
    end: (closing) => stream.end(closing),
    drain: () => stream.drain(),
    hasSubscribed: () => messages.hasSubscribed(),
  });
  let stream: Stream;
  let messages: Messages;
  // A socket without a listener of errors ends the process.
  let failedBy: number | undefined;
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code?.startsWith('WS_ERR') === true) failedBy = libraryCodes.get(error.code) ?? PROTOCOL_ERROR;
  });
  try {
    stream = streams.open(caller, outlet);
  } catch (error) {
    // The process filled up or began to end between the admission and the handshake.
    if (!(error instanceof StreamingError)) logger.error({ err: error }, 'a WebSocket failed to open');
    socket.close(1013, error instanceof StreamingError ? error.message : closings.internal.reason);
    return;
  }
  messages = createMessages({ ...dependencies, caller, stream, send: outlet.send });
  socket.on('close', () => stream.closed(failedBy));
  receive(socket, { stream, messages, send: outlet.send, nowMs });
}

type Receiving = {
  readonly stream: Stream;
  readonly messages: Messages;
  readonly send: (text: string) => void;
  readonly nowMs: () => number;
};

/** Passes messages on, one at a time. The socket is not read while a message is at work, so a caller cannot pile up messages. */
function receive(socket: WebSocket, { stream, messages, send, nowMs }: Receiving): void {
  const isWithinRate = createMessageRate(nowMs);
  const waiting: Buffer[] = [];
  let isAtWork = true;

  const work = async (first: Promise<void>): Promise<void> => {
    isAtWork = true;
    socket.pause();
    await first;
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      if (socket.readyState === socket.OPEN) await messages.handle(next);
    }
    isAtWork = false;
    socket.resume();
  };

  /** Frames are counted when they come, so a flood ends the connection even while a message is at work. */
  const count = (): boolean => {
    const isFine = isWithinRate();
    if (!isFine) stream.end(closings.messageRate);
    return isFine;
  };

  socket.on('ping', () => void count());
  socket.on('message', (data: RawData, isBinary: boolean) => {
    if (isBinary) {
      stream.end(closings.binary);
      return;
    }
    if (!count() || socket.readyState !== socket.OPEN) return;
    // Whole messages are one buffer by the default of the library.
    waiting.push(data as Buffer);
    if (!isAtWork) void work(Promise.resolve());
  });

  let placeTimer: NodeJS.Timeout | undefined;
  const takePlace = async (): Promise<void> => {
    if (await messages.takePlace()) return;
    // The first message may name a connection whose place this one takes.
    placeTimer = setTimeout(() => {
      if (!isAtWork) messages.refusePlace();
    }, PLACE_MS);
    placeTimer.unref();
  };
  socket.once('close', () => clearTimeout(placeTimer));
  void work(takePlace()).catch(() => {
    send(errorAnswer(undefined, closings.internal.reason));
    stream.end(closings.internal);
  });
}

type WsOutlet = Outlet & { readonly send: (text: string) => void };

type OutletEvents = {
  readonly end: (closing: Closing) => void;
  readonly drain: () => void;
  readonly hasSubscribed: () => boolean;
};

function createOutlet(socket: WebSocket, raw: Socket, nowMs: () => number, events: OutletEvents): WsOutlet {
  const openedMs = nowMs();
  let pingMs = openedMs + PING_MS;
  let pongMs = openedMs;
  socket.on('pong', () => (pongMs = nowMs()));

  const onSent = (): void => {
    if (socket.bufferedAmount === 0) events.drain();
  };
  const writeFrame = createWsFrames(raw, onSent);
  const send = (text: string): void => {
    if (socket.readyState === socket.OPEN) socket.send(text, onSent);
  };

  return {
    transport: 'ws',
    unsentBytes: () => socket.bufferedAmount,
    send,
    event(event, cursor) {
      if (socket.readyState === socket.OPEN) writeFrame(event, cursor);
    },
    end: ({ code, reason }) => socket.close(code, reason),
    tick(now) {
      const isOpen = socket.readyState === socket.OPEN;
      const [subscribeMs, cutMs] = [openedMs + SUBSCRIBE_MS, pongMs + PING_MS + PONG_MS];
      if (isOpen && now >= subscribeMs && !events.hasSubscribed()) events.end(closings.noSubscription);
      else if (isOpen && now >= cutMs) socket.terminate();
      else if (isOpen && now >= pingMs) {
        pingMs = now + PING_MS;
        raw.write(pingFrame);
      }
      return Math.min(pingMs, cutMs, now < subscribeMs ? subscribeMs : Infinity);
    },
  };
}
