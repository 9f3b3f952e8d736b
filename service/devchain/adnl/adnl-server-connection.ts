import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { AdnlError } from '#service/liteserver/adnl/errors.ts';
import type { FrameDecoder, FrameEncoder } from '#service/liteserver/adnl/frame.ts';
import { createFrameDecoder, createFrameEncoder } from '#service/liteserver/adnl/frame.ts';
import { HANDSHAKE_BYTES, serverHandshake } from '#service/liteserver/adnl/handshake.ts';
import type { AdnlIdentity } from '#service/liteserver/adnl/keys.ts';
import * as adnl from '#service/liteserver/tl/adnl.ts';
import { decodeTl, encodeTl } from '#service/liteserver/tl/record.ts';
import type { AdnlFaults } from './adnl-faults.ts';
import type { AdnlServerConnection, AdnlServerHandlers } from './adnl-server.ts';
import { delayMsOf, faultyFrame } from './adnl-server-faults.ts';
import { createOutput } from './adnl-server-output.ts';
import { createReading } from './adnl-server-reading.ts';

/** Answers waiting in a socket above which its queries are not read: two of the largest frames. */
const OUTPUT_BYTES_MAX = 32 * 1024 * 1024;

/** Bytes of the server's nonce, and the most of the client's (service/liteserver/README.md#payloads-of-frames). */
const SERVER_NONCE_BYTES = 256;
const CLIENT_NONCE_BYTES_MAX = 512;

export type ServerConnection = AdnlServerConnection & {
  /** True once the handshake is done. */
  ready(): boolean;
  /** The faults changed: timers restart. */
  faultsChanged(): void;
};

export type ServerConnectionOptions = {
  readonly id: number;
  readonly identities: readonly AdnlIdentity[];
  readonly idleMs: number;
  readonly inFlightMax: number;
};

export type ServerConnectionDependencies = AdnlServerHandlers & {
  readonly socket: Socket;
  readonly faults: () => AdnlFaults;
  readonly logger: Logger;
};

