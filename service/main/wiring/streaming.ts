import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import type { ServiceConfig } from '#service/config.ts';
import { parseJson } from '#service/http/json-body.ts';
import type { Detector } from '#service/interfaces/detector.ts';
import { createBlockFinder } from '#service/live/blocks/block-finder.ts';
import { createLiveBlockFiles } from '#service/live/blocks/block-files.ts';
import { createLiveSignedBlocks } from '#service/live/blocks/signed-blocks.ts';
import type { RedisServer } from '#service/limits/redis/connection.ts';
import type { SharedLimits } from '#service/limits/redis/shared-limits.ts';
import type { Pending } from '#service/pending/pending.ts';
import { listenToClassified } from '#service/streaming/final/classified-news.ts';
import { createRealActions } from '#service/pending/real-actions.ts';
import { createTails } from '#service/pending/tails.ts';
import type { Pool } from '#service/pool/pool.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import type { Store } from '#service/store/store.ts';
import { createConnectionLimits } from '#service/streaming/connection-limits.ts';
import { finalities } from '#service/streaming/changes.ts';
import { createConfirmedJettons } from '#service/streaming/confirmed/confirmed-jettons.ts';
import { createConfirmedSnapshots } from '#service/streaming/confirmed/confirmed-snapshots.ts';
import { createConfirmedSource, type ConfirmedSource } from '#service/streaming/confirmed/confirmed-source.ts';
import { correctionsOf } from '#service/streaming/confirmed/corrections.ts';
import { createFinalSource, type FinalSource } from '#service/streaming/final/final-source.ts';
import type { FeedStatus } from '#service/streaming/levels/levels-feed.ts';
import { createHub, type WatchedHub } from '#service/streaming/hub.ts';
import { createLagMetrics, type LagMetrics } from '#service/streaming/lag-metrics.ts';
import { createPendingSnapshots, type PendingSnapshots } from '#service/streaming/pending/pending-snapshots.ts';
import { createTailSnapshots } from '#service/streaming/pending/tail-snapshots.ts';
import { createTailCounter, createTailSource } from '#service/streaming/pending/tail-source.ts';
import { createPendingSource } from '#service/streaming/pending/pending-source.ts';
import { createCursors } from '#service/streaming/request/cursor.ts';
import type { StreamSettings } from '#service/config/streaming.ts';
import { createStreaming, type ComponentHealth, type Streaming } from '#service/streaming/streaming.ts';
import type { ActionNetwork } from '#service/v3/action-details/action-derived.ts';
import type { AnswerAnnotations } from '#service/v3/annotations/answer-annotations.ts';
import type { Live } from './live.ts';
import { connectSharedLevels } from './shared-levels.ts';

/** Parts of the index that streams read. */
export type StreamedIndex = {
  readonly store: Store;
  readonly notes: AnswerAnnotations;
  readonly pending: Pending;
};

export type StreamingParts = {
  /** Absent without v3. */
  readonly index: StreamedIndex | undefined;
  readonly pool: Pool;
  readonly live: Pick<Live, 'worlds'>;
  readonly detector: Detector;
  readonly shared: SharedLimits | undefined;
  /** The Redis that pods share; undefined without one. */
  readonly redis: RedisServer | undefined;
  readonly logger: Logger;
  readonly register: Registry;
};

/** Streams with what feeds them. */
export type StreamingService = {
  readonly streaming: Streaming;
  /** Takes over a changed Redis. */
  readonly setRedis: (server: RedisServer) => void;
  /** Takes over changed settings. Open connections stay. */
  readonly reconfigure: (settings: StreamSettings) => void;
  /** Ends the sources, after all connections. */
  readonly close: () => Promise<void>;
};

/** Milliseconds without an answer of the index after which the source is not healthy. */
const SILENT_MS_MAX = 15_000;

/** Queries in the background have the time of a request. */
const QUERY_MS = 3000;

