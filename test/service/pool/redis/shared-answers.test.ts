import { setTimeout as delay } from 'node:timers/promises';

import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';

import type { Devchain } from '#service/devchain/devchain.ts';
import { getAccountState, getBlockHeader } from '#service/liteserver/functions.ts';
import { connectRedis } from '#service/limits/redis/connection.ts';
import type { ReadEvent } from '#service/pool/read-event.ts';
import { checkAccountState } from '#service/proof/account-proof.ts';
import { checkBlockHeader } from '#service/proof/header-proof.ts';
import { startRedisProcess, startSlowProxy, type RedisProcess } from '#test/service/limits/redis/redis-process.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { metric, openPool, patientTuning, startNetwork, until, within } from '../network.ts';
import type { PoolUnderTest } from '../network.ts';

const missing = skipLoudly(inject('redisUrl') === undefined, { what: 'answers in Redis', why: 'no redis-server' });

const away = (pod: PoolUnderTest): Promise<number> => metric(pod.register, 'ton_pool_redis_away');

async function untilAway(pod: PoolUnderTest, isAway: boolean): Promise<void> {
  for (let tries = 0; tries < 6000 && ((await away(pod)) === 1) !== isAway; tries += 1) await delay(10);
  expect(await away(pod)).toBe(isAway ? 1 : 0);
}

describe.skipIf(missing)('answers in Redis', () => {
  let network: Devchain;
  let redis: RedisProcess;
  const open: PoolUnderTest[] = [];

  beforeAll(async () => {
    network = await startNetwork(2);
  });
  beforeEach(async () => {
    redis = await startRedisProcess();
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()));
    await redis.close();
  });
  afterAll(() => network.close());

  async function openPod(options: Parameters<typeof openPool>[1] = {}): Promise<PoolUnderTest> {
    const pod = openPool(network, {
      redisUrl: redis.url,
      tuning: { ...patientTuning, sharedAnswerMs: 10_000 },
      ...options,
    });
    open.push(pod);
    await until(() => pod.pool.ready());
    return pod;
  }

  /** Reads a proved account of the masterchain block 100 + n, at most once from memory. */
  async function readAccount({ pool }: PoolUnderTest, n: number) {
    const block = network.chain.masterchain(100 + n)!.id;
    const account = { workchain: -1, id: Buffer.alloc(32, 0x55) };
    return pool.query(getAccountState, { id: block, account }, within(60_000), {
      shareAs: 'account',
      immutable: true,
      check: (answer) => checkAccountState({ block, workchain: account.workchain, account: account.id }, answer),
    });
  }

  async function keysOf(pattern: string): Promise<string[]> {
    return (await redis.command('KEYS', pattern)) as string[];
  }

  async function untilKept(count: number): Promise<string[]> {
    for (let tries = 0; tries < 6000; tries += 1) {
      const keys = await keysOf('ton:answer:*');
      if (keys.length >= count) return keys;
      await delay(10);
    }
    throw new Error('no answer was cached');
  }

  test('answers of one pod are used by the next, which asks no lite server, and they expire', async () => {
    const first = await openPod();
    await untilAway(first, false);
    const asked = await readAccount(first, 0);
    expect(asked.cached).toBe(false);
    const [key] = await untilKept(1);
    expect(Number(await redis.command('TTL', key!))).toBeGreaterThan(500);
    const second = await openPod();
    await untilAway(second, false);
    const known = await readAccount(second, 0);
    expect(known).toMatchObject({ cached: true, liteServers: [] });
    expect(known.value.account?.lastTransactionLt).toBe(asked.value.account?.lastTransactionLt);
    expect(await metric(second.register, 'ton_pool_reads_total', { source: 'redis' })).toBe(1);
    expect(await readAccount(second, 0)).toMatchObject({ cached: true });
    expect(await metric(second.register, 'ton_pool_reads_total', { source: 'cache' })).toBe(1);
  });

  test.each([
    ['garbage', (_other: Buffer) => Buffer.from('no answer at all')],
    ['nothing', (_other: Buffer) => Buffer.alloc(0)],
    ['the good answer to another question', (other: Buffer) => other],
  ])('a shared answer is proved again: %s is counted, dropped and requested again', async (_what, spoil) => {
    const first = await openPod();
    await untilAway(first, false);
    const good = await readAccount(first, 1);
    const [key] = await untilKept(1);
    await readAccount(first, 2);
    const other = (await untilKept(2)).find((one) => one !== key)!;
    // Both answers have the right form, each for its own block.
    await redis.command('COPY', other, 'spare');
    const bystander = new Redis(redis.url);
    await bystander.set(key!, spoil((await bystander.getBuffer('spare'))!));
    bystander.disconnect();
    const second = await openPod();
    await untilAway(second, false);
    const answer = await readAccount(second, 1);
    expect(answer).toMatchObject({ cached: false });
    expect(answer.value.account?.lastTransactionLt).toBe(good.value.account?.lastTransactionLt);
    expect(await metric(second.register, 'ton_pool_redis_refused_total')).toBe(1);
    // The fault is of the writer of the value, not of a lite server.
    expect(await metric(second.register, 'ton_pool_misbehaviours_total')).toBe(0);
  });

  test('shared answers are not used where they could not be proved', async () => {
    const first = await openPod();
    await untilAway(first, false);
    await readAccount(first, 3);
    await untilKept(1);
    const trusting = await openPod({ trust: 'none' });
    await untilAway(trusting, false);
    expect(await readAccount(trusting, 3)).toMatchObject({ cached: false });
  });

  test('shared answers cost nothing while Redis is killed or frozen, and are used again afterwards', async () => {
    const pod = await openPod({ tuning: patientTuning });
    await untilAway(pod, false);
    redis.signal('SIGSTOP');
    for (let n = 10; n < 20; n += 1) expect((await readAccount(pod, n)).cached).toBe(false);
    await untilAway(pod, true);
    redis.signal('SIGCONT');
    await untilAway(pod, false);
    redis.signal('SIGKILL');
    await untilAway(pod, true);
    for (let n = 20; n < 30; n += 1) expect((await readAccount(pod, n)).cached).toBe(false);
    await redis.start();
    await untilAway(pod, false);
    await readAccount(pod, 30);
    expect(await untilKept(1)).toHaveLength(1);
  });

  test('answers are cached in another Redis as soon as the pool is switched to it, and no more in the previous one', async () => {
    const pod = await openPod();
    await untilAway(pod, false);
    const next = await startRedisProcess();
    try {
      pod.pool.setSharedConnect(() => connectRedis({ url: next.url, retryMs: () => 100 }));
      await redis.close();
      await untilAway(pod, false);
      await readAccount(pod, 60);
      await expect.poll(() => next.command('DBSIZE')).toBeGreaterThanOrEqual(2);
      expect(await next.command('KEYS', 'ton:answer:*')).toHaveLength(1);
      // The floors moved too: served heads are announced there.
      expect(await next.command('KEYS', 'ton:newest:*')).toHaveLength(1);
    } finally {
      await pod.close();
      await next.close();
      redis = await startRedisProcess();
    }
  });

  test('a late answer is skipped, and three consecutive late answers end the queries', async () => {
    const proxy = await startSlowProxy(redis.port);
    try {
      const pod = await openPod({ redisUrl: proxy.url, tuning: patientTuning });
      await untilAway(pod, false);
      proxy.delay.ms = 2_000;
      for (let n = 40; n < 50; n += 1) expect((await readAccount(pod, n)).cached).toBe(false);
      await untilAway(pod, true);
      proxy.delay.ms = 0;
      await untilAway(pod, false);
    } finally {
      proxy.close();
    }
  });
});

