import type { Tracer } from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import type { ServiceConfig } from '#service/config.ts';
import type { EmulateIndex } from '#service/emulate/views/annotations.ts';
import type { Detector } from '#service/interfaces/detector.ts';
import type { RedisServer } from '#service/limits/redis/connection.ts';
import type { Pool } from '#service/pool/pool.ts';
import type { OnSent } from '#service/live/send/send.ts';
import { StoreError } from '#service/store/errors.ts';
import { areInterpreted } from '#service/store/interpretations.ts';
import type { Store } from '#service/store/store.ts';
import type { TokenName } from '#service/store/token-content.ts';
import {
  createMetadataQueue,
  type MetadataQueue,
  type MetadataQueueDependencies,
} from '#service/v3/annotations/metadata-queue.ts';
import { cacheBytesOf, cachePartOf } from '#service/v3/cache-bytes.ts';
import { createCacheMetrics } from '#service/v3/metrics.ts';
import { createStoreReader } from '#service/v3/request/store-reader.ts';
import { createV3, type V3 } from '#service/v3/v3.ts';
import { processMemoryBytes } from '../configuration/process-memory.ts';
import { setApiGcFlags } from '../v8-flags.ts';
import { startIndexWriter } from './index-writer.ts';
import { watchIndex, type IndexWatch } from './index-watch.ts';
import type { Live } from './live.ts';
import { linkTo, startPending } from './pending.ts';
import type { IndexStatus } from '../status/status.ts';
import { redisServerOf, type RedisParts } from './redis.ts';
import type { StreamedIndex } from './streaming.ts';
import { openStore, takeUrls, type PostgresUrls } from './store.ts';
import { v3Families } from './v3-families.ts';

/** Index of an API: read for v3, and also written when the options say so. */
export type IndexService = {
  readonly v3: V3;
  /** Names and tokens of accounts. */
  readonly annotations: EmulateIndex;
  /** Parts that streams read. */
  readonly streamed: StreamedIndex;
  /** Reason why the process must not be ready; undefined when it may be. */
  unreadable(): string | undefined;
  status(): IndexStatus;
  /** True if the masterchain blocks from one seqno to another are indexed, with their tokens and actions. */
  hasWhole(from: number, to: number): Promise<boolean>;
  /** Takes over changed URLs of Postgres. */
  setUrls(next: PostgresUrls, before: PostgresUrls): void;
  /** Takes over a changed Redis. */
  setRedis(server: RedisServer): void;
  /** Watches a message that was sent, until it is indexed. */
  readonly onSent: OnSent;
  close(): Promise<void>;
};

export type IndexServiceOptions = PostgresUrls &
  RedisParts & {
    /** The process writes the index too, as on a laptop. In a cluster other processes do. */
    readonly writesIndex?: boolean;
    /** Part of the usual bytes of caches, above 0 to 1; default: by the memory of the process. */
    readonly cachePart?: number;
    /** Folder of a node's archive packages. The past is read from it first. */
    readonly archiveFolder?: string | undefined;
  };

export type IndexServiceDependencies = {
  readonly pool: Pool;
  readonly live: Live;
  readonly detector: Detector;
  readonly logger: Logger;
  readonly register: Registry;
  readonly tracer: Tracer;
};

/** @throws StartError `postgres_missing` */
export function openIndexService(
  config: ServiceConfig,
  options: IndexServiceOptions,
  dependencies: IndexServiceDependencies,
): IndexService {
  // On a laptop memory counts for more than the last milliseconds of long pages.
  if (options.writesIndex !== true) setApiGcFlags();
  const store = openStore(config, options, dependencies);
  const {
    pool,
    register,
    live: { worlds },
    detector,
  } = dependencies;
  const writer =
    options.writesIndex === true
      ? startIndexWriter(config, options, { ...dependencies, worlds, detector, store })
      : undefined;
  const watch = watchIndex({ network: config.anchors.zeroState }, { ...dependencies, store });
  const pending = startPending(config, redisServerOf(options), { ...dependencies, detector, store });
  const tokens = startMetadataQueue(config, { ...dependencies, store });
  const wanted = tokens && ((names: readonly TokenName[]) => tokens.want(names));
  const cacheBytes = cacheBytesOf(options.cachePart ?? cachePartOf(processMemoryBytes()));
  const metrics = createCacheMetrics(register);
  const { operations, notes } = v3Families({ network: config.network, cacheBytes }, dependencies.live, pending, {
    wanted,
    clock,
    register,
    metrics,
    random: Math.random,
  });
  const reading = { store: onceChecked(store, watch), nowMs: clock, headUtime: () => pool.head()?.utime };
  return {
    v3: createV3(operations, { ...reading, register, cacheMetrics: metrics, answerBytesMax: cacheBytes.answers }),
    annotations: { notes, readerOf: (request) => createStoreReader(request, reading) },
    streamed: { store, notes, pending },
    unreadable: () => watch.reason(),
    status: () => writer?.status() ?? { text: watch.text() },
    hasWhole: async (from, to) => (writer?.status().headSeqno ?? 0) >= to && (await areInterpreted(store, from, to)),
    setUrls: (next, before) => takeUrls(store, next, before),
    setRedis: (server) => pending.setLink(linkTo(server, dependencies.logger)),
    onSent: (message, sender) => pending.note(message, sender),
    async close() {
      watch.close();
      await pending.close();
      await tokens?.close();
      await writer?.close();
      await store.close();
    },
  };
}

/** Reads only tables that fit. Tables of another network or version would give wrong answers. */
function onceChecked(store: Store, watch: IndexWatch): Pick<Store, 'read'> {
  return {
    async read(sql, values, options) {
      if (!watch.fits()) throw new StoreError('store_unavailable', 'the tables of the index are not checked yet');
      return store.read(sql, values, options);
    },
  };
}

const clock = (): number => performance.now();

/** Undefined when no process fetches off-chain metadata of tokens. */
function startMetadataQueue(
  { tokenMetadata }: ServiceConfig,
  dependencies: Pick<MetadataQueueDependencies, 'store' | 'logger'>,
): MetadataQueue | undefined {
  return tokenMetadata === null ? undefined : createMetadataQueue({ ...dependencies, clock });
}
