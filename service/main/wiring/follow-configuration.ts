import { isDeepStrictEqual } from 'node:util';

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import { canonicalHash, hotConfig, type HotConfig, type ServiceConfig } from '#service/config.ts';
import type { HotHttpSettings, HttpServer } from '#service/http/server.ts';
import type { Limits } from '#service/limits/limits.ts';
import type { PlanOptions } from '#service/limits/options.ts';
import { connectRedis } from '#service/limits/redis/connection.ts';
import type { SharedLimits } from '#service/limits/redis/shared-limits.ts';
import type { Pool } from '#service/pool/pool.ts';
import type { Store } from '#service/store/store.ts';
import type { StreamSettings } from '#service/config/streaming.ts';
import { setLogLevel } from '#service/telemetry/logger.ts';
import type { Tracing } from '#service/telemetry/tracer.ts';
import type { IndexService } from './index-service.ts';
import {
  createHotReload,
  HOT_RELOAD_POLL_MS,
  type HotReload,
  type HotReloadDependencies,
  type Loaded,
} from '../configuration/hot-reload.ts';
import { redisServerOf } from './redis.ts';
import { takeUrls } from './store.ts';
import type { StreamingService } from './streaming.ts';
import { warnOfUnknownOperations } from './unknown-operations.ts';

/**
 * Sources of a configuration; the URLs are secrets. Without a Redis URL limits are per process. Without a Postgres URL there is no index.
 */
export type ConfigurationSource = Partial<Omit<Loaded, 'config' | 'hash'>> & {
  /** Reported hash until the configuration's files change; default: the hash of its hot part. */
  readonly configHash?: string;
  /** Source files of the configuration, followed while the process runs. */
  readonly source?: { readonly files: readonly string[]; readonly load: () => Loaded };
};

/** The parts that take a change while they run. */
export type HotParts = {
  readonly limits: Limits;
  readonly shared: SharedLimits | undefined;
  readonly pool: Pool;
  readonly http: HttpServer;
  readonly tracing: Tracing;
  readonly ledger: Pick<IndexService, 'setUrls' | 'setRedis'> | undefined;
  readonly streams: Pick<StreamingService, 'setRedis' | 'reconfigure'> | undefined;
};

/** Follows the files of the configuration of a running API. */
export function followConfiguration(
  config: ServiceConfig,
  origin: ConfigurationSource,
  parts: HotParts,
  dependencies: FollowDependencies,
): HotReload {
  const apply = (next: Loaded, before: Loaded): void => putInForce(next, before, parts, dependencies.logger);
  return follow(config, origin, { unread: unreadByApi, apply }, dependencies);
}

/** The same of a running indexer. */
export function followAsIndexer(
  config: ServiceConfig,
  origin: ConfigurationSource,
  { pool, tracing, store }: Pick<HotParts, 'pool' | 'tracing'> & { readonly store: Store },
  dependencies: FollowDependencies,
): HotReload {
  const apply = (next: Loaded, before: Loaded): void => {
    takeUrls(store, next, before);
    putChainInForce(next, { pool, tracing }, dependencies.logger);
  };
  return follow(config, origin, { unread: unreadByIndexer, apply }, dependencies);
}

/** Follows the configuration of a process that fetches off-chain metadata of tokens. Such a process reads no lite server. */
export function followAsMetadata(
  config: ServiceConfig,
  origin: ConfigurationSource,
  {
    tracing,
    store,
    setAuthorities,
  }: Pick<HotParts, 'tracing'> & {
    readonly store: Store;
    /** Sets the certificate authorities of the gateway. */
    readonly setAuthorities: (ca: string | undefined) => void;
  },
  dependencies: FollowDependencies,
): HotReload {
  const apply = (next: Loaded, before: Loaded): void => {
    takeUrls(store, next, before);
    setAuthorities(next.metadataCa);
    putTellingInForce(next, tracing, dependencies.logger);
  };
  return follow(config, origin, { unread: unreadByMetadata, apply }, dependencies);
}

type FollowDependencies = { readonly logger: Logger; readonly register: Registry };