/** Creates streams from the index to their callers; undefined when streams are not served. */
export function startStreaming(
  config: Pick<ServiceConfig, 'name' | 'namespace' | 'surfaces' | 'streaming' | 'plans' | 'network' | 'anchors'>,
  { index, pool, live, detector, shared, redis, logger, register }: StreamingParts,
): StreamingService | undefined {
  if (!config.surfaces.includes('stream') || index === undefined) return undefined;
  const network = { testOnly: config.network === 'testnet' };
  const cursors = createCursors(config.anchors.zeroState.rootHash.toString('hex'));
  let settings: StreamSettings = config.streaming;
  const source: FinalSource = createFinalSource(
    { windowS: () => Math.floor(settings.replay.finalMs / 1000) },
    {
      ...index,
      network,
      listen: (onClassified) =>
        listenToClassified({ store: index.store, onClassified, logger, random: Math.random, unixMs: Date.now }),
      async onChanges(changes) {
        await hub.publish(changes);
        begun.note(changes);
      },
      isWanted: () => hub.isWatched(),
      logger,
      register,
      random: Math.random,
      unixMs: Date.now,
      clock: nowMs,
    },
  );
  const reader: StoreReader = { read: (sql, values) => index.store.read(sql, values, { timeoutMs: QUERY_MS }) };
  const snapshots = createPendingSnapshots({ pending: index.pending, network, logger });
  const shortMs = (): number => settings.replay.shortMs;
  const levels = redis && connectSharedLevels(config, redis, { shortMs, logger });
  const findConfirmed: ConfirmedSource['find'] = (key, signal) => confirmed.find(key, signal);
  const found = { log: source, labels: source.labels, shared: levels?.log, findPending: snapshots.find, findConfirmed };
  const hub: WatchedHub = createHub({ settings: () => settings }, { ...found, cursors, clock, logger, register });
  const lag = createLagMetrics(register);
  const simulated = createPendingSource({ ...index, snapshots, hub, unixMs: Date.now, logger, onLag: lag.pending });
  const begun = createTailSource({
    snapshotOf: createTailSnapshots({ tails: createTails({ ...live, detector, now: nowMs }), reader, network }),
    findPending: snapshots.find,
    hub,
    counted: createTailCounter(register),
    logger,
  });
  const confirmed: ConfirmedSource = startConfirmed(
    { reader, isOn: () => settings.confirmed === 'Auto' },
    { pool, live, detector, snapshots, hub, network, logger, lag },
  );
  const streaming = createStreaming(
    { connectionsMax: config.streaming.maxConnectionsPerPod, plans: config.plans.map(({ name }) => name) },
    {
      hub,
      cursors,
      connectionLimits: createConnectionLimits(shared?.connections),
      parseJson,
      components: () => ({ ...componentsOf(source, confirmed, settings.confirmed), log: healthOf(hub.levels()) }),
      clock,
      random: Math.random,
      logger,
      register,
    },
  );
  return {
    streaming,
    setRedis: (server) => levels?.setRedis(server),
    reconfigure: (next) => void (settings = next),
    async close() {
      await Promise.all([source.close(), simulated.close(), begun.close(), confirmed.close()]);
      await hub.close();
    },
  };
}

type ConfirmedParts = Pick<StreamingParts, 'pool' | 'live' | 'detector' | 'logger'> & {
  readonly lag: LagMetrics;
  readonly snapshots: Pick<PendingSnapshots, 'find'>;
  readonly hub: WatchedHub;
  readonly network: ActionNetwork;
};

/** Starts the source of the level `confirmed`. */
function startConfirmed(
  { reader, isOn }: { readonly reader: StoreReader; readonly isOn: () => boolean },
  { pool, live, detector, snapshots, hub, network, logger, lag }: ConfirmedParts,
): ConfirmedSource {
  const actions = createRealActions({ worlds: live.worlds, detector, now: nowMs });
  return createConfirmedSource(
    { isOn },
    {
      files: createLiveBlockFiles({ pool, finder: createBlockFinder({ pool }) }),
      signed: createLiveSignedBlocks({ pool }),
      snapshots: createConfirmedSnapshots({ actions, network, logger }),
      corrections: (accounts) => correctionsOf(accounts, reader),
      jettons: createConfirmedJettons({ reader, hub, logger }),
      findPending: snapshots.find,
      hub,
      onLag: lag.confirmed,
      nowMs,
      logger,
    },
  );
}

const nowMs = (): number => performance.now();

const clock = { nowMs, unixMs: Date.now };

/** Final events do not need the log, so its loss is no fault of the whole. */
function healthOf(levels: FeedStatus): ComponentHealth {
  if (levels !== 'away') return { ok: true, shared: levels === 'shared' };
  return { ok: true, shared: false, error: 'Redis does not answer: levels below finalized are those of this process' };
}

/** Health of what streams depend on. Simulated traces come from this service, so they have no part of their own. */
function componentsOf(
  source: FinalSource,
  confirmed: ConfirmedSource,
  setting: StreamSettings['confirmed'],
): Readonly<Record<string, ComponentHealth>> {
  const { newestSeqno, seenMs, troubles } = source.status();
  const ageMs = seenMs === null ? undefined : Date.now() - seenMs;
  const isFollowing = newestSeqno !== null && ageMs !== undefined && ageMs <= SILENT_MS_MAX;
  const age = ageMs === undefined ? {} : { age_seconds: Math.round(ageMs / 1000) };
  const [trouble] = troubles;
  // Streams read blocks that are classified, so their source and the classifier are late together.
  const newest = {
    ok: isFollowing,
    ...age,
    ...(!isFollowing && { error: 'no classified block was read' }),
    mc_seqno: newestSeqno,
  };
  return {
    classifier: newest,
    source: {
      ...newest,
      levels: confirmed.isAvailable() === true ? finalities : finalities.filter((level) => level !== 'confirmed'),
      confirmed: setting,
    },
    store: { ok: trouble === undefined, ...(trouble !== undefined && { error: 'the index cannot be read' }) },
  };
}
