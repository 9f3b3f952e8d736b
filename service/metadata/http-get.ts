import { isIP, type LookupFunction } from 'node:net';
import { pipeline, Transform, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

import { Client, type Dispatcher } from 'undici';

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

/** Bytes of the headers of an answer, as Node's own servers and clients allow. */
const HEADER_BYTES_MAX = 16_384;

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Sends one GET to the first address that accepts the connection; `location.host` is only a header. The request has no cookie, credential or referrer
 * that identifies this service. It uses no proxy of the environment, follows no redirect, and reuses no connection.
 *
 * @param addresses checked ones; of a host that is an address, the host itself
 * @throws MetadataError `unreachable`, `bad_status`, `not_json`; the signal's reason
 */
export async function httpGet(
  location: Location,
  addresses: readonly string[],
  options: HttpGetOptions,
  signal: AbortSignal,
): Promise<Answer> {
  const { url, host } = location;
  const client = new Client(url.origin, {
    // The signal has the deadline of the whole fetch.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: HEADER_BYTES_MAX,
    connect: connectionTo(host, addresses.slice(0, ADDRESSES_MAX), options, signal),
  });
  const destroy = (): void => void client.destroy();
  try {
    const response = await client.request({
      method: 'GET',
      path: `${url.pathname}${url.search}`,
      headers: {
        accept: 'application/json, */*;q=0.5',
        'accept-encoding': 'gzip, deflate, br',
        'user-agent': options.userAgent,
      },
      reset: true,
      signal,
    });
    // An unread body may fail too.
    response.body.on('error', () => {});
    return { ...readHead(host, response, signal), destroy };
  } catch (error) {
    destroy();
    throw failure(host, error, signal);
  }
}

/** Returns the options of a connection to given addresses alone. The certificate must be that of the host, whatever its address. */
function connectionTo(
  host: string,
  addresses: readonly string[],
  { certificateAuthority }: HttpGetOptions,
  signal: AbortSignal,
) {
  const name = host.replace(/\.$/, '');
  return {
    lookup: lookupOf(addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: CONNECT_TIMEOUT_MS,
    timeout: ADDRESSES_MAX * CONNECT_TIMEOUT_MS,
    allowH2: false,
    // The socket ends with the signal, also while it connects.
    signal,
    // An address is no name: RFC 6066, section 3.
    servername: isIP(name) === 0 ? name : '',
    ...(certificateAuthority !== undefined && { ca: [certificateAuthority].flat() }),
  };
}

/** Returns a lookup with one answer, so that a connection resolves no name. Addresses of hosts that are addresses are not looked up. */
function lookupOf(addresses: readonly string[]): LookupFunction {
  return (_host, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: isIP(address) })),
    );
}

function readHead(host: string, response: Dispatcher.ResponseData, signal: AbortSignal): Omit<Answer, 'destroy'> {
  const { statusCode: status, headers } = response;
  const redirect = redirects.has(status) ? [headers['location']].flat()[0] : undefined;
  if (redirect === undefined && (status < 200 || status > 299)) {
    throw new MetadataError('bad_status', `${host} answers ${status}`, { host, status });
  }
  return { redirect, body: readBody(host, response, signal) };
}

async function* readBody(
  host: string,
  response: Dispatcher.ResponseData,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
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
function decompressed(host: string, { headers, body }: Dispatcher.ResponseData): Readable {
  const encoding = String(headers['content-encoding'] ?? 'identity')
    .trim()
    .toLowerCase();
  if (encoding === 'identity' || encoding === '') return body;
  if (!Object.hasOwn(decompressors, encoding)) {
    throw new MetadataError('not_json', `${host} answers in an unknown encoding`, { host });
  }
  const decompress = decompressors[encoding]?.() ?? new Transform();
  // The reader gets the error too.
  return pipeline(body, decompress, () => {});
}

/** Codes of zlib for a body that is not of its encoding, or ends in its middle: `Z_DATA_ERROR`, `ERR__ERROR_FORMAT_PADDING_2`. */
const wrongEncoding = /^(Z_|ERR__ERROR_|ERR_BROTLI_)/;

/** Converts a failure of the connection, or of the body's encoding, to a MetadataError, or to the signal's reason if that was the cause. */
function failure(host: string, error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof MetadataError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  if (code !== undefined && wrongEncoding.test(code)) {
    return new MetadataError(
      'not_json',
      `${host} answers in another encoding than it says`,
      { host, cause: code },
      error,
    );
  }
  return new MetadataError(
    'unreachable',
    `${host} cannot be reached${code === undefined ? '' : `: ${code}`}`,
    { host, ...(code !== undefined && { cause: code }) },
    error,
  );
}