function follow(
  config: ServiceConfig,
  origin: ConfigurationSource,
  { unread, apply }: { readonly unread: readonly string[]; readonly apply: HotReloadDependencies['apply'] },
  dependencies: FollowDependencies,
): HotReload {
  const { source } = origin;
  const start = loadedFrom(config, origin);
  return createHotReload(
    start,
    { files: source?.files ?? [], pollMs: HOT_RELOAD_POLL_MS, unread },
    { ...dependencies, load: source?.load ?? (() => start), apply },
  );
}

/** Fields that only the indexer reads, and fields that it does not read. */
const fetching = ['tokenMetadata.ipfsGateway', 'tokenMetadata.concurrency', 'tokenMetadata.concurrencyPerHost'];
const unreadByApi = ['indexer', ...fetching];
const serving = ['surfaces', 'api', 'requestTimeoutMs', 'drainSeconds', 'rateLimits.redis', 'keyringFile'];
const unreadByIndexer = [...serving, 'tokenMetadata', ...fetching];
const unreadByMetadata = [...serving, 'indexer', 'trust'];

/** Returns the configuration as loaded at the start. */
function loadedFrom(config: ServiceConfig, origin: ConfigurationSource): Loaded {
  return {
    config,
    hash: origin.configHash ?? canonicalHash(hotConfig(config)),
    redisUrl: origin.redisUrl,
    redisCa: origin.redisCa,
    redisClientCertificate: origin.redisClientCertificate,
    postgresUrl: origin.postgresUrl,
    postgresReplicaUrl: origin.postgresReplicaUrl,
    postgresCa: origin.postgresCa,
    postgresClientCertificate: origin.postgresClientCertificate,
    tracingCa: origin.tracingCa,
    metadataCa: origin.metadataCa,
  };
}

/** Pods must not come back to a Redis all at once. */
export const redisRetryMs = (): number => 100 + Math.random() * 200;

/** Hot fields that a running part takes. */
type Applied =
  | keyof PlanOptions
  | keyof HotHttpSettings
  | keyof StreamSettings
  | 'onRedisFailure'
  | 'liteServers'
  | 'sampleRatio'
  | 'logLevel';

/** A hot field that no part takes is a type error where this type is used. */
type AppliedConfig = Pick<HotConfig, Applied> & {
  readonly [Forgotten in Exclude<keyof HotConfig, Applied>]: never;
};

/** Applies the hot part of a configuration. Throws LimitsError when a key names a plan that it does not have; then nothing has changed. */
function putInForce(
  next: Loaded,
  before: Loaded,
  { limits, shared, pool, http, tracing, ledger, streams }: HotParts,
  logger: Logger,
): void {
  const hot: AppliedConfig = hotConfig(next.config);
  limits.setPlans(hot);
  warnOfUnknownOperations(hot, logger);
  limits.setOnRedisFailure(hot.onRedisFailure);
  const server = redisServerOf(next);
  if (server !== undefined && !isDeepStrictEqual(server, redisServerOf(before))) {
    shared?.setServer(server);
    pool.setSharedConnect(() => connectRedis({ ...server, retryMs: redisRetryMs }));
    ledger?.setRedis(server);
    streams?.setRedis(server);
  }
  ledger?.setUrls(next, before);
  http.reconfigure(hot);
  streams?.reconfigure(hot);
  putChainInForce(next, { pool, tracing }, logger);
}

/** Applies the settings of every process that reads lite servers. */
function putChainInForce(next: Loaded, { pool, tracing }: Pick<HotParts, 'pool' | 'tracing'>, logger: Logger): void {
  pool.reconfigure(hotConfig(next.config).liteServers);
  putTellingInForce(next, tracing, logger);
}

/** Applies the settings of every process. */
function putTellingInForce(next: Loaded, tracing: Tracing, logger: Logger): void {
  const hot = hotConfig(next.config);
  tracing.setAuthorities(next.tracingCa);
  if (hot.sampleRatio !== null) tracing.setSampleRatio(hot.sampleRatio);
  setLogLevel(logger, hot.logLevel);
}
