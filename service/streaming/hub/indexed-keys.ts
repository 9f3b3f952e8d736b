import { createTimeSlice } from '#service/runtime/time-slice.ts';
import type { Subscription } from '../changes.ts';
import type { Watchers } from './distribution.ts';
import type { Subscriber } from './subscriber.ts';

/** Keys of one connection in the index of subscriptions. A subscription ignores keys that it does not have, so extra keys do no harm. */
export type IndexedKeys = {
  /** Adds the keys of a subscription that is going to begin. */
  readonly add: (wish: Subscription, signal: AbortSignal) => Promise<void>;
  /** Removes keys that neither the begun subscription nor the next one has. */
  readonly settle: (signal: AbortSignal) => Promise<void>;
  readonly remove: (accounts: ReadonlySet<string>, traces: ReadonlySet<string>) => void;
  readonly clear: () => void;
};

const kinds = ['accounts', 'traces'] as const;

export function createIndexedKeys(subscriber: Subscriber, watchers: Watchers): IndexedKeys {
  /** Bounded by two subscriptions. */
  const indexed = { accounts: new Set<string>(), traces: new Set<string>() };
  let next: Subscription | undefined;

  function drop(kind: (typeof kinds)[number], key: string): void {
    if (indexed[kind].delete(key)) watchers[kind].remove(key, subscriber);
  }

  return {
    async add(wish, signal) {
      next = wish;
      const slice = createTimeSlice(signal);
      for (const kind of kinds) {
        for (const key of wish[kind]) {
          const rest = slice.pause();
          if (rest !== undefined) await rest;
          indexed[kind].add(key);
          watchers[kind].add(key, subscriber);
        }
      }
    },
    async settle(signal) {
      const slice = createTimeSlice(signal);
      for (const kind of kinds) {
        for (const key of indexed[kind]) {
          const rest = slice.pause();
          if (rest !== undefined) await rest;
          const isWanted = subscriber.viewer()?.wish[kind].has(key) === true || next?.[kind].has(key) === true;
          if (!isWanted) drop(kind, key);
        }
      }
    },
    remove(accounts, traces) {
      for (const key of accounts) drop('accounts', key);
      for (const key of traces) drop('traces', key);
    },
    clear() {
      for (const kind of kinds) for (const key of indexed[kind]) drop(kind, key);
    },
  };
}
