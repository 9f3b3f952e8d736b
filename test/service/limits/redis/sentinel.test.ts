import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { connectRedis, redisTlsProblem, redisUrlProblem } from '#service/limits/redis/connection.ts';
import { revokeInRedis } from '#service/limits/redis/revoke.ts';
import { createAuthority } from '#test/support/certificate.ts';
import { ensureProgram } from '#test/support/debian-package.ts';
import { startTlsRedis } from '#test/support/redis-server.ts';
import { skipLoudly } from '#test/support/skips.ts';

import { startRedisProcess } from './redis-process.ts';
import { startScriptedSentinel, startTlsSentinel, startWatchedRedis, type WatchedRedis } from './redis-sentinels.ts';
import { askWith, startPods, untilAll, type SharedPod } from './shared-setup.ts';

describe('a URL of Sentinels', () => {
  it.each([
    'redis+sentinel://a/main',
    'redis+sentinel://a:26379,[::1]:26380/main',
    'rediss+sentinel://user:p%40ss@a:1,b:2/main?sentinelUsername=u&sentinelPassword=p',
  ])('is accepted: %s', (url) => {
    expect(redisUrlProblem(url)).toBeUndefined();
  });

  it.each([
    ['without the name of the primary', 'redis+sentinel://a:26379'],
    ['with an empty name', 'redis+sentinel://a:26379/'],
    ['with an unreadable node', 'redis+sentinel://a:b/main'],
    ['with an unknown setting', 'redis+sentinel://a/main?db=1'],
    ['with an unreadable password', 'redis+sentinel://:%zz@a/main'],
    ['of a cluster with a name', 'redis+cluster://a:1/main'],
  ])('is refused %s, and the text of the URL is not repeated', (_case, url) => {
    expect(redisUrlProblem(url)).toMatch(/^expected redis:.*redis\+sentinel:/);
    expect(redisUrlProblem(url)).not.toContain('%zz');
  });

  it('needs TLS for authorities', () => {
    expect(redisTlsProblem({ url: 'redis+sentinel://a/main', ca: 'x' })).toContain('rediss+sentinel');
    expect(redisTlsProblem({ url: 'rediss+sentinel://a/main', ca: 'x' })).toBeUndefined();
  });
});

const missing = skipLoudly(!ensureProgram('redis-server'), { what: 'Redis Sentinel', why: 'no redis-server' });

/** A Sentinel that misses its own timer on a busy machine decides nothing for 30 s. */
const patience = { timeout: 100_000 };

describe.skipIf(missing)('a Redis that Sentinels name', () => {
  let watched: WatchedRedis;
  beforeEach(async () => {
    watched = await startWatchedRedis();
  });
  afterEach(() => watched.close());

  it('is shared through its primary, and through the replica that takes its place when it is killed', async () => {
    const { pods, keys, ids, api, close } = await startPods(2, { url: watched.url });
    const [first, second] = pods as [SharedPod, SharedPod];
    expect((await askWith(keys[0])(first)).allowed).toBe(true);
    expect(String(await watched.primary.command('KEYS', '*'))).toContain(api);
    watched.primary.signal('SIGKILL');
    await untilAll(pods, false);
    await expect.poll(async () => (await watched.replica.command('ROLE')) as unknown[], patience).toContain('master');
    await expect.poll(() => second.isHere(), patience).toBe(true);
    await expect.poll(() => first.isHere(), patience).toBe(true);
    await revokeInRedis({ url: watched.url }, api, ids[0] ?? '');
    await expect.poll(() => askWith(keys[0])(second)).toMatchObject({ code: 'unknown_key' });
    await close();
  }, 240_000);

  it('is followed to the new primary when Sentinels replace a primary that still answers', async () => {
    const client = connectRedis({ url: watched.url, retryMs: () => 50 });
    client.on('error', () => undefined);
    await expect.poll(() => client.set('a', '1').catch(() => undefined)).toBe('OK');
    await expect.poll(() => watched.replica.command('GET', 'a')).toBe('1');
    const [sentinel = ''] = /(?<=@)[^,]+/.exec(watched.url) ?? [];
    const asking = connectRedis({ url: `redis://:of%20sentinels@${sentinel}`, retryMs: () => 50 });
    asking.on('error', () => undefined);
    await expect.poll(() => asking.call('SENTINEL', 'failover', 'main').catch(() => undefined)).toBe('OK');
    await expect.poll(async () => String(await watched.primary.command('ROLE')), patience).toMatch(/^slave/);
    await expect.poll(() => client.set('a', '2').catch(() => undefined), patience).toBe('OK');
    expect(await watched.replica.command('GET', 'a')).toBe('2');
    client.disconnect();
    asking.disconnect();
  }, 240_000);
});

describe.skipIf(missing)('a Sentinel that announces another primary', () => {
  it('does not end a client that connects at that moment', async () => {
    const redis = await startRedisProcess();
    const sentinel = await startScriptedSentinel(redis.port);
    const client = connectRedis({ url: sentinel.url, retryMs: () => 20 });
    client.on('error', () => undefined);
    const ping = (): Promise<unknown> => client.ping().catch(() => undefined);
    await expect.poll(ping).toBe('PONG');
    sentinel.hold();
    redis.signal('SIGKILL');
    await expect.poll(sentinel.waiting).toBe(1);
    sentinel.announce();
    await redis.start();
    sentinel.release();
    await expect.poll(ping).toBe('PONG');
    client.disconnect();
    await expect.poll(() => client.status).toBe('end');
    sentinel.close();
    await redis.close();
  });
});

describe.skipIf(missing)('a Redis and a Sentinel over TLS', () => {
  it('are both reached with the authority of their certificates, and not without it', async () => {
    const authority = createAuthority('Private authority');
    const redis = await startTlsRedis(authority);
    const sentinel = await startTlsSentinel(authority, Number(new URL(redis?.url ?? '').port));
    const open = (ca: string | undefined) => {
      const errors: string[] = [];
      const client = connectRedis({ url: sentinel.url, ca, retryMs: () => 50 });
      client.on('error', (error: Error) => void errors.push(error.message));
      return { client, errors };
    };
    const [trusted, untrusted] = [open(authority.certificate), open(undefined)];
    await expect.poll(() => trusted.client.ping().catch(() => undefined)).toBe('PONG');
    await expect.poll(() => untrusted.errors.length).toBeGreaterThan(2);
    expect(await untrusted.client.ping().catch(() => 'none')).toBe('none');
    for (const { client } of [trusted, untrusted]) client.disconnect();
    await sentinel.close();
    await redis?.close();
  });
});
