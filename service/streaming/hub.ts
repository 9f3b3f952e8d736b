import { randomInt } from 'node:crypto';

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import { streamingDefaults, type StreamSettings } from '#service/config/streaming.ts';
import { createSemaphore } from '#service/runtime/semaphore.ts';
import type { EventType, FinalLog, Hub, Labels } from './changes.ts';
import { createAbsentConnections } from './hub/absent-connections.ts';
import { createDistribution, type Watchers } from './hub/distribution.ts';
import { ConnectionAtHub } from './hub/hub-connection.ts';
import { createFormers } from './hub/formers.ts';
import { createHubMetrics } from './hub/hub-metrics.ts';
import { createLevelsLog } from './hub/levels-log.ts';
import { createPast } from './hub/past.ts';
import { createPresentTraces, type PresentTracesDependencies } from './hub/present-traces.ts';
import { createPublishing, isFinalChange } from './hub/publishing.ts';
import { createSnapshotNames } from './hub/snapshot-names.ts';
import { Subscriber, type Place, type Sending } from './hub/subscriber.ts';
import { createSubscriptionsIndex } from './hub/subscriptions-index.ts';
import { createLevelsFeed, type FeedStatus } from './levels/levels-feed.ts';
import { createLevelsMetrics } from './levels/levels-metrics.ts';
import type { SharedLog } from './levels/shared-log.ts';
import { CONNECTIONS_END, EPOCHS_END, type Cursors } from './request/cursor.ts';

export type HubOptions = {
  /** Settings now. They may change at any time. */
  readonly settings?: () => Pick<StreamSettings, 'replay' | 'queue'>;
  /** Bytes of the log of levels; default 64 MiB. Without the oldest records cursors bring final events alone. */
  readonly levelsBytesMax?: number;
};

export type HubDependencies = {
  readonly log: FinalLog;
  readonly labels: Labels;
  readonly cursors: Cursors;
  /** Log of levels that all pods share; absent without Redis. Closed with the hub. */
  readonly shared?: SharedLog | undefined;
  /** Current snapshot of a pending trace by one of its hashes in hex; without it there is no pending level. */
  readonly findPending?: PresentTracesDependencies['findPending'];
  /** Snapshot of a trace in the signed blocks that this process reads, by its key in hex. */
  readonly findConfirmed?: PresentTracesDependencies['findConfirmed'];
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
  /** Reports whether a connection is open, or was cut a short time ago. */
  readonly isWatched: () => boolean;
  /** Reports whether this pod has to do a piece of work that one pod does for all. */
  readonly claim: (work: string) => Promise<boolean>;
  /** Log that changes below `finalized` go through. */
  readonly levels: () => FeedStatus;
};

/** Close of a connection after a bug. */
const internalError = { code: 1011, reason: 'internal error' } as const;

