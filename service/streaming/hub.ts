import { randomInt } from 'node:crypto';

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import { createSemaphore } from '#service/runtime/semaphore.ts';
import type { Change, EventType, FinalLog, Hub, Labels, Position } from './changes.ts';
import { createDistribution, type EarlyLabels, type Watchers } from './hub/distribution.ts';
import { ConnectionAtHub, type HubConnectionDependencies } from './hub/hub-connection.ts';
import { createHubMetrics, type HubMetrics } from './hub/hub-metrics.ts';
import { createPast } from './hub/past.ts';
import { laterOf, positionOf, steps } from './hub/positions.ts';
import { Subscriber, type Sending } from './hub/subscriber.ts';
import { createSubscriptionsIndex } from './hub/subscriptions-index.ts';
import { CONNECTIONS_END, type Cursors } from './request/cursor.ts';

export type HubOptions = {
  /** Bytes of the queues of all connections; default 256 MiB. Above it the longest queue ends its connection. */
  readonly queueBytesMax?: number;
};

export type HubDependencies = {
  readonly log: FinalLog;
  readonly labels: Labels;
  readonly cursors: Cursors;
  /** Current snapshot of a pending trace by one of its hashes in hex; without it there is no pending level. */
  readonly findPending?: HubConnectionDependencies['findPending'];
  readonly clock: { readonly nowMs: () => number; readonly unixMs: () => number };
  readonly logger: Logger;
  readonly register: Registry;
  /** Random number in 0..1 for pauses between attempts. */
  readonly random?: () => number;
};

type WatchedKeys = { readonly accounts: Iterable<string>; readonly traces: Iterable<string> };

/** A hub that also says what its connections watch. */
export type WatchedHub = Hub & {
  /** Reports whether a connection takes pending snapshots of one of the accounts or traces. */
  readonly watchesPending: (keys: WatchedKeys) => boolean;
  /** Reports whether a connection takes confirmed snapshots of one of them. */
  readonly watchesConfirmed: (keys: WatchedKeys) => boolean;
  /** Reports whether a connection takes any confirmed change, or one of a type. */
  readonly wantsConfirmed: (type?: EventType) => boolean;
};

const QUEUE_BYTES_MAX = 256 * 1024 * 1024;

/** Traces that became final: what is said about them as pending came too late. Some minutes of mainnet. */
const FINAL_KEYS_MAX = 20_000;

/** Close of a connection after a bug. */
const internalError = { code: 1011, reason: 'internal error' } as const;

/** Distributes changes to the connections of this process (service/streaming/README.md#order). */
export function createHub(options: HubOptions, dependencies: HubDependencies): WatchedHub {
  const { queueBytesMax = QUEUE_BYTES_MAX } = options;
  const { log, labels, cursors, clock, logger, register, random = Math.random } = dependencies;
  const { findPending = async () => undefined } = dependencies;
  const ending = new AbortController();
  const { signal } = ending;
  const connections = new Map<number, ConnectionAtHub>();
  const subscribers = () => connections.values().map(({ subscriber }) => subscriber);
  const watchers = createWatchers();
  let queueBytes = 0;
  const metrics = createHubMetrics(register, {
    queueBytes: () => queueBytes,
    keys: () => watchers.accounts.size() + watchers.traces.size(),
  });
  const past = createPast({ log, logger, random, unixMs: clock.unixMs });
  const onFault = (to: Subscriber, error: unknown): void => {
    logger.error({ err: error }, 'a connection did not get an event');
    to.end(internalError.code, internalError.reason);
  };
  const distribution = createDistribution({ watchers, labels, signal, onFault });
  /** Admits one change at a time. No subscription begins during it. */
  const turns = createSemaphore(1);
  const finalKeys = createRecentKeys(FINAL_KEYS_MAX);
  /** Position behind the newest final change that was distributed. */
  let distributed: Position | null = null;
  let publishing = 0;

  const livePosition = (): Position | null => (publishing > 0 ? distributed : laterOf(log.newest(), distributed));
  const cursorOf = ({ number }: Pick<Subscriber, 'number'>, position: Position | null): string =>
    cursors.write({ position, connection: number });

  function onQueueBytes(change: number): void {
    queueBytes += change;
    if (change > 0 && queueBytes > queueBytesMax) longest(subscribers())?.endSlow();
  }

  async function distribute(change: Change, early: EarlyLabels | undefined): Promise<void> {
    if (isLate(change, finalKeys)) return;
    try {
      await timed(change, () => distribution.distribute(change, early), { metrics, nowMs: clock.nowMs });
    } catch (error) {
      if (signal.aborted) return;
      // No connection has the change in its events, so all resume.
      for (const to of subscribers()) onFault(to, error);
    }
  }

  async function readEarly(change: Change): Promise<EarlyLabels | undefined> {
    try {
      return await distribution.readEarly(change);
    } catch {
      // The distribution reads labels itself, and reports its failure.
      return undefined;
    }
  }

  async function publishFinal(changes: readonly Change[], first: Position): Promise<void> {
    if (publishing === 0) distributed = laterOf(positionOf(first, steps.before), livePosition());
    publishing++;
    try {
      for (const change of changes) {
        const early = await readEarly(change);
        await turns.run(signal, async () => {
          await distribute(change, early);
          const position = finalPositionOf(change);
          if (position !== null) distributed = laterOf(positionOf(position, steps.last), distributed);
        });
      }
    } finally {
      publishing--;
    }
  }

  const shared = {
    nowMs: clock.nowMs,
    livePosition,
    cursorOf,
    onQueueBytes,
    onSent: ({ type, finality }: Sending) => metrics.sent(type, finality),
    onSlow: metrics.slow,
    onTrace: (key: string, one: Subscriber, isKnown: boolean) =>
      isKnown ? watchers.shown.add(key, one) : watchers.shown.remove(key, one),
    onClose({ number }: Subscriber): void {
      const connection = connections.get(number);
      connections.delete(number);
      connection?.close();
    },
    log,
    past,
    watchers,
    distribution,
    metrics,
    findPending,
    readCursor: cursors.read,
    connectionBy: (other: number) => connections.get(other)?.subscriber,
    between: <T>(work: () => T) => turns.run(signal, async () => work()),
  };

  return {
    open(sink, { keyId }) {
      const number = randomInt(1, CONNECTIONS_END - 1);
      const connection = new ConnectionAtHub(new Subscriber({ keyId, number, sink }, shared), shared);
      connections.set(number, connection);
      return connection;
    },
    async publish(changes) {
      const first = changes.map(finalPositionOf).find((position) => position !== null);
      if (first !== undefined) return publishFinal(changes, first);
      for (const change of changes) {
        const early = await readEarly(change);
        await turns.run(signal, () => distribute(change, early));
      }
    },
    watchesPending: (keys) => isWatched(watchers, keys, takesPending),
    watchesConfirmed: (keys) => isWatched(watchers, keys, takesConfirmed),
    wantsConfirmed: (type) =>
      subscribers().some((to) => takesConfirmed(to) && (type === undefined || to.viewer()!.wish.types.has(type))),
    status: () => ({ connections: connections.size, queueBytes }),
    async close() {
      ending.abort(new Error('the hub is closed'));
      for (const subscriber of subscribers()) subscriber.close();
    },
  };
}

