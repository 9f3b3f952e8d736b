import type { LiteServerError } from '../liteserver/errors.ts';

/**
 * Refusals that are remembered for a moment, so that many callers who ask for what is not there cost one search of all lite
 * servers. A refusal is one when every lite server that was asked said that it does not have the block, state or transaction
 * (class `pruned`); lag, overload and silence say nothing of the chain and are none.
 */
export type NegativeAnswers = {
  /** The refusal that stands for this read at the moment. */
  get(key: string): LiteServerError | undefined;
  add(key: string, error: LiteServerError): void;
  readonly size: () => number;
};

/** What is missing now may be there with the next block: lite server sheet 7.1. */
export const NEGATIVE_MS = 1_000;

/** Keys of some hundred bytes: 1 MB. More at once is a scan, which asks nothing twice. */
const ENTRIES_MAX = 4_096;

export function createNegativeAnswers({ now }: { now: () => number }): NegativeAnswers {
  const entries = new Map<string, { readonly error: LiteServerError; readonly untilMs: number }>();

  return {
    get(key) {
      // The hash of a key of some hundred bytes is dearer than a look.
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
