import type { Subscription } from '../changes.ts';
import type { Subscriber } from './subscriber.ts';

/** A connection whose transport is gone. */
export type AbsentConnection = { readonly subscriber: Subscriber; readonly forget: () => void };

/**
 * Connections below `finalized` that were cut. Each watches its accounts and traces for some minutes. The sources go on for it, so the log of
 * levels has no hole when it comes back.
 */
export type AbsentConnections = {
  /** Takes a cut connection, or forgets it. */
  readonly add: (connection: AbsentConnection) => void;
  readonly find: (number: number) => Subscriber | undefined;
  readonly all: () => IteratorObject<Subscriber>;
  /** Forgets those whose time is over. The other functions do so too. */
  readonly sweep: () => void;
  readonly size: () => number;
  readonly clear: () => void;
};

type Kept = { readonly connection: AbsentConnection; readonly keys: number; readonly atMs: number };

/** A process has 20,000 connections, and some of them are cut at a time. */
const ABSENT_MAX = 10_000;

/** Accounts and traces of all absent connections: some 70 MB in the index of subscriptions. */
const KEYS_MAX = 200_000;

export type AbsentConnectionsDependencies = {
  readonly nowMs: () => number;
  /** Milliseconds for which a cut connection is watched. */
  readonly absentMs: () => number;
};

/** Beyond the bounds the caller with the most absent connections loses its oldest one. */
export function createAbsentConnections({ nowMs, absentMs }: AbsentConnectionsDependencies): AbsentConnections {
  /** The oldest first. */
  const byNumber = new Map<number, Kept>();
  const byOwner = new Map<string, Set<Kept>>();
  let keys = 0;

  function remove(one: Kept): void {
    const { keyId, number } = one.connection.subscriber;
    byNumber.delete(number);
    keys -= one.keys;
    const others = byOwner.get(keyId);
    others?.delete(one);
    if (others?.size === 0) byOwner.delete(keyId);
    one.connection.forget();
  }

  function sweep(): void {
    for (const one of byNumber.values()) {
      if (nowMs() - one.atMs < absentMs()) return;
      remove(one);
    }
  }

  function bound(): void {
    while (byNumber.size > ABSENT_MAX || keys > KEYS_MAX) {
      let most: Set<Kept> | undefined;
      for (const others of byOwner.values()) if (most === undefined || others.size > most.size) most = others;
      const [oldest] = most ?? [];
      if (oldest === undefined) return;
      remove(oldest);
    }
  }

  return {
    add(connection) {
      sweep();
      const { subscriber } = connection;
      const wish = subscriber.viewer()?.wish;
      const size = wish === undefined || wish.minFinality === 'finalized' ? 0 : wish.accounts.size + wish.traces.size;
      if (size === 0) return connection.forget();
      const one = { connection, keys: size, atMs: nowMs() };
      byNumber.set(subscriber.number, one);
      byOwner.set(subscriber.keyId, (byOwner.get(subscriber.keyId) ?? new Set<Kept>()).add(one));
      keys += size;
      bound();
    },
    find(number) {
      sweep();
      return byNumber.get(number)?.connection.subscriber;
    },
    all() {
      sweep();
      return byNumber.values().map(({ connection }) => connection.subscriber);
    },
    sweep,
    size() {
      sweep();
      return byNumber.size;
    },
    clear() {
      for (const one of byNumber.values()) remove(one);
    },
  };
}

/** Reports whether everything that one subscription asks for was watched for another. */
export function watchesAllOf(one: Subscription, other: Subscription): boolean {
  const isLevel = one.minFinality === other.minFinality || one.minFinality === 'pending';
  return (
    isLevel &&
    other.types.isSubsetOf(one.types) &&
    other.accounts.isSubsetOf(one.accounts) &&
    other.traces.isSubsetOf(one.traces)
  );
}
