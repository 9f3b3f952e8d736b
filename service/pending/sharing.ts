import type { Logger } from 'pino';

import { readExternalMessage } from '../live/send/external-message.ts';
import type { PendingMetrics } from './metrics.ts';
import type { LocalTraces } from './local-traces.ts';
import { createSharedNews, type SharedNewsStream } from './shared-news.ts';
import { createSharedMessages } from './shared-messages.ts';
import type { SharedMessages } from './shared-messages.ts';
import { createSharedTraces } from './shared-traces.ts';
import type { PendingLink, SharedTraces } from './shared-traces.ts';
import { createTypedKeys } from './typed-keys.ts';
import { KEPT_MS, WATCHED_MAX, watchedFrom } from './watch-list.ts';
import type { Watched, WatchList } from './watch-list.ts';
import { createWatchLeases, LEASE_MS } from './watch-leases.ts';
import type { WatchLeases } from './watch-leases.ts';

/** Interval in which pods renew their leases and look for expired leases. */
const HOLD_EVERY_MS = LEASE_MS / 5;

/** Traces taken over in one refresh. Another pod replaces a pod with a full watch list in half a minute. */
const TAKEN_AT_ONCE = 16;

/** Pending traces that the pods of an API share in Redis. Without a Redis every call does nothing and finds nothing. */
export type Sharing = Pick<SharedTraces, 'put' | 'alias' | 'drop' | 'keyBy' | 'get'> & {
  /** Keys of a place's traces, oldest first; none without a Redis. */
  keysOf(place: string): Promise<readonly string[]>;
  /** Reports a change to other pods. */
  readonly report: SharedNewsStream['report'];
  /** Changes that other pods reported. */
  readonly hear: SharedNewsStream['hear'];
  /** From now on another pod simulates the message if this process ends. */
  announce(key: string, watched: Watched): Promise<void>;
  /**
   * Renews the leases of watched messages, and takes over messages of pods that no longer run. Pods with wrong clocks or broken connections may watch
   * the same message for a while. Their simulations are equal.
   */
  renew(): Promise<void>;
  /** Removes a message from Redis, and its lease. */
  forget(key: string): Promise<void>;
  /** Continues over another Redis, or the same Redis with another password. */
  readonly setLink: (next: PendingLink) => void;
  /** Leaves the watched messages to other pods and ends the connection. */
  close(): Promise<void>;
};

/** State that pods share. */
type Shared = SharedTraces & {
  readonly messages: SharedMessages;
  readonly leases: WatchLeases;
  readonly news: SharedNewsStream;
};

export type SharingOptions = {
  /** Names the API and its network in a Redis that several share. */
  readonly scope: string;
  /** The Redis; undefined without one. Closed by `close`. */
  readonly link: PendingLink | undefined;
};

export type SharingDependencies = {
  readonly watchList: WatchList;
  readonly own: LocalTraces;
  readonly unixMs: () => number;
  readonly metrics: PendingMetrics;
  readonly logger: Logger;
};

export function createSharing(
  { scope, ...options }: SharingOptions,
  { watchList, own, unixMs, metrics, logger }: SharingDependencies,
): Sharing {
  let { link } = options;
  let shared = link && shareOver(link);
  let renewedUnixMs = 0;

  function shareOver(line: PendingLink): Shared {
    const sharing = { scope, keptMs: KEPT_MS };
    const keys = createTypedKeys(line, () => metrics.malformed());
    return {
      ...createSharedTraces(sharing, keys),
      messages: createSharedMessages(sharing, keys),
      leases: createWatchLeases(sharing, keys),
      news: createSharedNews(sharing, keys),
    };
  }

  /** Redis was away when they were sent, has lost them, or is another one. */
  async function shareAgain(sharing: Shared): Promise<void> {
    for (const [key, one] of watchList) {
      await sharing.messages.put(key, { ...one, message: one.message.boc });
      const trace = own.get(key);
      if (trace !== undefined) await sharing.put(trace, undefined);
    }
  }

  async function takeOver(sharing: Shared, key: string): Promise<void> {
    if (watchList.has(key)) return;
    const trace = await sharing.get(key);
    const sent = trace ?? (await sharing.messages.get(key));
    if (sent === undefined || unixMs() - sent.sentUnixMs >= KEPT_MS) {
      if (trace !== undefined) await sharing.drop(trace);
      await forgetIn(sharing, key);
      return;
    }
    if (trace !== undefined) own.put(trace);
    const { sentUnixMs, sinceUtime } = sent;
    const message = readExternalMessage(sent.message);
    watchList.set(key, watchedFrom({ message, sender: {}, sentUnixMs, sinceUtime }));
    metrics.takenOver();
    logger.info({ key }, 'a sent message is taken over');
  }

  return {
    put: async (trace, before) => await shared?.put(trace, before),
    alias: async (hash, key) => await shared?.alias(hash, key),
    drop: async (trace) => await shared?.drop(trace),
    keyBy: async (hash) => await shared?.keyBy(hash),
    get: async (key) => await shared?.get(key),
    keysOf: async (place) => (await shared?.keysOf(place)) ?? [],
    report: async (news) => await shared?.news.report(news),
    hear: async () => (await shared?.news.hear()) ?? [],
    async announce(key, one) {
      if (shared === undefined) return;
      const { messages, leases } = shared;
      await messages.put(key, { ...one, message: one.message.boc });
      await leases.hold([key], unixMs());
    },
    async renew() {
      if (shared === undefined || Math.abs(unixMs() - renewedUnixMs) < HOLD_EVERY_MS) return;
      const sharing = shared;
      renewedUnixMs = unixMs();
      if ((await sharing.leases.hold([...watchList.keys()], unixMs())) > 0) await shareAgain(sharing);
      const room = Math.min(TAKEN_AT_ONCE, WATCHED_MAX - watchList.size);
      if (room <= 0) return;
      for (const key of await sharing.leases.takeOver(room, unixMs())) await takeOver(sharing, key);
    },
    forget: async (key) => shared && (await forgetIn(shared, key)),
    setLink(next) {
      link?.close();
      link = next;
      shared = shareOver(next);
      renewedUnixMs = 0;
    },
    async close() {
      await shared?.leases.leave([...watchList.keys()]);
      link?.close();
    },
  };
}

async function forgetIn(sharing: Shared, key: string): Promise<void> {
  await sharing.messages.drop(key);
  await sharing.leases.drop([key]);
}
