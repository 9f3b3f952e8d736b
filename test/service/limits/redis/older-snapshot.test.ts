import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { revokeInRedis } from '#service/limits/redis/revoke.ts';
import { ensureProgram } from '#test/support/debian-package.ts';
import { skipLoudly } from '#test/support/skips.ts';

import { startRedisProcess, type RedisProcess } from './redis-process.ts';
import { askWith, planOf, startPods, untilAll, type SharedPod } from './shared-setup.ts';

const missing = skipLoudly(!ensureProgram('redis-server'), { what: 'snapshots of Redis', why: 'no redis-server' });

describe.skipIf(missing)('limits whose Redis starts again with an older snapshot', () => {
  let folder: string;
  let redis: RedisProcess;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tonplane-redis-'));
    redis = await startRedisProcess('--dir', folder);
  });
  afterEach(async () => {
    await redis.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const startAgain = async (pods: readonly SharedPod[]): Promise<void> => {
    redis.signal('SIGKILL');
    await untilAll(pods, false);
    await redis.start();
    await untilAll(pods, true);
  };

  it('a key stays revoked if the snapshot is older than its revocation', async () => {
    const { pods, keys, ids, api, close } = await startPods(1, { url: redis.url });
    const [pod] = pods as [SharedPod];
    await redis.command('SAVE');
    await revokeInRedis({ url: redis.url }, api, ids[0] ?? '');
    await expect.poll(() => askWith(keys[0])(pod)).toMatchObject({ code: 'unknown_key' });
    await startAgain(pods);
    // Two rounds of reading revocations.
    await sleep(2500);
    expect(await askWith(keys[0])(pod)).toMatchObject({ code: 'unknown_key' });
    await close();
  });

  it('pods without Redis share what is left of the day', async () => {
    const plan = planOf({ requestsPerSecond: 0, requestsPerDay: 20 });
    const { pods, keys, close } = await startPods(2, { url: redis.url, plan });
    // Within this time each pod hears of the other.
    await sleep(2500);
    const admitted = async (asked: number): Promise<number> => {
      let count = 0;
      for (let at = 0; at < asked; at++) count += Number((await askWith(keys[0])(pods[at % 2] as SharedPod)).allowed);
      return count;
    };
    expect(await admitted(8)).toBe(8);
    redis.signal('SIGKILL');
    await untilAll(pods, false);
    // The pods knew 7 and 8 of the day: six each.
    expect(await admitted(40)).toBe(12);
    await close();
  });

  it('the use of the day since the snapshot still counts', async () => {
    const plan = planOf({ requestsPerSecond: 0, requestsPerDay: 20 });
    const { pods, keys, close } = await startPods(2, { url: redis.url, plan });
    const admitted = async (asked: number): Promise<number> => {
      let count = 0;
      for (let at = 0; at < asked; at++) count += Number((await askWith(keys[0])(pods[at % 2] as SharedPod)).allowed);
      return count;
    };
    expect(await admitted(4)).toBe(4);
    await redis.command('SAVE');
    expect(await admitted(10)).toBe(10);
    await startAgain(pods);
    // The pods knew 13 and 14 of the day.
    expect(await admitted(30)).toBeLessThanOrEqual(7);
    await close();
  });
});