/** Distributes changes to the connections of this process (service/streaming/README.md#order). */
export function createHub(options: HubOptions, dependencies: HubDependencies): WatchedHub {
  const { settings = () => streamingDefaults, levelsBytesMax: bytesMax } = options;
  const shortMs = (): number => settings().replay.shortMs;
  const { log, labels, cursors, clock, logger, register, random = Math.random } = dependencies;
  const { findPending = async () => undefined, findConfirmed = async () => undefined } = dependencies;
  const ending = new AbortController();
  const { signal } = ending;
  const connections = new Map<number, ConnectionAtHub>();
  const subscribers = () => connections.values().map(({ subscriber }) => subscriber);
  const absent = createAbsentConnections({ nowMs: clock.nowMs, absentMs: shortMs });
  function watches(keys: WatchedKeys, takes: (to: Subscriber) => boolean): boolean {
    absent.sweep();
    return isWatched(watchers, keys, takes);
  }
  const levels = createLevelsLog({ epoch: randomInt(1, EPOCHS_END), bytesMax, shortMs, nowMs: clock.nowMs });
  const names = createSnapshotNames({ levels });
  const watchers = createWatchers();
  let queueBytes = 0;
  const metrics = createHubMetrics(register, {
    queueBytes: () => queueBytes,
    keys: () => watchers.accounts.size() + watchers.traces.size(),
    levelsBytes: levels.bytes,
    levelsRecords: levels.size,
    absent: absent.size,
  });
  const past = createPast({ log, logger, random, unixMs: clock.unixMs });
  const onFault = (to: Subscriber, error: unknown): void => {
    logger.error({ err: error }, 'a connection did not get an event');
    to.end(internalError.code, internalError.reason);
  };
  const distribution = createDistribution({ watchers, labels, levels, signal, onFault });
  /** Admits one change at a time. No subscription begins during it. */
  const turns = createSemaphore(1);
  const publishing = createPublishing({
    log,
    levels,
    names,
    distribution,
    turns,
    signal,
    metrics,
    nowMs: clock.nowMs,
    takesLevels: (keys) => watches(keys, (to) => takesConfirmed(to)),
    isWatched: (keys) => isWatched(watchers, keys, () => true),
    sharePart: (part) => feed.sharePart(part),
    onFault(error) {
      for (const to of subscribers()) onFault(to, error);
    },
  });
  const { livePosition } = publishing;
  const find = (number: number): Subscriber | undefined => connections.get(number)?.subscriber ?? absent.find(number);
  const formers = createFormers({ levels, find });
  const feed = createLevelsFeed({
    shared: dependencies.shared,
    levels,
    names,
    publishing,
    restart: (beginning, isLost) =>
      turns.run(signal, async () => {
        for (const to of subscribers()) if (isLost && takesConfirmed(to)) to.endSlow();
        for (const to of subscribers()) to.leaveLevels();
        levels.restart(beginning, publishing.ended.endOf);
        for (const some of [subscribers(), absent.all()]) for (const to of some) to.enterLevels(levels.mark());
      }),
    answer: formers.answer,
    metrics: createLevelsMetrics(register),
    logger,
    nowMs: clock.nowMs,
    random,
  });
  const hasWatchers = (): boolean => connections.size > 0 || absent.size() > 0;
  const cursorOf = (to: Subscriber, { position, mark }: Place): string => {
    const place = takesConfirmed(to) ? { epoch: levels.epoch(), mark } : undefined;
    return cursors.write({ position, connection: to.number, levels: place });
  };

  function onQueueBytes(change: number): void {
    queueBytes += change;
    if (change > 0 && queueBytes > settings().queue.bytesPerPod) longest(subscribers())?.endSlow();
  }

  const shared = {
    nowMs: clock.nowMs,
    settings,
    livePosition,
    levels,
    feed,
    formers,
    endsFrom: publishing.ended.from,
    states: publishing.states,
    cursorOf,
    onQueueBytes,
    onSent: ({ type, finality }: Sending) => metrics.sent(type, finality),
    onSlow: metrics.slow,
    onTrace: (key: string, one: Subscriber, isKnown: boolean) =>
      isKnown ? watchers.shown.add(key, one) : watchers.shown.remove(key, one),
    onClose({ number }: Subscriber): void {
      const connection = connections.get(number);
      connections.delete(number);
      connection?.stop();
      if (signal.aborted) connection?.forget();
      else if (connection !== undefined) absent.add(connection);
    },
    log,
    past,
    watchers,
    distribution,
    metrics,
    present: createPresentTraces({ levels, past, findPending, findConfirmed }),
    readCursor: cursors.read,
    connectionBy: (other: number) => connections.get(other)?.subscriber,
    between: <T>(work: () => T) => turns.run(signal, async () => work()),
  };

  return {
    open(sink, { keyId }) {
      if (!hasWatchers()) publishing.ended.miss();
      const number = randomInt(1, CONNECTIONS_END - 1);
      const connection = new ConnectionAtHub(new Subscriber({ keyId, number, sink }, shared), shared);
      connections.set(number, connection);
      return connection;
    },
    publish: (changes) => (changes.some(isFinalChange) ? publishing.publish(changes) : feed.publish(changes)),
    watchesPending: (keys) => watches(keys, takesPending),
    watchesConfirmed: (keys) => watches(keys, (to) => takesConfirmed(to)),
    wantsConfirmed: (type) => [subscribers(), absent.all()].some((some) => some.some((to) => takesConfirmed(to, type))),
    isWatched: hasWatchers,
    claim: feed.claim,
    levels: feed.status,
    status: () => ({ connections: connections.size, queueBytes }),
    async close() {
      await feed.close();
      ending.abort(new Error('the hub is closed'));
      for (const subscriber of subscribers()) subscriber.close();
      absent.clear();
    },
  };
}

function takesPending(to: Subscriber): boolean {
  return [to.viewer()?.wish, to.upcoming].some((wish) => wish?.minFinality === 'pending');
}

function takesConfirmed(to: Subscriber, type?: EventType): boolean {
  return [to.viewer()?.wish, to.upcoming].some(
    (wish) => wish !== undefined && wish.minFinality !== 'finalized' && (type === undefined || wish.types.has(type)),
  );
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

function longest(subscribers: Iterable<Subscriber>): Subscriber | undefined {
  let most: Subscriber | undefined;
  for (const one of subscribers) if (most === undefined || one.bytes() > most.bytes()) most = one;
  return most;
}
