import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import { canonicalHash, hotConfig, type ServiceConfig } from '../config.ts';
import type { HttpServer } from '../http/server.ts';
import type { Limits } from '../limits/limits.ts';
import { connectRedis, isClusterUrl } from '../limits/redis/connection.ts';
import type { SharedLimits } from '../limits/redis/shared-limits.ts';
import type { Pool } from '../pool/pool.ts';
import { setLogLevel } from '../telemetry/logger.ts';
import type { Tracing } from '../telemetry/tracer.ts';
import type { Ledger } from './ledger.ts';
import { createHotReload, hotReloadPollMs, type HotReload, type Loaded } from './hot-reload.ts';

/** Where a configuration came from; the URLs are secrets. Without one of Redis limits are of this process alone, without one of Postgres there is no index. */
export type ConfigurationSource = Partial<Omit<Loaded, 'config' | 'hash'>> & {
  /** What is told of the configuration until its files change; default: the hash of its hot part. */
  readonly configHash?: string;
  /** What the configuration was read from, to be followed while the process runs. */
  readonly source?: { readonly files: readonly string[]; readonly load: () => Loaded };
};

/** The parts that take a change while they run. */
export type HotParts = {
  readonly limits: Limits;
  readonly shared: SharedLimits | undefined;
  readonly pool: Pool;
  readonly http: HttpServer;
  readonly tracing: Tracing;
  readonly ledger: Pick<Ledger, 'setUrls'> | undefined;
};

/** Follows the files of the configuration of a running API. */
export function followConfiguration(
  config: ServiceConfig,
  origin: ConfigurationSource,
  parts: HotParts,
  { logger, register }: { readonly logger: Logger; readonly register: Registry },
): HotReload {
  const { source } = origin;
  const start = loadedFrom(config, origin);
  return createHotReload(
    start,
    { files: source?.files ?? [], pollMs: hotReloadPollMs, unread: unreadByApi },
    {
      load: source?.load ?? (() => start),
      apply: (next, before) => putInForce(next, before, parts, logger),
      logger,
      register,
    },
  );
}

/** Fields that are the indexer's alone. */
const unreadByApi = ['indexer'];

/** What was read at the start. */
export function loadedFrom(config: ServiceConfig, origin: ConfigurationSource): Loaded {
  const { configHash, redisUrl, postgresUrl, postgresReplicaUrl } = origin;
  return { config, hash: configHash ?? canonicalHash(hotConfig(config)), redisUrl, postgresUrl, postgresReplicaUrl };
}

/** Pods must not come back to a Redis all at once. */
export const redisRetryMs = (): number => 100 + Math.random() * 200;

/** Puts what is hot of a configuration in force. Throws LimitsError when a key names a plan that it does not have; then nothing has changed. */
function putInForce(
  next: Loaded,
  before: Loaded,
  { limits, shared, pool, http, tracing, ledger }: HotParts,
  logger: Logger,
): void {
  const hot = hotConfig(next.config);
  limits.setPlans(hot);
  limits.setOnRedisFailure(hot.onRedisFailure);
  if (next.redisUrl !== undefined && next.redisUrl !== before.redisUrl) {
    shared?.setUrl(next.redisUrl);
    const { redisUrl: url } = next;
    if (!isClusterUrl(url)) pool.setSharedConnect(() => connectRedis({ url, retryMs: redisRetryMs }));
  }
  ledger?.setUrls(next, before);
  pool.reconfigure(hot.liteServers);
  http.setTrustedProxies(hot.trustedProxies);
  if (hot.sampleRatio !== null) tracing.setSampleRatio(hot.sampleRatio);
  setLogLevel(logger, hot.logLevel);
}
