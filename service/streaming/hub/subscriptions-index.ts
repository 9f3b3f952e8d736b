/** Connections by account, or by trace. Work on an event depends on its matches, and not on the number of connections. */
export type SubscriptionsIndex<C extends object> = {
  readonly add: (key: string, connection: C) => void;
  readonly remove: (key: string, connection: C) => void;
  readonly of: (key: string) => Iterable<C>;
  readonly has: (key: string) => boolean;
  /** Keys that have a connection. */
  readonly size: () => number;
};

const none: readonly never[] = [];

/** A Map that grows copies all of its keys at once. A Map takes at most 2^24 keys, and 20,000 connections may have more. */
const PARTS = 256;

/** The bounds of subscriptions bound it. */
export function createSubscriptionsIndex<C extends object>(): SubscriptionsIndex<C> {
  // Most keys have one connection: a Set for each of them would take more than the key does.
  const parts = Array.from({ length: PARTS }, () => new Map<string, C | Set<C>>());
  const partOf = (key: string): Map<string, C | Set<C>> => parts[partNumber(key)]!;
  return {
    add(key, connection) {
      const byKey = partOf(key);
      const there = byKey.get(key);
      if (there === undefined) byKey.set(key, connection);
      else if (there instanceof Set) there.add(connection);
      else if (there !== connection) byKey.set(key, new Set([there, connection]));
    },
    remove(key, connection) {
      const byKey = partOf(key);
      const there = byKey.get(key);
      if (there === connection) byKey.delete(key);
      else if (there instanceof Set && there.delete(connection) && there.size === 1) {
        for (const last of there) byKey.set(key, last);
      }
    },
    of(key) {
      const there = partOf(key).get(key);
      if (there === undefined) return none;
      return there instanceof Set ? there : [there];
    },
    has: (key) => partOf(key).has(key),
    size: () => parts.reduce((sum, { size }) => sum + size, 0),
  };
}

/** Number of a key's part, from its last two digits. */
function partNumber(key: string): number {
  return ((key.charCodeAt(key.length - 1) << 4) ^ key.charCodeAt(key.length - 2)) & (PARTS - 1);
}
