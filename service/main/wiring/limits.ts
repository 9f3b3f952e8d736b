import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import type { ServiceConfig } from '#service/config.ts';
import { scopeOf } from '#service/config/scope.ts';
import { createKeyring, KEYRING_POLL_MS, type Keyring, type KeyRow } from '#service/limits/keyring.ts';
import { createLimits, type Limits } from '#service/limits/limits.ts';
import { createRedisMetrics } from '#service/limits/metrics.ts';
import { createSharedLimits, type SharedLimits } from '#service/limits/redis/shared-limits.ts';
import { workerUrl } from '../worker-url.ts';
import { warnOfUnknownOperations } from './unknown-operations.ts';
import { redisServerOf, type RedisParts } from './redis.ts';

export type LimitsOptions = RedisParts & {
  /** Keys in addition to the keyring file. */
  readonly keys?: readonly KeyRow[];
  /** Hint in a 429 for a caller without a key: how to get a key. */
  readonly keyHint?: string;
};

type LimitsDependencies = { readonly logger: Logger; readonly register: Registry };

export type LimitsParts = {
  readonly keyring: Keyring;
  readonly limits: Limits;
  readonly shared: SharedLimits | undefined;
};

/** Creates the limits with their keys. */
export function startLimits(
  config: ServiceConfig,
  options: LimitsOptions,
  dependencies: LimitsDependencies,
): LimitsParts {
  const { logger, register } = dependencies;
  const keyring = createKeyring(
    {
      file: config.keyringFile ?? undefined,
      rows: options.keys ?? [],
      plans: new Set(config.plans.map(({ name }) => name)),
      pollMs: KEYRING_POLL_MS,
      workerUrl: workerUrl('limits/keyring-worker.ts'),
    },
    { logger, register },
  );
  warnOfUnknownOperations(config, logger);
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
  options: LimitsOptions,
  keyring: Keyring,
  { logger, register }: LimitsDependencies,
): SharedLimits | undefined {
  const metrics = createRedisMetrics(register);
  const server = redisServerOf(options);
  if (server === undefined) {
    if (config.rateLimits.redis !== null) logger.warn('no URL of the Redis for limits: this process has its own');
    return undefined;
  }
  const { onRedisFailure } = config.rateLimits;
  const parts = { logger, metrics, now: unixMs, inKeyring: (id: string) => keyring.has(id) };
  return createSharedLimits({ ...server, api: scopeOf(config), onRedisFailure }, parts);
}
