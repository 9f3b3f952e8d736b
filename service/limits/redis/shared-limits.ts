import { randomUUID } from 'node:crypto';

import type { Logger } from 'pino';

import type { SharedParts } from '../limits.ts';
import type { RedisMetrics } from '../metrics.ts';
import { createSharedBudgets, type OnRedisFailure } from './shared-budgets.ts';
import { createSharedUsage } from './shared-usage.ts';
import { createStore } from './store.ts';

export type SharedLimitsOptions = {
  /** `redis://` or `rediss://`; a secret. */
  readonly url: string;
  /** Name of the TonApi. */
  readonly api: string;
  readonly onRedisFailure: OnRedisFailure;
};

/** Limits in a Redis that all pods of an API share. Works from the start on, by `onRedisFailure` until Redis answers. */
export function createSharedLimits(
  { url, api, onRedisFailure }: SharedLimitsOptions,
  dependencies: { readonly logger: Logger; readonly metrics: RedisMetrics; readonly now: () => number },
): SharedParts {
  const { metrics } = dependencies;
  const store = createStore(
    { url, api, pod: randomUUID() },
    { logger: dependencies.logger, metrics, random: Math.random },
  );
  const nowUs = (): number => Math.floor(dependencies.now() * 1000);
  return {
    budgets: createSharedBudgets({ api, onRedisFailure }, { store, metrics, nowUs }),
    usage: createSharedUsage(api, store),
    isRevoked: (keyId) => store.isRevoked(keyId),
    close: () => store.close(),
  };
}
