import type { LiteServerError } from '../liteserver/errors.ts';

/**
 * Cache of refusals, for a moment. Many callers who ask for missing data then cost one search of all lite servers. A read is refused when every asked
 * lite server lacks the block, state or transaction (class `pruned`). Lag, overload and silence say nothing about the chain and are not cached.
 */
export type NegativeAnswers = {
  /** Returns the cached refusal of this read. */
  get(key: string): LiteServerError | undefined;
  add(key: string, error: LiteServerError): void;
  readonly size: () => number;
};

/** Milliseconds of a cached refusal. Missing data may appear with the next block (service/pool/README.md#what-may-be-cached). */
export const NEGATIVE_MS = 1_000;

/** Most refusals, with keys of some hundred bytes: 1 MB. More at once is a scan, which repeats no query. */
const ENTRIES_MAX = 4_096;

export function createNegativeAnswers({ now }: { now: () => number }): NegativeAnswers {
  const entries = new Map<string, { readonly error: LiteServerError; readonly untilMs: number }>();

  return {
    get(key) {
      // Hashing a key of some hundred bytes costs more than checking the size.
      if (entries.size === 0) return undefined;
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (entry.untilMs > now()) return entry.error;
      entries.delete(key);
      return undefined;
    },
    add(key, error) {
      entries.delete(key);
      entries.set(key, { error, untilMs: now() + NEGATIVE_MS });
      const [oldest] = entries.keys();
      if (entries.size > ENTRIES_MAX && oldest !== undefined) entries.delete(oldest);
    },
    size: () => entries.size,
  };
}
