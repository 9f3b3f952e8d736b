import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import type { ServiceConfig } from '#service/config.ts';
import { parseJson } from '#service/http/json-body.ts';
import type { SharedLimits } from '#service/limits/redis/shared-limits.ts';
import type { Pending } from '#service/pending/pending.ts';
import { listenToClassified } from '#service/streaming/final/classified-news.ts';
import type { Store } from '#service/store/store.ts';
import { createConnectionLimits } from '#service/streaming/connection-limits.ts';
import { createFinalSource, type FinalSource } from '#service/streaming/final/final-source.ts';
import { createHub, type WatchedHub } from '#service/streaming/hub.ts';
import { createPendingSnapshots } from '#service/streaming/pending/pending-snapshots.ts';
import { createPendingLag, createPendingSource } from '#service/streaming/pending/pending-source.ts';
import { createCursors } from '#service/streaming/request/cursor.ts';
import { createStreaming, type ComponentHealth, type Streaming } from '#service/streaming/streaming.ts';
import type { AnswerAnnotations } from '#service/v3/annotations/answer-annotations.ts';

/** Parts of the index that streams read. */
export type StreamedIndex = {
  readonly store: Store;
  readonly notes: AnswerAnnotations;
  readonly pending: Pending;
};

export type StreamingParts = {
  /** Absent without v3. */
  readonly index: StreamedIndex | undefined;
  readonly shared: SharedLimits | undefined;
  readonly logger: Logger;
  readonly register: Registry;
};

/** Streams with what feeds them. */
export type StreamingService = {
  readonly streaming: Streaming;
  /** Ends the sources, after all connections. */
  readonly close: () => Promise<void>;
};

/** Milliseconds without an answer of the index after which the source is not healthy. */
const SILENT_MS_MAX = 15_000;

/** Creates streams from the index to their callers; undefined when streams are not served. */
export function startStreaming(
  config: Pick<ServiceConfig, 'surfaces' | 'streaming' | 'network' | 'anchors'>,
  { index, shared, logger, register }: StreamingParts,
): StreamingService | undefined {
  if (!config.surfaces.includes('stream') || index === undefined) return undefined;
  const network = { testOnly: config.network === 'testnet' };
  const cursors = createCursors(config.anchors.zeroState.rootHash.toString('hex'));
  const source: FinalSource = createFinalSource(
    {},
    {
      ...index,
      network,
      listen: (onClassified) =>
        listenToClassified({ store: index.store, onClassified, logger, random: Math.random, unixMs: Date.now }),
      onChanges: (changes) => hub.publish(changes),
      isWanted: () => hub.status().connections > 0,
      logger,
      register,
      random: Math.random,
      unixMs: Date.now,
      clock: nowMs,
    },
  );
  const snapshots = createPendingSnapshots({ pending: index.pending, network, logger });
  const hub: WatchedHub = createHub(
    {},
    { log: source, labels: source.labels, cursors, findPending: snapshots.find, clock, logger, register },
  );
  const lag = createPendingLag(register);
  const simulated = createPendingSource({ ...index, snapshots, hub, unixMs: Date.now, logger, lag });
  const streaming = createStreaming(
    { connectionsMax: config.streaming.maxConnectionsPerPod },
    {
      hub,
      cursors,
      connectionLimits: createConnectionLimits(shared?.connections),
      parseJson,
      components: () => componentsOf(source),
      clock,
      random: Math.random,
      logger,
      register,
    },
  );
  return {
    streaming,
    async close() {
      await Promise.all([source.close(), simulated.close()]);
      await hub.close();
    },
  };
}

const nowMs = (): number => performance.now();

const clock = { nowMs, unixMs: Date.now };

/** Health of what streams depend on. Simulated traces come from this service, so they have no part of their own. */
function componentsOf(source: FinalSource): Readonly<Record<string, ComponentHealth>> {
  const { newestSeqno, seenMs, troubles } = source.status();
  const ageMs = seenMs === null ? undefined : Date.now() - seenMs;
  const isFollowing = newestSeqno !== null && ageMs !== undefined && ageMs <= SILENT_MS_MAX;
  const age = ageMs === undefined ? {} : { age_seconds: Math.round(ageMs / 1000) };
  const [trouble] = troubles;
  return {
    source: {
      ok: isFollowing,
      ...age,
      ...(!isFollowing && { error: 'no classified block was read' }),
      mc_seqno: newestSeqno,
      levels: ['pending', 'finalized'],
    },
    store: { ok: trouble === undefined, ...(trouble !== undefined && { error: 'the index cannot be read' }) },
  };
}
