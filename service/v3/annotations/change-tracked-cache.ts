import {
  createTwoGenerationCache,
  type TwoGenerationCache,
  type TwoGenerationCacheOptions,
} from './two-generation-cache.ts';

/** Cache of accounts. An entry is never returned after a change that the index reports. */
export type ChangeTrackedCache<T> = {
  /** Opens the cache for a call, which reads missing accounts itself. */
  open(): CacheView<T>;
  /** Bytes in use, as weighed by the options. */
  readonly bytes: () => number;
};

export type CacheView<T> = {
  /**
   * First transaction whose changes the call must query: entries of `get` include all earlier transactions. Undefined for an empty cache.
   */
  readonly since: bigint | undefined;
  get(key: string): T | undefined;
  /** Takes the result of a call's query, at once and before `keep`. Evicts changed accounts, or all accounts after too many changes. */
  learn(reading: Reading): void;
  /** Keeps an account of a reading. */
  keep(reading: Reading, key: string, note: T): void;
};

/** Snapshot of a query, besides the accounts. */
export type Reading = {
  /** No transaction that the query did not see has a lower number. */
  readonly settled: bigint;
  /** Keys that changed in transactions from `since` on that the query saw; undefined after too many changes. */
  readonly changed: ReadonlySet<string> | undefined;
};

export type ChangeTrackedCacheOptions<T> = TwoGenerationCacheOptions<T> & {
  /** All entries expire after this time, which is shorter than the index stores changes. */
  readonly cachedMsMax: number;
};

/** @param dependencies.clock milliseconds, ascending */
export function createChangeTrackedCache<T>(
  { cachedMsMax, ...options }: ChangeTrackedCacheOptions<T>,
  { clock }: { readonly clock: () => number },
): ChangeTrackedCache<T> {
  /** Cache until its expiry; `since` is the same as in a view. */
  type Life = { readonly notes: TwoGenerationCache<T>; readonly endMs: number; since?: bigint };
  const begin = (): Life => ({ notes: createTwoGenerationCache(options), endMs: clock() + cachedMsMax });
  let life = begin();

  return {
    open() {
      if (clock() >= life.endMs) life = begin();
      const own = life;
      const { since } = own;
      return {
        since,
        get: (key) => own.notes.get(key),
        learn({ settled, changed }) {
          if (changed === undefined) own.notes.clear();
          else for (const key of changed) own.notes.drop(key);
          // Advance `since` only if this query covered all changes since it. A narrower query or a lagging replica must not advance it.
          const hasAll = own.since === undefined || (since !== undefined && since <= own.since);
          if (hasAll && settled > (own.since ?? -1n)) own.since = settled;
        },
        keep({ settled }, key, note) {
          if (own.since !== undefined && settled >= own.since) own.notes.keep(key, note);
        },
      };
    },
    bytes: () => life.notes.bytes(),
  };
}
