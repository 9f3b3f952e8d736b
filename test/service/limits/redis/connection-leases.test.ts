import { randomBytes } from 'node:crypto';

import { Redis } from 'ioredis';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, inject, it } from 'vitest';

import { createRedisMetrics } from '#service/limits/metrics.ts';
import { createSharedLimits, type SharedLimits } from '#service/limits/redis/shared-limits.ts';
import { skipLoudly } from '#test/support/skips.ts';

import { valueOf } from './shared-setup.ts';

const url = inject('redisUrl') ?? '';
const missing = skipLoudly(url === '', { what: 'leases of streams in Redis', why: 'no redis-server' });

let pods: readonly SharedLimits[] = [];
afterEach(() => Promise.all(pods.map((pod) => pod.close())));

/** Starts pods of one API that have found their Redis. */
async function startPods(count: number) {
  const api = `test-${randomBytes(6).toString('hex')}`;
  const registers = Array.from({ length: count }, () => new Registry());
  pods = registers.map((register) =>
    createSharedLimits(
      { url, api, onRedisFailure: 'Local' },
      { logger: pino({ level: 'silent' }), metrics: createRedisMetrics(register), now: Date.now },
    ),
  );
  for (const register of registers) {
    await expect.poll(() => valueOf(register, 'ton_limits_redis_away')).toBe(0);
  }
  const take = (pod: number, connection: number, replaced?: number): Promise<boolean> =>
    pods[pod]!.connections.take({ owner: 'key a', connection, max: 2, here: 1, replaced });
  return { take, key: `streams:${api}:{key a}` };
}

describe.skipIf(missing)('leases of streams', () => {
  it('are counted over all pods, and a freed lease is granted again', async () => {
    const { take } = await startPods(2);
    expect([await take(0, 1), await take(1, 2), await take(1, 3)]).toEqual([true, true, false]);
    pods[0]!.connections.free('key a', 1);
    await expect.poll(() => take(1, 3)).toBe(true);
  });

  it('end when they are not renewed', async () => {
    const { take, key } = await startPods(1);
    const client = new Redis(url);
    expect([await take(0, 1), await take(0, 2)]).toEqual([true, true]);
    const ends = await client.zscore(key, '1');
    expect(Number(ends)).toBeGreaterThan(Date.now());
    expect(await client.pttl(key)).toBeLessThanOrEqual(30_000);
    await client.zadd(key, 1, '1');
    expect(await take(0, 3)).toBe(true);
    client.disconnect();
  });

  it('pass to the connection that resumes, and the former one learns of it', async () => {
    const { take } = await startPods(2);
    expect([await take(0, 1), await take(0, 2), await take(1, 3, 1)]).toEqual([true, true, true]);
    const [first, second] = pods.map((pod) => pod.connections);
    expect(await first!.renew('key a', 1)).toBe(false);
    expect(await first!.renew('key a', 2)).toBe(true);
    expect(await second!.renew('key a', 3)).toBe(true);
    expect(await take(1, 4)).toBe(false);
    expect(await take(1, 4, 99)).toBe(false);
  });

  it('pass also to a connection that has one: it loses none, and counts once', async () => {
    const { take } = await startPods(2);
    expect([await take(0, 1), await take(1, 2)]).toEqual([true, true]);
    expect([await take(1, 2, 99), await take(1, 2, 1)]).toEqual([true, true]);
    expect(await pods[0]!.connections.renew('key a', 1)).toBe(false);
    expect(await pods[1]!.connections.renew('key a', 2)).toBe(true);
    expect([await take(0, 3), await take(0, 4)]).toEqual([true, false]);
  });

  it('return by renewal after Redis lost its data', async () => {
    const { take, key } = await startPods(1);
    const client = new Redis(url);
    expect([await take(0, 1), await take(0, 2)]).toEqual([true, true]);
    await client.set(key, 'of another type');
    for (const connection of [1, 2]) expect(await pods[0]!.connections.renew('key a', connection)).toBe(true);
    expect(await take(0, 3)).toBe(false);
    client.disconnect();
  });
});
