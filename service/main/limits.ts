import type { ServiceConfig } from '../config.ts';
import { scopeOf } from '../config/scope.ts';
import { createKeyring, KEYRING_POLL_MS, type Keyring } from '../limits/keyring.ts';
import { createLimits, type Limits } from '../limits/limits.ts';
import { createRedisMetrics } from '../limits/metrics.ts';
import { createSharedLimits, type SharedLimits } from '../limits/redis/shared-limits.ts';
import type { ApiDependencies, ApiOptions } from './api.ts';

export type LimitsParts = {
  readonly keyring: Keyring;
  readonly limits: Limits;
  readonly shared: SharedLimits | undefined;
};

/** Next to the sources, or next to the bundle. */
const keyringWorkerPath = import.meta.url.endsWith('.ts') ? '../limits/keyring-worker.ts' : './keyring-worker.js';
const keyringWorkerUrl = new URL(keyringWorkerPath, import.meta.url);

/** Creates the limits with their keys. */
export function startLimits(config: ServiceConfig, options: ApiOptions, dependencies: ApiDependencies): LimitsParts {
  const { logger, register } = dependencies;
  const keyring = createKeyring(
    {
      file: config.keyringFile ?? undefined,
      rows: options.keys ?? [],
      plans: new Set(config.plans.map(({ name }) => name)),
      pollMs: KEYRING_POLL_MS,
      workerUrl: keyringWorkerUrl,
    },
    { logger, register },
  );
  const shared = sharedLimits(config, options, keyring, dependencies);
  const limits = createLimits(
    { plans: config.plans, anonymousPlan: config.anonymousPlan, network: config.network, keyHint: options.keyHint },
    { keyring, now: unixMs, register, ...(shared && { shared }) },
  );
  return { keyring, limits, shared };
}

/** Unix time that no step of the system's clock moves back. */
const unixMs = (): number => performance.timeOrigin + performance.now();

/** Creates limits shared by all pods when a Redis is named. Without Redis each process has its own limits. */
function sharedLimits(
  config: ServiceConfig,
  { redisUrl: url, redisCa: ca }: ApiOptions,
  keyring: Keyring,
  { logger, register }: ApiDependencies,
): SharedLimits | undefined {
  const metrics = createRedisMetrics(register);
  if (url === undefined) {
    if (config.rateLimits.redis !== null) logger.warn('no URL of the Redis for limits: this process has its own');
    return undefined;
  }
  const { onRedisFailure } = config.rateLimits;
  const parts = { logger, metrics, now: unixMs, inKeyring: (id: string) => keyring.has(id) };
  return createSharedLimits({ url, ca, api: scopeOf(config), onRedisFailure }, parts);
}
