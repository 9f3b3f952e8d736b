import { Redis } from 'ioredis';
import * as fc from 'fast-check';
import { describe, expect, inject, it } from 'vitest';

import { fullBucket, take } from '#service/limits/bucket.ts';
import { takeScript, type TakeArgument } from '#service/limits/redis/script.ts';
import { skipLoudly } from '#test/support/skips.ts';

import type { Decision } from '#service/limits/limits.ts';
import { askWith, load, loadShared, planOf, startPods, valueOf, type Loaded, type SharedPod } from './shared-setup.ts';

const url = inject('redisUrl') ?? '';
const missing = skipLoudly(url === '', { what: 'limits shared in Redis', why: 'no redis-server' });

/** Returns how far the admitted requests are from the plan, as a part of it. The plan is counted until the last query, and until the last answer. */
function missedBy({ admitted, askedMs, elapsedMs }: Loaded, rate: number, burst: number): number {
  const [least, most] = [askedMs, elapsedMs].map((ms) => (rate * ms) / 1000 + burst) as [number, number];
  return Math.max(1 - admitted / least, admitted / most - 1);
}

/** Largest deviation in runs of seconds. One token of a hundred at each end, and a busy machine, exceed the 1 % of a minute. */
const missMax = 0.04;

describe.skipIf(missing)('limits shared in Redis', () => {
  it.each<[string, (pod: number, elapsedMs: number) => number]>([
    ['uniform', () => 1],
    ['bursty', (_pod, elapsedMs) => (elapsedMs % 400 < 200 ? 3 : 0)],
    ['skewed', (pod) => (pod === 0 ? 4 : Number(pod === 1))],
  ])('four pods together admit one plan under %s arrival', async (_what, perTick) => {
    expect(missedBy(await loadShared(4, { url }, 3000, perTick), 25, 25)).toBeLessThan(missMax);
  });

  it('pods of a fast plan lease tokens, and together admit no more than the plan', async () => {
    const plan = planOf({ requestsPerSecond: 400, burst: 400 });
    const loaded = await loadShared(4, { url, plan }, 3000, () => 3);
    expect(missedBy(loaded, 400, 400)).toBeLessThan(missMax);
    const hits = await Promise.all(loaded.pods.map(({ register }) => valueOf(register, 'ton_limits_lease_hits_total')));
    expect(Math.min(...hits)).toBeGreaterThan(0);
  });

  it('the clocks of pods may differ by any time', async () => {
    const skewsMs = [0, 30_000, -30_000, 15_000];
    expect(missedBy(await loadShared(4, { url, skewsMs }, 2000, () => 1), 25, 25)).toBeLessThan(missMax);
  });

  it('two keys of one owner share one budget at every pod', async () => {
    const rows = [{ owner: 'acme' }, { owner: 'acme' }];
    expect(missedBy(await loadShared(2, { url, rows }, 1000, () => 2), 25, 25)).toBeLessThan(missMax);
  });

  it('the networks of one IPv6 /48 count together over all pods, sixteen times the rate of one', async () => {
    const plan = planOf({ requestsPerSecond: 0, burst: 0, requestsPerDay: 2 });
    const { pods, close } = await startPods(2, { url, plan, anonymousPlan: 'pro' });
    const admitted = async (site: string, networks: number): Promise<number> => {
      let count = 0;
      for (let network = 0; network < networks; network++) {
        const clientAddress = `2001:db8:${site}:${network.toString(16)}::1`;
        const asked = pods.flatMap(({ limits }) =>
          [0, 1].map(() => limits.decide({ key: undefined, clientAddress, operation: 'x' })),
        );
        count += (await Promise.all(asked)).filter(({ allowed }) => allowed).length;
      }
      return count;
    };
    expect(await admitted('1', 1)).toBe(2);
    expect(await admitted('2', 40)).toBe(32);
    expect(await admitted('3', 1)).toBe(2);
    await close();
  });

  it('the day is counted over all pods', async () => {
    const { pods, keys, close } = await startPods(2, {
      url,
      plan: planOf({ requestsPerDay: 7, burst: 1000, requestsPerSecond: 1000 }),
    });
    const { admitted } = await load(pods, 100, () => 10, askWith(keys[0]));
    expect(admitted).toBe(7);
    expect(await askWith(keys[0])(pods[1] as SharedPod)).toMatchObject({ allowed: false, code: 'rate_limited' });
    await close();
  });

  it('the use of the day that a version before the namespace counted under the name alone goes on', async () => {
    const plan = planOf({ requestsPerDay: 5, requestsPerSecond: 1000, burst: 1000 });
    const before = await startPods(1, { url, plan });
    const ask = (setup: typeof before, at: number) => askWith(before.keys[0])(setup.pods[at] as SharedPod);
    for (let asked = 0; asked < 3; asked++) expect((await ask(before, 0)).allowed).toBe(true);
    await before.close();
    const after = await startPods(2, { url, plan, api: `team/${before.api}`, keys: before.made });
    expect(await Promise.all([0, 1, 0, 1].map(async (at) => (await ask(after, at)).allowed))).toEqual(
      expect.arrayContaining([true, true, false, false]),
    );
    await after.close();
  });

  it('usage shows the counts of the day from a version before the namespace, and the counts since', async () => {
    const before = await startPods(1, { url });
    const ask = (setup: typeof before) => askWith(before.keys[0])(setup.pods[0] as SharedPod);
    for (let asked = 0; asked < 3; asked++) expect((await ask(before)).allowed).toBe(true);
    await before.close();
    const after = await startPods(1, { url, api: `team/${before.api}`, keys: before.made });
    expect((await ask(after)).allowed).toBe(true);
    const usage = await after.pods[0]?.limits.usage({ key: before.keys[0], clientAddress: '192.0.2.1' });
    expect(usage).toMatchObject({ usage: { operations: { getAddressState: 4 } } });
    await after.close();
  });

  it('running requests are counted over all pods', async () => {
    const plan = planOf({ maxConcurrent: 5, requestsPerSecond: 1000, burst: 1000 });
    const { pods, keys, close } = await startPods(3, { url, plan });
    const asked = await Promise.all(Array.from({ length: 12 }, (_, at) => askWith(keys[0])(pods[at % 3] as SharedPod)));
    const running = asked.filter((decision) => decision.allowed);
    expect(running).toHaveLength(5);
    expect(asked.find(({ allowed }) => !allowed)).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 1 });
    running[0]?.release();
    const fromAnother = async (): Promise<boolean> => {
      const decision = await askWith(keys[0])(pods[asked.indexOf(running[0] as Decision) === 0 ? 1 : 0] as SharedPod);
      return decision.allowed;
    };
    await expect.poll(fromAnother).toBe(true);
    expect((await askWith(keys[0])(pods[2] as SharedPod)).allowed).toBe(false);
    for (const decision of running) decision.release();
    await close();
  });

  it('a request dearer than a full bucket is charged once the bucket is full', async () => {
    const plan = planOf({ requestsPerSecond: 10, burst: 10, methodCosts: { getAddressState: 30 } });
    const { pods, keys, close } = await startPods(1, { url, plan });
    const [first, second] = await Promise.all(pods.concat(pods).map(askWith(keys[0])));
    expect(first?.allowed).toBe(true);
    expect(second).toMatchObject({ allowed: false, retryAfterSeconds: 3 });
    await close();
  });

  it('every pod refuses a revoked key, and accepts the key again once it is out of the set', async () => {
    const { pods, keys, ids, api, close } = await startPods(2, { url });
    expect((await askWith(keys[0])(pods[0] as SharedPod)).allowed).toBe(true);
    const client = new Redis(url);
    await client.sadd(`revoked:${api}`, ids[0] ?? '');
    for (const pod of pods) {
      await expect.poll(() => askWith(keys[0])(pod)).toMatchObject({ code: 'unknown_key' });
    }
    await client.srem(`revoked:${api}`, ids[0] ?? '');
    for (const pod of pods) {
      await expect.poll(() => askWith(keys[0])(pod)).toMatchObject({ allowed: true });
    }
    client.disconnect();
    await close();
  });

  it('the usage of a key is counted over all pods', async () => {
    const { pods, keys, close } = await startPods(2, { url, plan: planOf({ burst: 100 }) });
    for (const pod of pods) await askWith(keys[0])(pod);
    const usage = () => (pods[0] as SharedPod).limits.usage({ key: keys[0], clientAddress: '192.0.2.1' });
    await expect
      .poll(usage, { interval: 300 })
      .toMatchObject({ allowed: true, usage: { operations: { getAddressState: 2 }, refused: 0 } });
    await close();
  });

  it('the script in Redis follows the very rule of the bucket, over any times and costs', async () => {
    const client = new Redis(url);
    const script = takeScript('arg.nowUs');
    const startUs = 1_795_270_000_000_000;
    const step = fc.tuple(fc.integer({ min: -2_000_000, max: 3_000_000 }), fc.integer({ min: 1, max: 60 }));
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 1000 }),
        fc.integer({ min: 0, max: 50 }),
        fc.array(step, { maxLength: 30 }),
        async (requestsPerSecond, more, steps) => {
          const rate = { requestsPerSecond, burst: requestsPerSecond + more };
          const key = `model:{${process.pid}:${run++}}`;
          let bucket = fullBucket(startUs);
          let nowUs = startUs;
          for (const [pauseUs, tokens] of steps) {
            nowUs += pauseUs;
            const expected = take(bucket, rate, nowUs, tokens);
            bucket = expected.bucket;
            const argument: TakeArgument = { plan: rate, least: tokens, want: tokens, back: 0, nowUs };
            const answer = (await client.eval(script, 1, key, JSON.stringify(argument))) as number[];
            expect(answer.slice(0, 4)).toEqual([
              expected.admitted ? tokens : 0,
              expected.admitted ? 0 : 1,
              expected.waitUs,
              bucket.deficit,
            ]);
          }
          await client.del(key);
        },
      ),
      { seed: 20_261_121, numRuns: 60 },
    );
    client.disconnect();
  });
});
