/** Source of an answer: lite servers, an identical read in progress, this pod's cache, or the shared cache. */
export type ReadSource = 'lite_server' | 'joined' | 'cache' | 'redis';

/** Event about the pool's work for one request. */
export type ReadEvent =
  | {
      readonly kind: 'read';
      /** `failed`: none of the attempts gave an answer. */
      readonly source: ReadSource | 'failed';
      /** Servers whose answer was used, zero-based, in configuration order. */
      readonly liteServers: readonly number[];
      /** Lite servers asked. A joined read counts the servers of the read in progress. */
      readonly attempts: number;
    }
  /** Event at the beginning of a read. The set grows with each lite server that it asks, whatever the result, and also if it joins another read. */
  | { readonly kind: 'asked'; readonly liteServers: ReadonlySet<number> }
  /** Event with the masterchain block that the request is answered at. */
  | { readonly kind: 'head'; readonly seqno: number }
  /** Event with a write that must settle before the answer leaves. It never rejects, and takes at most some milliseconds. */
  | { readonly kind: 'pending'; readonly done: Promise<void> };

/** Event for a value from a cache of this process. */
export const fromMemory: ReadEvent = { kind: 'read', source: 'cache', liteServers: [], attempts: 0 };
