import { isIP } from 'node:net';
import { rootCertificates } from 'node:tls';

import { createJsonGuard, parseJsonObject, type JsonObject } from './bounded-json.ts';
import { MetadataError } from './errors.ts';
import { createSemaphore, type Semaphore } from '../runtime/semaphore.ts';
import { createKeyedSemaphore } from './keyed-semaphore.ts';
import { locate, webPorts, type Location, type LocationOptions } from './location.ts';
import { httpGet, type Answer, type HttpGetOptions } from './http-get.ts';
import type { ResolveHost } from './resolve.ts';

export type FetcherOptions = {
  /** Base URL, without a trailing slash; null: nothing is fetched from IPFS. */
  readonly ipfsGateway: string | null;
  /** Most requests in flight, in all and to one host. */
  readonly concurrency: number;
  readonly concurrencyPerHost: number;
  /** Returns certificate authorities in PEM for the gateway, besides the public ones. Read for each request. */
  readonly gatewayAuthorities?: () => string | undefined;
  /** Allowed ports; default: the web's. */
  readonly ports?: ReadonlySet<number>;
  /** Milliseconds for one fetch with its redirects, from the moment it has a slot; default 30 s. */
  readonly timeoutMs?: number;
} & HttpGetOptions;

export type FetcherDependencies = {
  readonly resolve: ResolveHost;
  /** Returns the reason why an address must not be requested; undefined when it is allowed. */
  readonly refused: (address: string) => string | undefined;
};

/** Fetches token metadata outside of the chain. */
export type Fetcher = {
  /** Returns the first host of a URI. @throws MetadataError `uri_unusable` */
  hostOf(uri: string): string;
  /** Returns the URL of content in IPFS, for callers of the API; undefined for other URIs, and at a gateway with credentials. */
  ipfsUrlOf(uri: string): string | undefined;
  /**
   * Fetches the JSON object at a URI.
   *
   * @param signal ends the fetch; its reason is the error
   * @throws MetadataError
   */
  fetch(uri: string, signal: AbortSignal): Promise<JsonObject>;
};

const REDIRECTS_MAX = 3;
const TIMEOUT_DEFAULT_MS = 30_000;
const BYTES_MAX = 10 * 1_048_576;

/**
 * Bytes up to which a body is small; nearly all are far smaller. Larger bodies need a slot of `large`, so that a pod's memory is bounded
 * whatever pages contain. Others wait unread.
 */
const SMALL_BYTES = 512 * 1024;
const LARGE_AT_ONCE = 2;

/**
 * Creates a fetcher. Every request goes by number to an address that was looked up once and checked. Neither a redirect nor a name that changes its
 * address a moment later leads elsewhere. If any address of a host is not public, the host is refused.
 */
export function createFetcher(options: FetcherOptions, { resolve, refused }: FetcherDependencies): Fetcher {
  const { ipfsGateway, ports = webPorts, timeoutMs = TIMEOUT_DEFAULT_MS } = options;
  const places: LocationOptions = { ipfsGateway, ports };
  const gateway = ipfsGateway === null ? undefined : new URL(ipfsGateway).hostname;
  const all = createSemaphore(options.concurrency);
  const hosts = createKeyedSemaphore(options.concurrencyPerHost);
  const large = createSemaphore(LARGE_AT_ONCE);

  async function addressesOf(host: string, signal: AbortSignal): Promise<readonly string[]> {
    const addresses = isIP(host) === 0 ? await lookUp(host, signal) : [host];
    for (const address of addresses) {
      const range = refused(address);
      if (range !== undefined)
        throw new MetadataError('address_refused', `${host} is no public host: ${range}`, { host });
    }
    return addresses;
  }

  async function lookUp(host: string, signal: AbortSignal): Promise<readonly string[]> {
    try {
      const addresses = await resolve(host, signal);
      signal.throwIfAborted();
      return addresses;
    } catch (cause) {
      signal.throwIfAborted();
      throw new MetadataError('host_unknown', `${host} has no address`, { host }, cause);
    }
  }

  /** Returns the TLS options. Only the gateway is trusted by its own authorities, because hosts of tokens are strangers. */
  function asking({ host }: Location): HttpGetOptions {
    const own = host === gateway ? options.gatewayAuthorities?.() : undefined;
    return own === undefined ? options : { ...options, certificateAuthority: [...rootCertificates, own] };
  }

  /** Sends one request and returns its result: an object, or a further location. */
  async function follow(location: Location, signal: AbortSignal): Promise<JsonObject | Location> {
    const answer = await httpGet(location, await addressesOf(location.host, signal), asking(location), signal);
    try {
      if (answer.redirect !== undefined) return locate(answer.redirect, places, location.url);
      return await readObject(answer, large, signal);
    } finally {
      answer.destroy();
    }
  }

  return {
    hostOf: (uri) => locate(uri, places).host,
    ipfsUrlOf: (uri) => ipfsUrlOf(uri, { places, refused }),
    async fetch(uri, signal) {
      let location = locate(uri, places);
      const time = createDeadline(timeoutMs, signal);
      try {
        for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
          // Both slots of a request are taken for it alone, always in this order, so requests cannot deadlock.
          const releaseHost = await hosts.acquire(location.host, time.signal);
          try {
            const next = await all.run(time.signal, () => {
              time.start();
              return follow(location, time.signal);
            });
            if (!isLocation(next)) return next;
            location = next;
          } finally {
            releaseHost();
          }
        }
        throw new MetadataError('too_many_redirects', `more than ${REDIRECTS_MAX} redirects`, { host: location.host });
      } finally {
        time.end();
      }
    },
  };
}

function ipfsUrlOf(
  uri: string,
  { places, refused }: Pick<FetcherDependencies, 'refused'> & { readonly places: LocationOptions },
): string | undefined {
  if (!/^ipfs:/i.test(uri.trim())) return undefined;
  try {
    const { url, host } = locate(uri, places);
    const isPublic = url.username === '' && url.password === '' && (isIP(host) === 0 || refused(host) === undefined);
    return isPublic ? url.href : undefined;
  } catch (error) {
    if (error instanceof MetadataError) return undefined;
    throw error;
  }
}

function isLocation(next: JsonObject | Location): next is Location {
  return next['url'] instanceof URL;
}

/** Reads a body as long as it is valid. */
async function readObject({ body }: Answer, large: Semaphore, signal: AbortSignal): Promise<JsonObject> {
  const chunks: Uint8Array[] = [];
  const guard = createJsonGuard();
  let bytes = 0;
  let leave: (() => void) | undefined;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > BYTES_MAX) throw new MetadataError('too_large', `more than ${BYTES_MAX} bytes`);
      guard.see(chunk);
      chunks.push(chunk);
      if (bytes > SMALL_BYTES) leave ??= await large.acquire(signal);
    }
    return parseJsonObject(Buffer.concat(chunks));
  } finally {
    leave?.();
  }
}

/** Creates a signal that aborts with another signal, or when the time from its start is up. */
function createDeadline(timeoutMs: number, outer: AbortSignal) {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  return {
    signal: AbortSignal.any([outer, late.signal]),
    start(): void {
      timer ??= setTimeout(
        () => late.abort(new MetadataError('too_slow', `not there within ${timeoutMs / 1000} s`)),
        timeoutMs,
      );
    },
    end: () => clearTimeout(timer),
  };
}
