import type { UnknownParameters } from '../v3/ignored-parameters.ts';

/** Settings of the public listener. Bounds that are left out take the defaults below. */
export type HttpOptions = {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Upper bound of one request from its headers to its answer. */
  readonly requestTimeoutMs: number;
  /** How long requests in flight may take to finish at shutdown, from when no new ones are waited for; then they are cut. */
  readonly drainMs: number;
  /** Number of proxies in front whose `X-Forwarded-For` entries are believed. */
  readonly trustedProxies: number;
  /** Operations of v2 by their paths: the surface `v2`. */
  readonly rest: boolean;
  /** `POST /api/v2/jsonRPC`: the surfaces `v2` and `jsonrpc`. */
  readonly rpc: boolean;
  /** Long answers are compressed for callers that accept it; default false, as a proxy in front does so. */
  readonly compression?: boolean;
  /** Parameters that an operation of v3 does not have; default `Ignore`. */
  readonly unknownParameters?: UnknownParameters;
} & Partial<HttpBounds>;

/** What one process lets callers take of it. */
export type HttpBounds = {
  readonly bodyBytesMax: number;
  readonly bodiesBytesMax: number;
  readonly urlBytesMax: number;
  readonly headerBytesMax: number;
  readonly v3HeaderBytesMax: number;
  readonly inFlightMax: number;
  readonly connectionsMax: number;
  readonly connectionsPerAddress: number | null;
  readonly headersTimeoutMs: number;
  readonly receiveTimeoutMs: number;
  readonly connectionsCheckMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly lateMsMax: number;
  readonly quietMs: number;
  readonly batchMax: number;
};

export const defaultBounds: HttpBounds = {
  /** service/v2/README.md#transport. Of v3 too, whose peer takes 4 MiB: as JSON those may hold the event loop for 200 ms, ten times as long as any request may. */
  bodyBytesMax: 1_048_576,
  /** All bodies being received at once: what a pod of 512 MiB can spare; 60,000 usual ones of 4 kB. */
  bodiesBytesMax: 268_435_456,
  /** service/v2/README.md#transport. */
  urlBytesMax: 8192,
  /** service/v2/README.md#transport. */
  headerBytesMax: 65_536,
  /** With the URL: 1,000 raw addresses, escaped, under the longest name of a list are 90 kB; the peer's 1 MiB would be 10 GB on all connections. */
  v3HeaderBytesMax: 131_072,
  /** 30,000 requests a second of 100 ms each are 3,000; beyond this the process is behind and says so at once. */
  inFlightMax: 4096,
  /** About 10 kB a connection: 100 MB; more are dropped by the listener before a byte is read. */
  connectionsMax: 10_000,
  /** Connections that one address may have open; 0: no limit; null: `connectionsPerAddress` below where no proxy is trusted, else no limit. */
  connectionsPerAddress: null,
  /** Headers come in one packet; ten seconds bear a very bad line and starve a caller who sends a byte a second. */
  headersTimeoutMs: 10_000,
  /** A body of 1 MiB at 300 kbit/s. */
  receiveTimeoutMs: 30_000,
  /** How often the two above are looked at: they are kept to this precision. */
  connectionsCheckMs: 5000,
  /** Longer than the 60 s that proxies in front keep an idle connection, so that it is they who close it. */
  keepAliveTimeoutMs: 75_000,
  /** At shutdown new requests are served for at most so long: none, for a process that nobody balances over. */
  lateMsMax: 0,
  /** Within that, they are over when none came for so long: a connection that was idle for it is closed without a request on its way. */
  quietMs: 1000,
  /** Calls in one JSON-RPC batch: what a page of a wallet needs; each costs a token of the limit. */
  batchMax: 100,
};

/** A tenth of `connectionsMax`: ten addresses can fill the listener, one cannot; more than a browser or a pool of a server opens. */
const connectionsPerAddressDefault = 1024;

/** Connections that one address may have open; `Infinity` where the address is that of a proxy, which connects for all its callers. */
export function connectionBound(given: number | null, trustedProxies: number): number {
  if (given !== null) return given === 0 ? Infinity : given;
  return trustedProxies === 0 ? connectionsPerAddressDefault : Infinity;
}

/** Options with every bound filled in. */
export type ResolvedHttpOptions = Omit<HttpOptions, keyof HttpBounds> & HttpBounds;

export function resolveHttpOptions(options: HttpOptions): ResolvedHttpOptions {
  return { ...defaultBounds, ...options };
}

/** The two clocks of a request. */
export type Clock = {
  /** Monotonic milliseconds, `performance.now()`: deadlines and durations. */
  readonly nowMs: () => number;
  /** Unix milliseconds: the time an answer was made. */
  readonly unixMs: () => number;
};
