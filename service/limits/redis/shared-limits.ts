import { randomUUID } from 'node:crypto';

import type { Logger } from 'pino';

import type { SharedParts } from '../limits.ts';
import type { RedisMetrics } from '../metrics.ts';
import type { OnRedisFailure } from '../options.ts';
import type { RedisServer } from './connection.ts';
import { createConnectionLeases, type ConnectionLeases } from './connection-leases.ts';
import { createSharedBudgets } from './shared-budgets.ts';
import { createSharedUsage } from './shared-usage.ts';
import { createRedisSession, type RedisSessionDependencies } from './redis-session.ts';

export type SharedLimitsOptions = RedisServer & {
  /** Scope of the TonApi, as `scopeOf` makes it. */
  readonly api: string;
  readonly onRedisFailure: OnRedisFailure;
};

export type SharedLimitsDependencies = Pick<RedisSessionDependencies, 'inKeyring'> & {
  readonly logger: Logger;
  readonly metrics: RedisMetrics;
  readonly now: () => number;
};

export type SharedLimits = SharedParts & {
  /** Places of streams. */
  readonly connections: ConnectionLeases;
  /** Switches to another server, for example after a change of password or authority. */
  readonly setServer: (server: RedisServer) => void;
};

/** Limits in a Redis shared by all pods of an API. They work from the start: `onRedisFailure` applies until Redis answers. */
export function createSharedLimits(
  { api, onRedisFailure, ...server }: SharedLimitsOptions,
  dependencies: SharedLimitsDependencies,
): SharedLimits {
  let rule = onRedisFailure;
  const { logger, metrics, inKeyring } = dependencies;
  const pod = randomUUID();
  const store = createRedisSession({ ...server, api, pod }, { logger, metrics, random: Math.random, inKeyring });
  const nowUs = (): number => Math.floor(dependencies.now() * 1000);
  const budgets = createSharedBudgets({ api, pod, onRedisFailure }, { store, metrics, nowUs });
  return {
    budgets,
    usage: createSharedUsage({ api, pod }, store, metrics),
    isRevoked: store.isRevoked,
    connections: createConnectionLeases({ api, rule: () => rule }, { store, metrics }),
    setOnRedisFailure(changed) {
      rule = changed;
      budgets.setOnRedisFailure(changed);
    },
    setServer: store.setServer,
    async close() {
      budgets.close();
      await store.close();
    },
  };
}
