import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import type { ServiceConfig } from '#service/config.ts';
import { networkScopeOf } from '#service/config/scope.ts';
import { formatRawAddress } from '#service/decode/address.ts';
import type { Detector } from '#service/interfaces/detector.ts';
import { connectRedis, type RedisServer } from '#service/limits/redis/connection.ts';
import { createPending, type Pending } from '#service/pending/pending.ts';
import type { PendingLink } from '#service/pending/shared-traces.ts';
import type { Pool } from '#service/pool/pool.ts';
import { createBoundedRedis } from '#service/pool/redis/bounded-redis.ts';
import { accountOfKey } from '#service/store/account-key.ts';
import { findMasterchainEnd } from '#service/store/queries/blocks.ts';
import { findTakenMessages } from '#service/store/queries/pending.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import type { Store } from '#service/store/store.ts';
import { redisRetryMs } from './follow-configuration.ts';
import type { Live } from './live.ts';

/** A probe of Redis that takes longer reports a failure. */
const REDIS_QUICK_MS = 100;

/** Queries in the background have the time of a request. */
const QUERY_MS = 3000;

export type PendingParts = {
  readonly pool: Pool;
  readonly live: Pick<Live, 'worlds'>;
  readonly detector: Detector;
  readonly store: Pick<Store, 'read'>;
  readonly logger: Logger;
  readonly register: Registry;
};

/** Tracks sent messages ahead of the chain. The pods of an API share them through its Redis. */
export function startPending(
  config: Pick<ServiceConfig, 'name' | 'namespace' | 'anchors'>,
  redis: RedisServer | undefined,
  { pool, live, detector, store, logger, register }: PendingParts,
): Pending {
  const reader: StoreReader = { read: (sql, values) => store.read(sql, values, { timeoutMs: QUERY_MS }) };
  return createPending(
    { scope: networkScopeOf(config) },
    {
      worlds: live.worlds,
      detector,
      index: {
        findTaken: async (sent) => {
          const taken = [...(await findTakenMessages(reader, sent))];
          return new Map(taken.map(([key, one]) => [key, { ...one, accounts: one.accounts?.map(textOf) }]));
        },
        lastSeqno: async () => (await findMasterchainEnd(reader, 'last'))?.seqno ?? 0,
      },
      link: redis && linkTo(redis, logger),
      head: () => pool.head(),
      now: () => performance.now(),
      unixMs: Date.now,
      logger,
      register,
    },
  );
}

function textOf(account: Buffer): string {
  return formatRawAddress(accountOfKey(account));
}

/** A line to the Redis that pods share. @param use its purpose, for the log */
export function linkTo(server: RedisServer, logger: Logger, use = 'pending traces'): PendingLink {
  const client = connectRedis({ ...server, retryMs: redisRetryMs });
  return createBoundedRedis({ use, quickMs: REDIS_QUICK_MS }, { client, logger });
}
