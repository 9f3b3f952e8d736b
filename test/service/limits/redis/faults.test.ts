import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { ensureProgram } from '#test/support/debian-package.ts';
import { skipLoudly } from '#test/support/skips.ts';

import { startRedisProcess, startSlowProxy, type RedisProcess } from './redis-process.ts';
import { askWith, load, planOf, startPods, untilAll, valueOf, type SharedPod } from './shared-setup.ts';
import { someOf } from '#test/support/volume.ts';

const missing = skipLoudly(!ensureProgram('redis-server'), { what: 'faults of Redis', why: 'no redis-server' });

describe.skipIf(missing)('limits whose Redis fails', () => {
  let redis: RedisProcess;
  beforeEach(async () => {
    redis = await startRedisProcess();
  });
  afterEach(() => redis.close());

  it.each<['Local' | 'Open' | 'Closed', object]>([
    ['Local', { allowed: true }],
    ['Open', { allowed: true, plan: 'pro' }],
    ['Closed', { allowed: false, code: 'limits_unavailable', retryAfterSeconds: 1 }],
  ])(
    'a killed Redis makes the limits follow %s, and share again after its return',
    async (onRedisFailure, expected) => {
      const { pods, keys, close } = await startPods(2, { url: redis.url, onRedisFailure });
      redis.signal('SIGKILL');
      await untilAll(pods, false);
      expect(await askWith(keys[0])(pods[0] as SharedPod)).toMatchObject(expected);
      await redis.start();
      await untilAll(pods, true);
      expect((await askWith(keys[0])(pods[0] as SharedPod)).allowed).toBe(true);
      await close();
    },
  );

  it('a frozen Redis does not stop the limits under load, and they share again when it thaws', async () => {
    const { pods, keys, close } = await startPods(2, { url: redis.url });
    const loading = load(pods, 2500, () => 1, askWith(keys[0]));
    await sleep(300);
    redis.signal('SIGSTOP');
    await untilAll(pods, false);
    await sleep(500);
    redis.signal('SIGCONT');
    await untilAll(pods, true);
    const { admitted, elapsedMs } = await loading;
    expect(admitted).toBeLessThanOrEqual(Math.ceil(((25 * elapsedMs) / 1000 + 25) * 1.1));
    expect(admitted).toBeGreaterThan(((25 * elapsedMs) / 1000) * 0.7);
    await close();
  });

  it('a Redis restarted empty under load grants no second burst', async () => {
    const { pods, keys, close } = await startPods(2, { url: redis.url, plan: planOf({ burst: 100 }) });
    const loading = load(pods, 3000, () => 2, askWith(keys[0]));
    await sleep(700);
    redis.signal('SIGKILL');
    await untilAll(pods, false);
    await redis.start();
    await untilAll(pods, true);
    const { admitted, elapsedMs } = await loading;
    expect(admitted).toBeLessThanOrEqual(Math.ceil(((25 * elapsedMs) / 1000 + 100) * 1.1));
    await close();
  });

  it('a Redis slower than 100 ms counts as unavailable until it is quick again', async () => {
    const proxy = await startSlowProxy(redis.port);
    const { pods, keys, close } = await startPods(1, { url: proxy.url, onRedisFailure: 'Closed' });
    proxy.delay.ms = 200;
    await untilAll(pods, false);
    const trips = () => valueOf((pods[0] as SharedPod).register, 'ton_limits_redis_round_trips_total');
    const before = await trips();
    expect(await askWith(keys[0])(pods[0] as SharedPod)).toMatchObject({ code: 'limits_unavailable' });
    // The decision did not wait for Redis.
    expect(await trips()).toBe(before);
    await sleep(1000);
    expect(await pods[0]?.isHere()).toBe(false);
    proxy.delay.ms = 0;
    await untilAll(pods, true);
    await close();
    proxy.close();
  });

  it('a Redis without memory is away until it writes again, and each pod grants its share', async () => {
    const { pods, keys, absences, close } = await startPods(2, { url: redis.url, plan: planOf({ burst: 100 }) });
    // Within this time each pod hears of the other.
    await sleep(2500);
    await redis.command('CONFIG', 'SET', 'maxmemory', '1mb');
    await untilAll(pods, false);
    const { admitted, elapsedMs } = await load(pods, 2500, () => 2, askWith(keys[0]));
    expect(absences()).toBe(2);
    expect(admitted).toBeLessThanOrEqual(Math.ceil(((25 * elapsedMs) / 1000 + 100) * 1.1));
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
    await untilAll(pods, true);
    await close();
  });

  it('a flushed Redis does not end revocations', async () => {
    const { pods, keys, ids, api, close } = await startPods(1, { url: redis.url });
    const [pod] = pods as [SharedPod];
    await redis.command('SADD', `revoked:${api}`, ids[0] ?? '');
    await expect.poll(() => askWith(keys[0])(pod)).toMatchObject({ code: 'unknown_key' });
    await redis.command('FLUSHALL');
    // Two rounds of reading revocations.
    await sleep(2500);
    expect(await askWith(keys[0])(pod)).toMatchObject({ code: 'unknown_key' });
    await close();
  });

  it('a Redis flushed under load, scripts included, still shares the limits', async () => {
    const { pods, keys, close } = await startPods(2, { url: redis.url });
    const loading = load(pods, 1500, () => 1, askWith(keys[0]));
    await sleep(500);
    await redis.command('SCRIPT', 'FLUSH');
    await redis.command('FLUSHALL');
    const { admitted, elapsedMs } = await loading;
    expect(admitted).toBeLessThanOrEqual(Math.ceil(((25 * elapsedMs) / 1000 + 50) * 1.05));
    await untilAll(pods, true);
    await close();
  });

  it.each(someOf([2, 1], 1))(
    'a Redis flushed again and again under load gives %i pods no fresh burst',
    async (count) => {
      const { pods, keys, close } = await startPods(count, { url: redis.url });
      const flushes: Promise<unknown>[] = [];
      const flushing = setInterval(() => flushes.push(redis.command('FLUSHALL')), 300);
      const { admitted, elapsedMs } = await load(pods, 3000, () => 1, askWith(keys[0]));
      clearInterval(flushing);
      await Promise.all(flushes);
      expect(admitted).toBeLessThanOrEqual(Math.ceil(((25 * elapsedMs) / 1000 + 25) * 1.1));
      expect(admitted).toBeGreaterThan(((25 * elapsedMs) / 1000) * 0.7);
      await close();
    },
  );

  it('a Redis flushed again and again gives no fresh day', async () => {
    const plan = planOf({ requestsPerSecond: 0, requestsPerDay: 20 });
    const { pods, keys, close } = await startPods(1, { url: redis.url, plan });
    const [pod] = pods as [SharedPod];
    let admitted = 0;
    for (let asked = 0; asked < 60; asked++) {
      if (asked % 5 === 0) await redis.command('FLUSHALL');
      admitted += Number((await askWith(keys[0])(pod)).allowed);
    }
    expect(admitted).toBe(20);
    await close();
  });

  it('a Redis restarted empty gives no fresh day after requests that it did not see', async () => {
    const plan = planOf({ requestsPerSecond: 0, requestsPerDay: 20 });
    const { pods, keys, close } = await startPods(1, { url: redis.url, plan });
    const [pod] = pods as [SharedPod];
    const admitted = async (asked: number): Promise<number> => {
      let count = 0;
      for (let at = 0; at < asked; at++) count += Number((await askWith(keys[0])(pod)).allowed);
      return count;
    };
    expect(await admitted(8)).toBe(8);
    redis.signal('SIGKILL');
    await untilAll(pods, false);
    expect(await admitted(4)).toBe(4);
    await redis.start();
    await untilAll(pods, true);
    expect(await admitted(30)).toBe(8);
    await close();
  });

  it('a Redis that is slow at first does not hide the day that an earlier version counted', async () => {
    const plan = planOf({ requestsPerSecond: 0, requestsPerDay: 10 });
    const before = await startPods(1, { url: redis.url, plan });
    for (let asked = 0; asked < 6; asked++) await askWith(before.keys[0])(before.pods[0] as SharedPod);
    await before.close();
    const proxy = await startSlowProxy(redis.port);
    const after = await startPods(1, { url: proxy.url, plan, api: `team/${before.api}`, keys: before.made });
    const [pod] = after.pods as [SharedPod];
    proxy.delay.ms = 200;
    await untilAll(after.pods, false);
    let admitted = Number((await askWith(after.keys[0])(pod)).allowed);
    proxy.delay.ms = 0;
    await untilAll(after.pods, true);
    for (let asked = 0; asked < 20; asked++) admitted += Number((await askWith(after.keys[0])(pod)).allowed);
    expect(admitted).toBe(4);
    await after.close();
    proxy.close();
  });
});
