import { randomUUID } from 'node:crypto';

import type { Logger } from 'pino';

import type { SharedParts } from '../limits.ts';
import type { RedisMetrics } from '../metrics.ts';
import type { OnRedisFailure } from '../options.ts';
import { createSharedBudgets } from './shared-budgets.ts';
import { createSharedUsage } from './shared-usage.ts';
import { createStore, type StoreDependencies } from './store.ts';

export type SharedLimitsOptions = {
  /** As `redisUrlProblem` has it; a secret. */
  readonly url: string;
  /** Scope of the TonApi, as `scopeOf` makes it. */
  readonly api: string;
  readonly onRedisFailure: OnRedisFailure;
};

export type SharedLimitsDependencies = Pick<StoreDependencies, 'inKeyring'> & {
  readonly logger: Logger;
  readonly metrics: RedisMetrics;
  readonly now: () => number;
};

export type SharedLimits = SharedParts & {
  /** Goes on with another URL, as when a password has changed. */
  readonly setUrl: (url: string) => void;
};

/** Limits in a Redis that all pods of an API share. Works from the start on, by `onRedisFailure` until Redis answers. */
export function createSharedLimits(
  { url, api, onRedisFailure }: SharedLimitsOptions,
  dependencies: SharedLimitsDependencies,
): SharedLimits {
  const { logger, metrics, inKeyring } = dependencies;
  const pod = randomUUID();
  const store = createStore({ url, api, pod }, { logger, metrics, random: Math.random, inKeyring });
  const nowUs = (): number => Math.floor(dependencies.now() * 1000);
  const budgets = createSharedBudgets({ api, pod, onRedisFailure }, { store, metrics, nowUs });
  return {
    budgets,
    usage: createSharedUsage({ api, pod }, store, metrics),
    isRevoked: store.isRevoked,
    setOnRedisFailure: budgets.setOnRedisFailure,
    setUrl: store.setUrl,
    async close() {
      budgets.close();
      await store.close();
    },
  };
}