function takesPending(to: Subscriber): boolean {
  return to.viewer()?.wish.minFinality === 'pending';
}

function takesConfirmed(to: Subscriber): boolean {
  const wish = to.viewer()?.wish;
  return wish !== undefined && wish.minFinality !== 'finalized';
}

function isWatched(watchers: Watchers, { accounts, traces }: WatchedKeys, takes: (to: Subscriber) => boolean): boolean {
  for (const account of accounts) if (Iterator.from(watchers.accounts.of(account)).some(takes)) return true;
  for (const trace of traces) {
    if (Iterator.from(watchers.traces.of(trace)).some(takes) || watchers.shown.has(trace)) return true;
  }
  return false;
}

function createWatchers(): Watchers {
  return {
    accounts: createSubscriptionsIndex(),
    traces: createSubscriptionsIndex(),
    shown: createSubscriptionsIndex(),
  };
}

/** Position of a final change; null for others. */
function finalPositionOf(change: Change): Position | null {
  return change.kind === 'invalidation' ? null : change.position;
}

function longest(subscribers: Iterable<Subscriber>): Subscriber | undefined {
  let most: Subscriber | undefined;
  for (const one of subscribers) if (most === undefined || one.queue.bytes() > most.queue.bytes()) most = one;
  return most;
}

type RecentKeys = { readonly add: (key: string) => void; readonly has: (key: string) => boolean };

/** The newest keys, as many as the bound. */
function createRecentKeys(max: number): RecentKeys {
  const keys = new Set<string>();
  return {
    add(key) {
      keys.delete(key);
      keys.add(key);
      const [oldest] = keys;
      if (keys.size > max && oldest !== undefined) keys.delete(oldest);
    },
    has: (key) => keys.has(key),
  };
}

/** Reports whether a change says about a final trace what was true before. A final change marks its trace. */
function isLate(change: Change, finalKeys: RecentKeys): boolean {
  if (change.kind !== 'trace' && change.kind !== 'invalidation') return false;
  if (change.kind === 'invalidation' || change.finality !== 'finalized') return finalKeys.has(change.key);
  if (change.stage === undefined || change.stage === 'last') finalKeys.add(change.key);
  return false;
}

async function timed(
  change: Change,
  work: () => Promise<void>,
  { metrics, nowMs }: { readonly metrics: HubMetrics; readonly nowMs: () => number },
): Promise<void> {
  const startMs = nowMs();
  await work();
  metrics.distributed(change.kind === 'invalidation' ? 'none' : change.finality, (nowMs() - startMs) / 1000);
}
