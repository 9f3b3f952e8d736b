import type { UnknownParameters } from '../v3/request/ignored-parameters.ts';

/** Settings of the public listener. Bounds that are left out take the defaults below. */
export type HttpOptions = {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Upper bound of one request from its headers to its answer. */
  readonly requestTimeoutMs: number;
  /** Milliseconds that requests in flight may take at shutdown, counted from the end of the wait for new requests. Then they are cut. */
  readonly drainMs: number;
  /** Number of proxies in front whose `X-Forwarded-For` entries are believed. */
  readonly trustedProxies: number;
  /** Operations of v2 by their paths: the surface `v2`. */
  readonly rest: boolean;
  /** `POST /api/v2/jsonRPC`: the surfaces `v2` and `jsonrpc`. */
  readonly rpc: boolean;
  /** Compresses long answers for callers that accept it. Default false, because a proxy in front does so. */
  readonly compression?: boolean;
  /** Treatment of parameters that a v3 operation does not have; default `Ignore`. */
  readonly unknownParameters?: UnknownParameters;
} & Partial<HttpBounds>;

/** Resources of one process that callers may use. */
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
  /**
   * service/v2/README.md#transport. Applies to v3 too, whose reference takes 4 MiB. JSON of that size may block the event loop for 200 ms,
   * ten times as long as any request may.
   */
  bodyBytesMax: 1_048_576,
  /** All bodies being received at once. This is the spare memory of a pod of 512 MiB, or 60,000 usual bodies of 4 kB. */
  bodiesBytesMax: 268_435_456,
  /** service/v2/README.md#transport. */
  urlBytesMax: 8192,
  /** service/v2/README.md#transport. */
  headerBytesMax: 65_536,
  /**
   * Includes the URL. 1,000 raw addresses, escaped, under the longest name of a list are 90 kB. The reference's 1 MiB would be 10 GB on all
   * connections.
   */
  v3HeaderBytesMax: 131_072,
  /** 30,000 requests a second of 100 ms each are 3,000. Beyond this the process is overloaded and refuses at once. */
  inFlightMax: 4096,
  /** A connection takes about 10 kB, together 100 MB. The listener drops more connections before it reads a byte. */
  connectionsMax: 10_000,
  /**
   * Connections that one address may have open; 0: no limit. Null: `connectionsPerAddress` below without a trusted proxy, else no limit.
   */
  connectionsPerAddress: null,
  /** Headers come in one packet. Ten seconds suffice for a very bad line, and cut a caller who sends a byte a second. */
  headersTimeoutMs: 10_000,
  /** A body of 1 MiB at 300 kbit/s. */
  receiveTimeoutMs: 30_000,
  /** Interval of the checks of the two timeouts above, and so their precision. */
  connectionsCheckMs: 5000,
  /** Longer than the 60 s of idle connections in proxies in front, so that the proxies close them. */
  keepAliveTimeoutMs: 75_000,
  /** Longest time that a shutdown still serves new requests. 0 suits a process without a load balancer. */
  lateMsMax: 0,
  /**
   * Within `lateMsMax` the wait ends when no request came for this time. A connection idle that long is closed with no request in transit.
   */
  quietMs: 1000,
  /** Calls in one JSON-RPC batch: enough for a page of a wallet. Each call costs a token of the limit. */
  batchMax: 100,
};

/**
 * A tenth of `connectionsMax`: ten addresses can fill the listener, a single address cannot. More than a browser or a pool of a server
 * opens.
 */
const CONNECTIONS_PER_ADDRESS_DEFAULT = 1024;

/** Returns the connections that one address may have open. `Infinity` behind a proxy, which connects for all its callers. */
export function connectionBound(given: number | null, trustedProxies: number): number {
  if (given !== null) return given === 0 ? Infinity : given;
  return trustedProxies === 0 ? CONNECTIONS_PER_ADDRESS_DEFAULT : Infinity;
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
