import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { KubernetesClient, ObjectName } from '#operator/kubernetes/client.ts';
import type { Resource } from '#operator/kubernetes/resources.ts';
import { createRevocations } from '#operator/reconcile/revocations.ts';
import { revocationKeys } from '#service/limits/redis/revocation-set.ts';
import { sample } from '#test/operator/desired/samples.ts';
import { startRedis, type RedisServer } from '#test/support/redis-server.ts';
import { skipLoudly } from '#test/support/skips.ts';

const bounds = { signal: new AbortController().signal };
const redisRef = {
  redis: { secretRef: { name: 'redis', key: 'url' }, embedded: false },
  onRedisFailure: 'Local',
} as const;
const tonApi = sample('smallest', { rateLimits: redisRef });
const scope = `${tonApi.metadata.namespace}/${tonApi.metadata.name}`;
const keys = revocationKeys(scope);

/** An API server with the one Secret; `asked` holds what was read. */
function clientWith(url: string | undefined): { client: KubernetesClient; asked: string[] } {
  const asked: string[] = [];
  const client = {
    async get(of: Resource, { namespace, name }: ObjectName) {
      asked.push(`${of.kind} ${namespace}/${name}`);
      const data = url === undefined ? {} : { url: Buffer.from(`${url}\n`).toString('base64') };
      return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data };
    },
  } as unknown as KubernetesClient;
  return { client, asked };
}

const server: RedisServer | undefined = await startRedis();

const missing = skipLoudly(server === undefined, { what: 'revocations', why: 'no redis-server' });

describe.skipIf(missing)('revocations', () => {
  let redis: Redis;
  beforeAll(() => {
    redis = new Redis(server?.url ?? '');
  });
  afterAll(async () => {
    redis.disconnect();
    await server?.close();
  });
  const logger = pino({ level: 'silent' });

  const revoked = (): Promise<string[]> => redis.zrangebyscore(keys.entries, 0, 'inf');
  const namedIds = async (): Promise<string[]> =>
    (await redis.smembers(keys.named)).filter((id) => !id.includes('@')).toSorted();

  it('are put into the set that pods read and into the set of older pods, and taken out of both', async () => {
    const { client, asked } = clientWith(server?.url);
    const revocations = createRevocations({ client, logger });
    expect(await revocations.add(tonApi, ['aaaaaaaaaaaa', 'bbbbbbbbbbbb'], bounds)).toBe(true);
    expect(await revoked()).toEqual(['aaaaaaaaaaaa', 'bbbbbbbbbbbb']);
    expect(await namedIds()).toEqual(['aaaaaaaaaaaa', 'bbbbbbbbbbbb']);
    expect(await revocations.remove(tonApi, ['aaaaaaaaaaaa'], bounds)).toBe(true);
    expect(await revoked()).toEqual(['bbbbbbbbbbbb']);
    expect(await namedIds()).toEqual(['bbbbbbbbbbbb']);
    expect(new Set(asked)).toEqual(new Set([`Secret ${tonApi.metadata.namespace}/redis`]));
  });

  it('read no Secret while there is nothing to tell', async () => {
    const { client, asked } = clientWith(server?.url);
    expect(await createRevocations({ client, logger }).add(tonApi, [], bounds)).toBe(true);
    expect(asked).toEqual([]);
  });

  it.each([
    ['nobody listens', 'redis://127.0.0.1:9'],
    ['the Secret lacks the key', undefined],
  ])('say that they were not told when %s', async (_what, url) => {
    const { client } = clientWith(url);
    expect(await createRevocations({ client, logger }).add(tonApi, ['cccccccccccc'], bounds)).toBe(false);
  });
});
