import type { Logger } from 'pino';

import { connectRedis, type Connection } from '#service/limits/redis/connection.ts';
import { restoreIds, revokeIds, type RevocationConnection } from '#service/limits/redis/revocation-set.ts';

import { childNames } from '../desired/names.ts';
import { redisPort } from '../desired/mounts.ts';
import type { KubernetesClient, RequestBounds } from '../kubernetes/client.ts';
import { resources } from '../kubernetes/resources.ts';
import type { TonApi } from '../resource.ts';
import { scopeOf } from '../service-config.ts';

/** The set of revoked keys in the Redis of a TonApi: pods refuse them before the keyring's files reach them (operator sheet 5.4). */
export type Revocations = {
  /** False when Redis could not be told: the keyring alone revokes then. */
  add(tonApi: TonApi, ids: readonly string[], bounds: RequestBounds): Promise<boolean>;
  /** A key that is in force again. */
  remove(tonApi: TonApi, ids: readonly string[], bounds: RequestBounds): Promise<boolean>;
};

/** Opens a Redis by its URL. */
export type OpenRedis = (url: string) => RevocationConnection & Pick<Connection, 'disconnect' | 'once' | 'on'>;

/** A Redis that is not told within this is away. */
const tellTimeoutMs = 3000;

/** The URL is read when there is something to tell, and is nowhere in between. */
export function createRevocations(
  { client, logger }: { readonly client: KubernetesClient; readonly logger: Logger },
  open: OpenRedis = (url) => connectRedis({ url, retryMs: () => tellTimeoutMs }),
): Revocations {
  async function urlOf(tonApi: TonApi, bounds: RequestBounds): Promise<string | undefined> {
    const { namespace = '' } = tonApi.metadata;
    const { secretRef } = tonApi.spec.rateLimits.redis;
    if (secretRef === undefined) return `redis://${childNames(tonApi).redis}.${namespace}.svc:${redisPort}`;
    const secret = await client.get(resources.Secret, { namespace, name: secretRef.name }, bounds);
    const value = secret?.data?.[secretRef.key];
    return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8').trim();
  }

  async function tell(
    tonApi: TonApi,
    ids: readonly string[],
    bounds: RequestBounds,
    write: typeof revokeIds,
  ): Promise<boolean> {
    if (ids.length === 0) return true;
    let redis: ReturnType<OpenRedis> | undefined;
    try {
      const url = await urlOf(tonApi, bounds);
      if (url === undefined) return false;
      redis = open(url);
      await within(tellTimeoutMs, ready(redis));
      await within(tellTimeoutMs, write(redis, scopeOf(tonApi.metadata), ids));
      return true;
    } catch (error) {
      // The message may hold the address, never the password: it is of the connection.
      logger.warn({ err: (error as Error).message, tonApi: tonApi.metadata.name, ids }, 'Redis was not told of keys');
      return false;
    } finally {
      redis?.disconnect();
    }
  }

  return {
    add: (tonApi, ids, bounds) => tell(tonApi, ids, bounds, revokeIds),
    remove: (tonApi, ids, bounds) => tell(tonApi, ids, bounds, restoreIds),
  };
}

function ready(redis: ReturnType<OpenRedis>): Promise<void> {
  return new Promise((resolve, reject) => {
    redis.once('ready', () => resolve());
    redis.on('error', reject);
  });
}

async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('no answer in time')), timeoutMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
