import type { RedisServer } from '#service/limits/redis/connection.ts';
import type { Loaded } from '../configuration/hot-reload.ts';

/** The Redis that the pods share. Its URL and the client certificate are secrets. */
export type RedisParts = Partial<Pick<Loaded, 'redisUrl' | 'redisCa' | 'redisClientCertificate'>>;

/** Returns the Redis of a configuration; undefined without a URL. */
export function redisServerOf({
  redisUrl: url,
  redisCa: ca,
  redisClientCertificate: clientCertificate,
}: RedisParts): RedisServer | undefined {
  return url === undefined ? undefined : { url, ca, clientCertificate };
}
