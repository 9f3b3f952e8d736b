import type { Logger } from 'pino';

import {
  connectRedis,
  redisTlsProblem,
  untrustedRedis,
  type Connection,
  type RedisServer,
} from '#service/limits/redis/connection.ts';
import { clientCertificateProblem } from '#service/tls/client-certificate.ts';
import { restoreIds, revokeIds, type RevocationConnection } from '#service/limits/redis/revocation-set.ts';

import { childNames } from '../desired/names.ts';
import { REDIS_PORT } from '../desired/mounts.ts';
import type { KubernetesClient, RequestBounds } from '../kubernetes/client.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { resources } from '../kubernetes/resources.ts';
import type { TonApi } from '../resource.ts';
import { scopeOf } from '../service-config.ts';

/** Set of revoked keys in the Redis of a TonApi: it reaches pods before the keyring's files (operator/README.md#keys). */
export type Revocations = {
  /** Revokes ids. Returns false when Redis is unavailable: then the keyring alone revokes. */
  add(tonApi: TonApi, ids: readonly string[], bounds: RequestBounds): Promise<boolean>;
  /** A key that is in force again. */
  remove(tonApi: TonApi, ids: readonly string[], bounds: RequestBounds): Promise<boolean>;
};

/** Opens a Redis. */
type OpenRedis = (server: RedisServer) => RevocationConnection & Pick<Connection, 'disconnect' | 'once' | 'on'>;

type KeyOf = { readonly name: string; readonly key: string };

/** A Redis that does not answer within this time is unavailable. */
const TELL_TIMEOUT_MS = 3000;

/** Reads the Redis URL at each use and never stores it. */
export function createRevocations(
  { client, logger }: { readonly client: KubernetesClient; readonly logger: Logger },
  open: OpenRedis = (server) => connectRedis({ ...server, retryMs: () => TELL_TIMEOUT_MS }),
): Revocations {
  async function secretOf(namespace: string, { name, key }: KeyOf, bounds: RequestBounds): Promise<string | undefined> {
    return valueOf(await client.get(resources.Secret, { namespace, name }, bounds), key)?.trim();
  }

  /** @throws Error for missing authorities: no connection works without them. */
  async function authoritiesOf(tonApi: TonApi, bounds: RequestBounds): Promise<string | undefined> {
    const { namespace = '' } = tonApi.metadata;
    const { secretRef, configMapRef } = tonApi.spec.rateLimits.redis.caBundle ?? {};
    if (secretRef === undefined && configMapRef === undefined) return undefined;
    const found =
      secretRef === undefined
        ? configMapRef &&
          (await client.get(resources.ConfigMap, { namespace, name: configMapRef.name }, bounds))?.data?.[
            configMapRef.key
          ]
        : await secretOf(namespace, secretRef, bounds);
    if (found === undefined) throw new Error('spec.rateLimits.redis.caBundle: the certificates are not there');
    return found;
  }

  /** @throws Error for a missing part of the client certificate. */
  async function clientCertificateOf(tonApi: TonApi, bounds: RequestBounds): Promise<RedisServer['clientCertificate']> {
    const reference = tonApi.spec.rateLimits.redis.clientCertificate?.secretRef;
    if (reference === undefined) return undefined;
    const { name } = reference;
    const secret = await client.get(resources.Secret, { namespace: tonApi.metadata.namespace ?? '', name }, bounds);
    const given = {
      certificate: valueOf(secret, reference.certificate) ?? '',
      key: valueOf(secret, reference.privateKey) ?? '',
    };
    const found = clientCertificateProblem(given);
    if (found === undefined) return given;
    const key = found.part === 'key' ? reference.privateKey : reference.certificate;
    throw new Error(`spec.rateLimits.redis.clientCertificate: Secret ${name}, key ${key}: ${found.problem}`);
  }

  async function serverOf(tonApi: TonApi, bounds: RequestBounds): Promise<RedisServer | undefined> {
    const { namespace = '' } = tonApi.metadata;
    const { secretRef } = tonApi.spec.rateLimits.redis;
    if (secretRef === undefined) return { url: `redis://${childNames(tonApi).redis}.${namespace}.svc:${REDIS_PORT}` };
    const url = await secretOf(namespace, secretRef, bounds);
    if (url === undefined) return undefined;
    const ca = await authoritiesOf(tonApi, bounds);
    return { url, ca, clientCertificate: await clientCertificateOf(tonApi, bounds) };
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
      const server = await serverOf(tonApi, bounds);
      if (server === undefined) return false;
      const unencrypted = redisTlsProblem(server);
      if (unencrypted !== undefined) throw new Error(unencrypted);
      redis = open(server);
      await within(TELL_TIMEOUT_MS, ready(redis));
      await within(TELL_TIMEOUT_MS, write(redis, scopeOf(tonApi.metadata), ids));
      return true;
    } catch (error) {
      // The message may hold the address, never the password: it is of the connection.
      const err = untrustedRedis(error) ?? (error as Error).message;
      logger.warn({ err, tonApi: tonApi.metadata.name, ids }, 'revoked keys could not be written to Redis');
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

function valueOf(secret: KubernetesObject | undefined, key: string): string | undefined {
  const value = secret?.data?.[key];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
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
