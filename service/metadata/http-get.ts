import { request, type IncomingMessage } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import { pipeline, Transform, type Readable } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

import { MetadataError } from './errors.ts';
import type { Location } from './location.ts';

export type HttpGetOptions = {
  /** User agent that hosts see. */
  readonly userAgent: string;
  /** PEM of trusted certificate authorities; default: those of the system. */
  readonly certificateAuthority?: string | readonly string[] | undefined;
};

/** Answer of a host. */
export type Answer = {
  /** `Location` of a redirect, which has no useful body. */
  readonly redirect: string | undefined;
  /** Decompressed body. Ends early with a MetadataError. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends the connection. The caller must call it in any case. */
  destroy(): void;
};

/** Most addresses tried of a host; the next one is tried when one is silent for `CONNECT_TIMEOUT_MS`. */
const ADDRESSES_MAX = 4;
const CONNECT_TIMEOUT_MS = 5000;

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Sends one GET to the first address that accepts the connection; `location.host` is only a header. The request has no cookie, credential or referrer
 * that identifies this service. It uses no proxy of the environment.
 *
 * @param addresses checked ones
 * @throws MetadataError `unreachable`, `bad_status`, `not_json`; the signal's reason
 */
export async function httpGet(
  location: Location,
  addresses: readonly string[],
  options: HttpGetOptions,
  signal: AbortSignal,
): Promise<Answer> {
  const socket = await connectToAny(location, addresses, options, signal);
  const destroy = (): void => void socket.destroy();
  // The listener stays as long as the socket, so that everything in progress fails.
  signal.addEventListener('abort', destroy, { once: true });
  socket.once('close', () => signal.removeEventListener('abort', destroy));
  try {
    signal.throwIfAborted();
    const response = await send(location, socket, options);
    return { ...readHead(location.host, response, signal), destroy };
  } catch (error) {
    destroy();
    throw failure(location.host, error, signal);
  }
}

async function connectToAny(
  location: Location,
  addresses: readonly string[],
  options: HttpGetOptions,
  signal: AbortSignal,
): Promise<Socket> {
  let last: unknown;
  for (const address of addresses.slice(0, ADDRESSES_MAX)) {
    try {
      const socket = await connected(connect({ host: address, port: location.port }), 'connect', signal);
      return location.url.protocol === 'https:' ? await secured(socket, location.host, options, signal) : socket;
    } catch (error) {
      signal.throwIfAborted();
      last = error;
    }
  }
  throw failure(location.host, last, signal);
}

/** Starts TLS. The certificate must be that of the host, whatever its address. */
function secured(socket: Socket, host: string, options: HttpGetOptions, signal: AbortSignal): Promise<Socket> {
  const name = host.replace(/\.$/, '');
  const secure = connectTls({
    socket,
    host: name,
    // An address is no name: RFC 6066, section 3.
    servername: isIP(name) === 0 ? name : '',
    ALPNProtocols: ['http/1.1'],
    ...(options.certificateAuthority !== undefined && { ca: [options.certificateAuthority].flat() }),
  });
  return connected(secure, 'secureConnect', signal);
}

/** Resolves with the socket when it is ready; otherwise the socket is destroyed. */
function connected(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      settle();
      // Later errors of the socket have no reader.
      socket.on('error', () => {});
      socket.destroy();
      reject(error);
    };
    const abort = (): void => fail(signal.reason);
    const timer = setTimeout(() => fail(new Error('silent')), CONNECT_TIMEOUT_MS);
    const done = (): void => {
      settle();
      resolve(socket);
    };
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      socket.off('error', fail).off(event, done);
    };
    signal.addEventListener('abort', abort, { once: true });
    socket.once('error', fail).once(event, done);
    if (signal.aborted) abort();
  });
}

function send({ url }: Location, socket: Socket, { userAgent }: HttpGetOptions): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request({
      createConnection: () => socket,
      method: 'GET',
      path: `${url.pathname}${url.search}`,
      setHost: false,
      headers: {
        host: url.host,
        accept: 'application/json, */*;q=0.5',
        'accept-encoding': 'gzip, deflate, br',
        'user-agent': userAgent,
        connection: 'close',
      },
    });
    sent.once('response', resolve);
    // The listener also covers errors after the response.
    sent.on('error', reject);
    sent.once('close', () => reject(new Error('closed')));
    sent.end();
  });
}

function readHead(host: string, response: IncomingMessage, signal: AbortSignal): Omit<Answer, 'destroy'> {
  const { statusCode: status = 0, headers } = response;
  const redirect = redirects.has(status) ? headers.location : undefined;
  if (redirect === undefined && (status < 200 || status > 299)) {
    throw new MetadataError('bad_status', `${host} answers ${status}`, { host, status });
  }
  return { redirect, body: readBody(host, response, signal) };
}

async function* readBody(host: string, response: IncomingMessage, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of decompressed(host, response)) yield chunk as Uint8Array;
  } catch (error) {
    throw failure(host, error, signal);
  }
}

const decompressors: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Decompresses a body; some hosts compress whatever the request says. The output comes in pieces, and its reader bounds it. */
function decompressed(host: string, response: IncomingMessage): Readable {
  const encoding = response.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity' || encoding === '') return response;
  if (!Object.hasOwn(decompressors, encoding)) {
    throw new MetadataError('not_json', `${host} answers in an unknown encoding`, { host });
  }
  const decompress = decompressors[encoding]?.() ?? new Transform();
  // The reader gets the error too.
  return pipeline(response, decompress, () => {});
}

/** Converts a failure of sockets to a MetadataError, or to the signal's reason if that was the cause. */
function failure(host: string, error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof MetadataError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  return new MetadataError(
    'unreachable',
    `${host} cannot be reached${code === undefined ? '' : `: ${code}`}`,
    { host, ...(code !== undefined && { cause: code }) },
    error,
  );
}