/** Serves one accepted socket until it ends (service/liteserver/README.md#duties-of-a-server). */
export function createServerConnection(
  { id, identities, idleMs, inFlightMax }: ServerConnectionOptions,
  { socket, faults, logger, handleQuery, onConnection }: ServerConnectionDependencies,
): ServerConnection {
  const gone = new AbortController();
  const output = createOutput(socket, () => faults().slowWrite);
  let greeting: Buffer = Buffer.alloc(0);
  let session:
    | { encoder: FrameEncoder; decoder: FrameDecoder; cipher: ReturnType<typeof serverHandshake>['streams']['send'] }
    | undefined;
  let keyIndex = -1;
  let inFlight = 0;
  let sentFrames = 0;
  let idleTimer = startIdleTimer();
  const reading = createReading(socket, {
    trickle: () => faults().slowRead,
    isFull: () => inFlight >= inFlightMax || output.waitingBytes() > OUTPUT_BYTES_MAX,
  });

  const connection: ServerConnection = {
    id,
    get keyIndex() {
      return keyIndex;
    },
    signal: gone.signal,
    ready: () => session !== undefined,
    close: () => socket.end(),
    reset,
    faultsChanged() {
      clearTimeout(idleTimer);
      idleTimer = startIdleTimer();
    },
  };

  socket.setNoDelay(true);
  // The event 'close' follows an error, and all cleanup happens there.
  socket.on('error', (error) => logger.debug({ err: error, connection: id }, 'adnl connection failed'));
  socket.on('data', onData);
  socket.on('drain', reading.update);
  socket.on('close', () => {
    clearTimeout(idleTimer);
    reading.stop();
    output.stop();
    gone.abort();
  });
  return connection;

  /** Node cannot reset a socket whose orderly end is in progress: it would stay half closed for ever. */
  function reset(): void {
    if (!socket.writableEnded) socket.resetAndDestroy();
    socket.destroy();
  }

  function startIdleTimer(): NodeJS.Timeout {
    return setTimeout(() => socket.destroy(), faults().closeAfterIdleMs ?? idleMs);
  }

  function onData(chunk: Buffer): void {
    idleTimer.refresh();
    reading.took(chunk.length);
    try {
      if (session === undefined) greet(chunk);
      else session.decoder.push(chunk);
    } catch (error) {
      if (!(error instanceof AdnlError)) throw error;
      logger.debug({ err: error, connection: id }, 'adnl connection broke the protocol');
      socket.destroy();
    }
    reading.update();
  }

  /** Collects the handshake. The bytes after it are frames already. */
  function greet(chunk: Buffer): void {
    greeting = Buffer.concat([greeting, chunk]);
    if (greeting.length < HANDSHAKE_BYTES) return;
    const { streams, identity } = serverHandshake(greeting.subarray(0, HANDSHAKE_BYTES), identities);
    keyIndex = identities.indexOf(identity);
    const decoder = createFrameDecoder(streams.receive, onPayload);
    session = { decoder, encoder: createFrameEncoder(streams.send), cipher: streams.send };
    onConnection?.(connection);
    if (faults().silent !== 'handshake') sendFrame(Buffer.alloc(0));
    decoder.push(greeting.subarray(HANDSHAKE_BYTES));
    greeting = Buffer.alloc(0);
  }

  function onPayload(payload: Buffer): void {
    const received = readPayload(payload);
    if (received?.kind === 'query') void answer(received.queryId, received.query);
    if (received?.kind === 'request') send(received.reply);
  }

  async function answer(queryId: Buffer, query: Buffer): Promise<void> {
    inFlight += 1;
    try {
      const found = await handleQuery(query, connection);
      const delayMs = delayMsOf(faults(), queryId);
      if (delayMs > 0) await sleep(delayMs, undefined, { signal: gone.signal });
      if (found !== null && !gone.signal.aborted) send(encodeTl(adnl.answer.boxed, { queryId, answer: found }));
    } catch (error) {
      if (!gone.signal.aborted)
        logger.error({ err: error, connection: id }, 'a query was not answered: its handler failed');
    } finally {
      inFlight -= 1;
      reading.update();
    }
  }

  function send(payload: Buffer): void {
    if (faults().silent === undefined) sendFrame(payload);
  }

  function sendFrame(payload: Buffer): void {
    if (session === undefined || !socket.writable) return;
    const { badFrameHash, halfFrame, frameLength, garbage, closeAfterFrames } = faults();
    const faulty = sentFrames > 0 && (badFrameHash || halfFrame || garbage || frameLength !== undefined);
    sentFrames += 1;
    if (faulty) {
      output.write(faultyFrame(payload, session.cipher, faults()));
      if (halfFrame) output.afterwards(reset);
    } else {
      output.write(session.encoder.encode(payload));
    }
    if (closeAfterFrames !== undefined && sentFrames >= closeAfterFrames) output.afterwards(() => socket.end());
  }
}

/** Payload of a client: a query for the handler, or a request with its reply. */
type Received =
  | { readonly kind: 'query'; readonly queryId: Buffer; readonly query: Buffer }
  | { readonly kind: 'request'; readonly reply: Buffer };

/** Returns undefined for a payload without an answer. Throws AdnlError `payload` for any other content. */
function readPayload(payload: Buffer): Received | undefined {
  if (payload.length === 0) return undefined;
  const kind = payload.length < 4 ? 0 : payload.readUInt32LE(0);
  try {
    if (kind === adnl.query.id) {
      const { queryId, query } = decodeTl(adnl.query.boxed, payload);
      return { kind: 'query', queryId, query };
    }
    if (kind === adnl.ping.id) {
      return { kind: 'request', reply: encodeTl(adnl.pong.boxed, decodeTl(adnl.ping.boxed, payload)) };
    }
    if (kind === adnl.authenticate.id) {
      const { nonce } = decodeTl(adnl.authenticate.boxed, payload);
      if (nonce.length > CLIENT_NONCE_BYTES_MAX) throw new AdnlError('payload', 'the nonce is too long');
      const reply = encodeTl(adnl.authenticationNonce.boxed, { nonce: randomBytes(SERVER_NONCE_BYTES) });
      return { kind: 'request', reply };
    }
    if (kind === adnl.authenticationComplete.id) return undefined;
    throw new AdnlError('payload', 'a payload of no known kind came');
  } catch (error) {
    throw error instanceof AdnlError ? error : new AdnlError('payload', 'a payload could not be read', error);
  }
}
