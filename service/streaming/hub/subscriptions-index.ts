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

/** The bounds of subscriptions bound it. */
export function createSubscriptionsIndex<C extends object>(): SubscriptionsIndex<C> {
  // Most keys have one connection: a Set for each of them would take more than the key does.
  const byKey = new Map<string, C | Set<C>>();
  return {
    add(key, connection) {
      const there = byKey.get(key);
      if (there === undefined) byKey.set(key, connection);
      else if (there instanceof Set) there.add(connection);
      else if (there !== connection) byKey.set(key, new Set([there, connection]));
    },
    remove(key, connection) {
      const there = byKey.get(key);
      if (there === connection) byKey.delete(key);
      else if (there instanceof Set && there.delete(connection) && there.size === 1) {
        for (const last of there) byKey.set(key, last);
      }
    },
    of(key) {
      const there = byKey.get(key);
      if (there === undefined) return none;
      return there instanceof Set ? there : [there];
    },
    has: (key) => byKey.has(key),
    size: () => byKey.size,
  };
}
