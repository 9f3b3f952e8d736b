import { isIP } from 'node:net';
import { rootCertificates } from 'node:tls';

import { createJsonGuard, parseJsonObject, type JsonObject } from './bounded-json.ts';
import { MetadataError } from './errors.ts';
import { createGate, createGates, type Gate } from './gates.ts';
import { locate, webPorts, type Location, type LocationOptions } from './location.ts';
import { ask, type Answer, type AskOptions } from './one-request.ts';
import type { ResolveHost } from './resolve.ts';

export type FetcherOptions = {
  /** Base URL, without a slash at the end; null: nothing is fetched from IPFS. */
  readonly ipfsGateway: string | null;
  /** Requests under way at once, in all and to one host. */
  readonly concurrency: number;
  readonly concurrencyPerHost: number;
  /** Certificates in PEM that the gateway's may come from, besides the public ones; read for each request. */
  readonly gatewayAuthorities?: () => string | undefined;
  /** Default: the web's. */
  readonly ports?: ReadonlySet<number>;
  /** Of one fetch with its redirects, from the moment it has a place; default 30 s. */
  readonly timeoutMs?: number;
} & AskOptions;

export type FetcherDependencies = {
  readonly resolve: ResolveHost;
  /** Why an address may not be asked; undefined when it may. */
  readonly refused: (address: string) => string | undefined;
};

/** Fetches what tokens keep outside of the chain. */
export type Fetcher = {
  /** The host that a URI leads to first. @throws MetadataError `uri_unusable` */
  hostOf(uri: string): string;
  /**
   * The JSON object that is at a URI.
   *
   * @param signal ends it with its own reason
   * @throws MetadataError
   */
  fetch(uri: string, signal: AbortSignal): Promise<JsonObject>;
};

const redirectsMax = 3;
const timeoutDefaultMs = 30_000;
const bytesMax = 10 * 1_048_576;

/** Bodies beyond this size are read by so many at once, so that a pod's memory holds whatever pages say; nearly all are far smaller. The rest of them waits unread. */
const smallBytes = 512 * 1024;
const largeAtOnce = 2;

/**
 * Every request goes to an address that was looked up once and checked, by its number: neither a redirect nor a name that means another address a moment
 * later leads elsewhere. One address of a host that is not public is enough to refuse the host.
 */
export function createFetcher(options: FetcherOptions, { resolve, refused }: FetcherDependencies): Fetcher {
  const { ipfsGateway, ports = webPorts, timeoutMs = timeoutDefaultMs } = options;
  const places: LocationOptions = { ipfsGateway, ports };
  const gateway = ipfsGateway === null ? undefined : new URL(ipfsGateway).hostname;
  const all = createGate(options.concurrency);
  const hosts = createGates(options.concurrencyPerHost);
  const large = createGate(largeAtOnce);

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

  /** Only the gateway is trusted by its own authorities: hosts of tokens are strangers. */
  function asking({ host }: Location): AskOptions {
    const own = host === gateway ? options.gatewayAuthorities?.() : undefined;
    return own === undefined ? options : { ...options, certificateAuthority: [...rootCertificates, own] };
  }

  /** One request, and what it leads to: an object, or a further location. */
  async function follow(location: Location, signal: AbortSignal): Promise<JsonObject | Location> {
    const answer = await ask(location, await addressesOf(location.host, signal), asking(location), signal);
    try {
      if (answer.redirect !== undefined) return locate(answer.redirect, places, location.url);
      return await readObject(answer, large, signal);
    } finally {
      answer.destroy();
    }
  }

  return {
    hostOf: (uri) => locate(uri, places).host,
    async fetch(uri, signal) {
      let location = locate(uri, places);
      const time = createDeadline(timeoutMs, signal);
      try {
        for (let redirects = 0; redirects <= redirectsMax; redirects++) {
          // Both places of a request are taken for it alone, always in this order: nobody waits for one who waits for him.
          const leaveHost = await hosts.enter(location.host, time.signal);
          try {
            const leave = await all.enter(time.signal);
            try {
              time.start();
              const next = await follow(location, time.signal);
              if (!isLocation(next)) return next;
              location = next;
            } finally {
              leave();
            }
          } finally {
            leaveHost();
          }
        }
        throw new MetadataError('too_many_redirects', `more than ${redirectsMax} redirects`, { host: location.host });
      } finally {
        time.end();
      }
    },
  };
}

function isLocation(next: JsonObject | Location): next is Location {
  return next['url'] instanceof URL;
}

/** Reads a body as long as it is what it should be. */
async function readObject({ body }: Answer, large: Gate, signal: AbortSignal): Promise<JsonObject> {
  const chunks: Uint8Array[] = [];
  const guard = createJsonGuard();
  let bytes = 0;
  let leave: (() => void) | undefined;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw new MetadataError('too_large', `more than ${bytesMax} bytes`);
      guard.see(chunk);
      chunks.push(chunk);
      if (bytes > smallBytes) leave ??= await large.enter(signal);
    }
    return parseJsonObject(Buffer.concat(chunks));
  } finally {
    leave?.();
  }
}

/** A signal that ends with another, or when the time from its start is up. */
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
