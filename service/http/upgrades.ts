import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

import type { Tracer } from '@opentelemetry/api';
import type { Logger } from 'pino';

import type { Limits } from '../limits/limits.ts';
import { addressSubject } from '../limits/client-address.ts';
import { StreamingError } from '../streaming/errors.ts';
import type { Streaming } from '../streaming/streaming.ts';
import { createAdmission, type Admission } from './admission.ts';
import type { Calls } from './calls.ts';
import { HttpError } from './errors.ts';
import type { Exchange, Exchanges } from './exchange.ts';
import { headerBytesOf, jsonType } from './headers.ts';
import type { HttpBounds } from './options.ts';
import { pathOf, routedUrl, wsPath } from './paths.ts';
import type { RefusalThrottle } from './refusal-throttle.ts';
import { errorAnswer } from './reply.ts';
import { streamCallerOf, streamOperation } from './stream-caller.ts';

/** Upgrades of connections to WebSockets. Keys and limits are checked before the handshake. */
export type Upgrades = {
  readonly handle: (message: IncomingMessage, socket: Socket, head: Buffer) => void;
};

export type UpgradesDependencies = {
  readonly streaming: Streaming;
  readonly calls: Pick<Calls, 'callerOf'>;
  readonly limits: Limits;
  readonly exchanges: Pick<Exchanges, 'note' | 'inFlight'>;
  readonly pacing: Pick<RefusalThrottle, 'wait'>;
  readonly tracer: Tracer;
  readonly logger: Logger;
  /** Returns the headers of every answer to a URL. */
  readonly headersOf: (url: string) => Readonly<Record<string, string>>;
  readonly isDraining: () => boolean;
};

export type UpgradesOptions = Pick<HttpBounds, 'urlBytesMax' | 'headerBytesMax' | 'inFlightMax'>;

/** Version of the WebSocket protocol, for a caller of another one (RFC 6455). */
const versionHeader = { 'sec-websocket-version': '13' } as const;

/** Milliseconds for a refusal to reach its caller. Closing at once could reset the connection before. */
const LINGER_MS = 1000;

/** Reports whether a request asks for a WebSocket at the path of streams. Any other upgrade is ignored, as RFC 9110 allows. */
export function isUpgrade({ method, url = '/', headers, httpVersion }: IncomingMessage): boolean {
  if (method !== 'GET' || httpVersion === '1.0' || pathOf(routedUrl(url)) !== wsPath) return false;
  return (headers.upgrade ?? '').split(',').some((name) => name.trim().toLowerCase() === protocol);
}

const protocol = 'websocket';

export function createUpgrades(options: UpgradesOptions, dependencies: UpgradesDependencies): Upgrades {
  const { streaming, calls, limits, exchanges, pacing, tracer, logger, headersOf, isDraining } = dependencies;

  /** Refuses for lack of room before anything is asked of the limits. */
  const refuseAtOnce = (url: string, message: IncomingMessage): void => {
    if (headerBytesOf(message) > options.headerBytesMax) throw new HttpError('headers_too_large');
    if (url.length > options.urlBytesMax) throw new HttpError('url_too_long');
    if (isDraining()) throw new StreamingError('streams_closing', 'this process ends');
    if (exchanges.inFlight > options.inFlightMax) throw new HttpError('too_many_in_flight');
    if (streaming.status().connections < streaming.connectionsMax()) return;
    throw new StreamingError('too_many_streams', 'too many streams are open');
  };

  const refuse = (error: unknown, upgrade: Upgrade): void => {
    const { response, socket, exchange, url } = upgrade;
    const answer = errorAnswer(error, exchange.extra(), { envelope: exchange.envelope });
    if (answer.unexpected === true) logger.error({ err: error, operation: exchange.operation }, 'operation failed');
    exchange.errorCode = answer.errorCode;
    exchange.errorText = answer.errorText;
    const text = typeof answer.body === 'string' ? answer.body : answer.body.join('');
    socket.resume();
    response.writeHead(answer.status, {
      ...headersOf(url),
      ...upgrade.admission.headers(),
      ...answer.headers,
      ...(answer.errorCode === 'bad_upgrade' && versionHeader),
      'content-type': jsonType,
      'content-length': Buffer.byteLength(text),
      connection: 'close',
    });
    response.end(text, () => socket.end());
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };

  const admit = async ({ url, admission, name, signal }: Upgrade, message: IncomingMessage): Promise<void> => {
    try {
      refuseAtOnce(url, message);
      await admission.charge(streamOperation);
    } catch (error) {
      const code = error instanceof HttpError ? error.code : undefined;
      const paced = code === 'unknown_key' || code === 'key_required' ? name.address : name.caller;
      if (code === 'rate_limited' || paced === name.address) await pacing.wait(paced, signal);
      throw error;
    } finally {
      // A stream takes no slot of the requests that run at once.
      admission.release();
    }
  };

  const open = (message: IncomingMessage, socket: Socket): Upgrade => {
    const url = routedUrl(message.url ?? '/');
    const response = new ServerResponse(message);
    response.assignSocket(socket);
    const exchange = exchanges.note(
      { method: 'GET', url, headers: message.headers },
      { raw: response, bytes: () => 0 },
    );
    exchange.operation = 'streaming/ws';
    const { caller, name } = calls.callerOf(message);
    const gone = new AbortController();
    socket.once('close', () => gone.abort());
    return {
      url,
      response,
      socket,
      exchange,
      caller,
      name: { caller: name, address: addressSubject(caller.clientAddress) },
      admission: createAdmission(caller, exchange.span, { limits, tracer }),
      signal: gone.signal,
    };
  };

  const serve = async (upgrade: Upgrade, message: IncomingMessage, head: Buffer): Promise<void> => {
    const { response, socket, exchange, caller, admission, signal } = upgrade;
    await admit(upgrade, message);
    signal.throwIfAborted();
    let refused: StreamingError | undefined;
    const actionsVersion = [message.headers['x-actions-version']].flat()[0];
    response.detachSocket(socket);
    // The library takes one protocol, and a caller may offer several.
    message.headers.upgrade = protocol;
    streaming.upgrade({
      message,
      socket,
      head,
      caller: streamCallerOf(caller, admission, { limits, actionsVersion }),
      refuse: (error) => (refused = error),
    });
    if (refused === undefined) exchange.leave(SWITCHED);
    else {
      response.assignSocket(socket);
      throw refused;
    }
  };

  return {
    handle(message, socket, head) {
      // A socket without a listener of errors ends the process.
      socket.on('error', destroy);
      const upgrade = open(message, socket);
      serve(upgrade, message, head).catch((error: unknown) => {
        if (!socket.destroyed) refuse(error, upgrade);
      });
    },
  };
}

/** Refers to nothing of its upgrade: it stays as long as the connection. */
function destroy(this: Socket): void {
  this.destroy();
}

/** Status of a connection that has become a WebSocket. */
const SWITCHED = 101;

/** An upgrade on its way. */
type Upgrade = {
  readonly url: string;
  readonly response: ServerResponse;
  readonly socket: Socket;
  readonly exchange: Exchange;
  readonly caller: ReturnType<Calls['callerOf']>['caller'];
  /** Names under which refusals are counted. */
  readonly name: { readonly caller: string; readonly address: string };
  readonly admission: Admission;
  readonly signal: AbortSignal;
};
