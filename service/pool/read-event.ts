/** Where the answer of a read came from: lite servers, an identical read under way, this pod's cache, or the cache of all pods. */
export type ReadSource = 'lite_server' | 'joined' | 'cache' | 'redis';

/** What the pool did for one request, told as it happens. */
export type ReadEvent =
  | {
      readonly kind: 'read';
      /** `failed`: none of the attempts gave an answer. */
      readonly source: ReadSource | 'failed';
      /** Zero-based, in configuration order: whose answer was used. */
      readonly liteServers: readonly number[];
      /** Lite servers asked; for a joined read those that the read under way asked. */
      readonly attempts: number;
    }
  /** A read begins: the set grows with each lite server that it asks, whatever comes of it, and also where it joins another read. */
  | { readonly kind: 'asked'; readonly liteServers: ReadonlySet<number> }
  /** The masterchain block that the request is answered at. */
  | { readonly kind: 'head'; readonly seqno: number }
  /** Must be over before the answer leaves; never rejects, and takes at most some milliseconds. */
  | { readonly kind: 'pending'; readonly done: Promise<void> };

/** A value that a cache of this process had. */
export const fromMemory: ReadEvent = { kind: 'read', source: 'cache', liteServers: [], attempts: 0 };