describe.skipIf(missing)('a block that no lite server has', () => {
  let network: Devchain;
  let pod: PoolUnderTest;
  /** Milliseconds at which the pool's clock stands; undefined while it runs. */
  let stoppedMs: number | undefined;
  beforeAll(async () => {
    network = await startNetwork(2);
    pod = openPool(network, { tuning: patientTuning, now: () => stoppedMs ?? performance.now() });
    await until(() => pod.pool.ready());
  });
  afterAll(async () => {
    await pod.close();
    await network.close();
  });

  /** Returns how many lite servers were asked for the missing block of this hash. */
  async function ask(rootHash: Buffer, code: string): Promise<number> {
    const id = { ...network.chain.masterchain(100)!.id, rootHash };
    let attempts = 0;
    const observe = (event: ReadEvent): void => void (attempts += event.kind === 'read' ? event.attempts : 0);
    const asking = pod.pool.query(
      getBlockHeader,
      { id, mode: 0 },
      { ...within(60_000), observe },
      {
        shareAs: 'header',
        immutable: true,
        check: (answer) => checkBlockHeader({ block: id }, answer),
      },
    );
    await expect(asking).rejects.toMatchObject({ code });
    return attempts;
  }

  test('a missing block is searched once a second, however many callers ask', async () => {
    for (const server of network.liteServers) await server.setFaults({ only: ['getBlockHeader'], notReady: 'pruned' });
    const sought = Buffer.alloc(32, 1);
    stoppedMs = performance.now();
    expect(await ask(sought, 'pruned')).toBe(2);
    for (let turn = 0; turn < 19; turn += 1) expect(await ask(sought, 'pruned')).toBe(0);
    expect(await metric(pod.register, 'ton_pool_reads_total', { source: 'negative' })).toBe(19);
    stoppedMs += 1_010;
    expect(await ask(sought, 'pruned')).toBe(2);
    stoppedMs = undefined;
  });

  test('a missing block is searched again at once while lite servers only lag', async () => {
    for (const server of network.liteServers) await server.setFaults({ only: ['getBlockHeader'], notReady: 'lagging' });
    for (let turn = 0; turn < 3; turn += 1) expect(await ask(Buffer.alloc(32, 2), 'lagging')).toBe(2);
  });
});
