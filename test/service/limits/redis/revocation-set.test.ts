import { randomBytes } from 'node:crypto';

import { Redis } from 'ioredis';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';

import { createKeyring } from '#service/limits/keyring.ts';
import { makeKey } from '#service/limits/keys.ts';
import { createLimits } from '#service/limits/limits.ts';
import { createRedisMetrics } from '#service/limits/metrics.ts';
import { connectRedis } from '#service/limits/redis/connection.ts';
import { createRevocationReader } from '#service/limits/redis/revocation-reader.ts';
import {
  ENTRIES_MAX,
  ENTRY_MAX_AGE_SECONDS,
  restoreIds,
  revocationKeys,
  revokeIds,
  trimRevocations,
} from '#service/limits/redis/revocation-set.ts';
import { createRevocations } from '#service/limits/redis/revocations.ts';
import { createSharedLimits } from '#service/limits/redis/shared-limits.ts';
import { skipLoudly } from '#test/support/skips.ts';

import { startRedisCluster } from './redis-cluster.ts';
import { askWith, planOf, untilAll, valueOf, type SharedPod } from './shared-setup.ts';

const url = inject('redisUrl') ?? '';
const missing = skipLoudly(url === '', { what: 'revocations in Redis', why: 'no redis-server' });

const first = 'aaaaaaaaaaaa';
const second = 'bbbbbbbbbbbb';
const nowSeconds = (): number => Math.floor(Date.now() / 1000);

const now = (): number => performance.timeOrigin + performance.now();

/** Starts one pod of a TonApi, with the one key of all pods here. */
function startPod(redisUrl: string, scope: string, issued: ReturnType<typeof makeKey>): SharedPod {
  const register = new Registry();
  const keyring = createKeyring({ rows: [{ id: issued.id, sha256: issued.sha256, plan: 'pro' }] });
  const shared = createSharedLimits(
    { url: redisUrl, api: scope, onRedisFailure: 'Local' },
    {
      logger: pino({ level: 'silent' }),
      metrics: createRedisMetrics(register),
      now,
      inKeyring: (id) => keyring.has(id),
    },
  );
  const plans = [planOf({ requestsPerSecond: 5, burst: 5, maxConcurrent: 100 })];
  const limits = createLimits({ plans, anonymousPlan: null, network: 'mainnet' }, { keyring, now, register, shared });
  return { limits, register, isHere: async () => (await valueOf(register, 'ton_limits_redis_away')) === 0 };
}

describe.skipIf(missing)('revocations', () => {
  const client = new Redis(url, { lazyConnect: true });
  let name: string;
  let scope: string;
  beforeAll(() => client.connect());
  afterAll(() => client.disconnect());
  beforeEach(() => {
    name = `main-${randomBytes(4).toString('hex')}`;
    scope = `team-a/${name}`;
  });

  function reader(of = scope, inKeyring?: (id: string) => boolean) {
    const metrics = createRedisMetrics(new Registry());
    const made = createRevocationReader(of, { metrics, inKeyring });
    return { has: made.has, read: (since = '1', from: Redis = client) => made.read(from, async () => since) };
  }

  /** Returns the commands that the server runs for the work, without commands of other clients. */
  async function commandsOf(work: (from: Redis) => Promise<void>): Promise<string[]> {
    const own = new Redis(url);
    const sent: string[] = [];
    const send = own.sendCommand.bind(own);
    await own.ping();
    own.sendCommand = (command, ...rest) => {
      sent.push(command.name);
      return send(command, ...rest);
    };
    await work(own);
    own.disconnect();
    return sent;
  }

  it('revocations are read whole after a change only: an unchanged set costs two small reads', async () => {
    await revokeIds(client, scope, [first]);
    const { has, read } = reader();
    await read();
    expect(has(first)).toBe(true);
    expect((await commandsOf((from) => read('1', from))).toSorted()).toEqual(['get', 'scard']);
    await revokeIds(client, scope, [second]);
    expect(await commandsOf((from) => read('1', from))).toContain('zrevrange');
    expect([has(first), has(second)]).toEqual([true, true]);
  });

  it('a restored key ends its revocation, in the set of this version and in the set of the version before', async () => {
    await revokeIds(client, scope, [first, second]);
    expect(await client.sismember(`revoked:${name}`, first)).toBe(1);
    const { has, read } = reader();
    await read();
    await restoreIds(client, scope, [first]);
    await read();
    expect([has(first), has(second)]).toEqual([false, true]);
    expect(await client.sismember(`revoked:${name}`, first)).toBe(0);
    expect(await client.sismember(`revoked:${name}`, second)).toBe(1);
  });

  it('a restored key ends its revocation while another key is revoked, which leaves the number of revoked keys', async () => {
    await revokeIds(client, scope, [first]);
    const { has, read } = reader();
    await read();
    await restoreIds(client, scope, [first]);
    await revokeIds(client, scope, [second]);
    await read();
    expect([has(first), has(second)]).toEqual([false, true]);
  });

  it('revocations outlive a Redis that loses its data, until the key is restored', async () => {
    const { has, read } = reader();
    await revokeIds(client, scope, [first, second]);
    await read('1');
    await client.del(...Object.values(revocationKeys(scope)));
    await read('2');
    await read('2');
    expect([has(first), has(second)]).toEqual([true, true]);
    await restoreIds(client, scope, [first]);
    await read('2');
    expect([has(first), has(second)]).toEqual([false, true]);
  });

  it('revocations outlive a Redis that is older than them, until the key is restored', async () => {
    const { entries, version, named } = revocationKeys(scope);
    const { has, read } = reader();
    await revokeIds(client, scope, [second]);
    const older = await client.get(version);
    await revokeIds(client, scope, [first]);
    await read();
    await client.zrem(entries, first);
    await client.srem(named, first, `${first}@${scope}`);
    await client.set(version, older ?? '');
    await read();
    await read();
    expect([has(first), has(second)]).toEqual([true, true]);
    await restoreIds(client, scope, [first]);
    await read();
    expect([has(first), has(second)]).toEqual([false, true]);
  });

  it('an id that Redis does not list is forgotten a day after the keyring had its key', () => {
    const revocations = createRevocations(() => undefined);
    const { has } = revocations;
    revocations.set({ revoked: [first, second], named: [], restored: [] }, '1');
    revocations.set({ revoked: [], named: [], restored: [] }, '1');
    const inKeyring = (id: string): boolean => id === first;
    revocations.forget(inKeyring, 1000);
    revocations.forget(inKeyring, 1000 + ENTRY_MAX_AGE_SECONDS);
    expect([has(first), has(second)]).toEqual([true, true]);
    revocations.forget(inKeyring, 1001 + ENTRY_MAX_AGE_SECONDS);
    expect([has(first), has(second)]).toEqual([true, false]);
  });

  it('revocations are read again after a loss that left the same version', async () => {
    const { has, read } = reader();
    await revokeIds(client, scope, [first]);
    await read('1');
    await client.zrem(revocationKeys(scope).entries, first);
    await client.zadd(revocationKeys(scope).entries, nowSeconds(), second);
    await read('2');
    await read('2');
    expect([has(first), has(second)]).toEqual([true, true]);
  });

  it('a revocation by the name alone counts in every namespace, and a revocation of another namespace does not', async () => {
    const [a, b] = [reader(`team-a/${name}`), reader(`team-b/${name}`)];
    await client.sadd(`revoked:${name}`, first);
    await revokeIds(client, `team-a/${name}`, [second]);
    await Promise.all([a.read(), b.read()]);
    expect([a.has(first), a.has(second)]).toEqual([true, true]);
    expect([b.has(first), b.has(second)]).toEqual([true, false]);
    await client.srem(`revoked:${name}`, first);
    await Promise.all([a.read(), b.read()]);
    expect([a.has(first), b.has(first)]).toEqual([false, false]);
  });

  it('a revocation by the tool for a manifest without a namespace counts in every namespace as before', async () => {
    await revokeIds(client, name, [first]);
    const [without, within] = [reader(name), reader()];
    await Promise.all([without.read(), within.read()]);
    expect([without.has(first), within.has(first)]).toEqual([true, true]);
  });

  it('a revocation by the name alone is read even though one came as another went', async () => {
    const { has, read } = reader();
    await client.sadd(`revoked:${name}`, first);
    await read();
    await client.srem(`revoked:${name}`, first);
    await client.sadd(`revoked:${name}`, second);
    for (let count = 0; count < 10; count++) await read();
    expect([has(first), has(second)]).toEqual([false, true]);
  });

  it('revocations are trimmed when they are a day old, but not while a keyring has the key', async () => {
    const { entries } = revocationKeys(scope);
    const [old, held, young, restored] = ['oldoldoldold', 'heldheldheld', 'youngyoungyo', 'restoredrest'];
    await revokeIds(client, scope, [old, held, young]);
    await restoreIds(client, scope, [restored]);
    const longAgo = nowSeconds() - ENTRY_MAX_AGE_SECONDS - 60;
    for (const id of [old, held]) await client.zadd(entries, longAgo, id);
    await client.zadd(entries, -longAgo, restored);
    expect((await trimRevocations(client, scope, [held])).toSorted()).toEqual([old, restored]);
    expect((await client.zrange(entries, '0', '-1')).toSorted()).toEqual([held, young]);
    expect(Number(await client.zscore(entries, held))).toBeGreaterThan(longAgo);
    expect((await client.smembers(`revoked:${name}`)).filter((id) => !id.includes('@')).toSorted()).toEqual([
      held,
      young,
    ]);
  });

  it('revocations are trimmed to a number of entries, the oldest first, and never an entry whose key a keyring has', async () => {
    const { entries } = revocationKeys(scope);
    const ids = Array.from({ length: ENTRIES_MAX + 20 }, (_, at) => `id${String(at).padStart(10, '0')}`);
    await client.zadd(entries, ...ids.flatMap((id, at) => [String(nowSeconds() - 30_000 + at), id]));
    const [oldest = ''] = ids;
    await trimRevocations(client, scope, [oldest]);
    expect(await client.zcard(entries)).toBe(ENTRIES_MAX);
    expect(await client.zscore(entries, oldest)).not.toBeNull();
    expect(await client.zscore(entries, ids[1] ?? '')).toBeNull();
    expect(await client.zscore(entries, ids.at(-1) ?? '')).not.toBeNull();
  });

  it('a pod that reads revocations trims them, and they stay in force where its keyring has the key', async () => {
    const { entries } = revocationKeys(scope);
    await revokeIds(client, scope, [first, second]);
    const longAgo = nowSeconds() - ENTRY_MAX_AGE_SECONDS - 60;
    for (const id of [first, second]) await client.zadd(entries, longAgo, id);
    const { has, read } = reader(scope, (id) => id === first);
    for (let count = 0; count < 601; count++) await read();
    expect(await client.zrange(entries, '0', '-1')).toEqual([first]);
    expect([has(first), has(second)]).toEqual([true, false]);
  });

  it('revocations overwrite values of another type', async () => {
    const { entries, version } = revocationKeys(scope);
    await client.set(entries, 'garbage');
    await client.rpush(version, 'garbage');
    const { has, read } = reader();
    await read();
    await revokeIds(client, scope, [first]);
    await read();
    expect(has(first)).toBe(true);
  });
});

describe.skipIf(missing)('two TonApis of one name in two namespaces on one Redis', () => {
  const running: SharedPod[] = [];
  const name = `main-${randomBytes(4).toString('hex')}`;
  const issued = makeKey(randomBytes);
  const scopes = [`team-a/${name}`, `team-b/${name}`] as const;
  afterEach(async () => {
    await Promise.all(running.splice(0).map(({ limits }) => limits.close()));
  });

  it('two TonApis share no budget, no usage, no count of pods and no revocation', async () => {
    const client = new Redis(url);
    const [a, b] = scopes.map((scope) => startPod(url, scope, issued)) as [SharedPod, SharedPod];
    running.push(a, b);
    await untilAll([a, b], true);
    const ask = askWith(issued.key);
    for (let asked = 0; asked < 5; asked++) expect((await ask(a)).allowed).toBe(true);
    expect(await ask(a)).toMatchObject({ code: 'rate_limited' });
    expect(await ask(b)).toMatchObject({ allowed: true });
    await revokeIds(client, scopes[0], [issued.id]);
    await expect.poll(() => ask(a)).toMatchObject({ code: 'unknown_key' });
    await restoreIds(client, scopes[0], [issued.id]);
    await revokeIds(client, scopes[1], [issued.id]);
    await expect.poll(() => ask(b)).toMatchObject({ code: 'unknown_key' });
    await expect.poll(async () => (await ask(a)).allowed).toBe(true);
    for (const scope of scopes) expect(await client.zcard(revocationKeys(scope).pods)).toBe(2);
    const keys = (await client.keys(`*${name}*`)).filter((key) => key !== `revoked:${name}`);
    expect(keys.filter((key) => !scopes.some((scope) => key.includes(scope)))).toEqual([]);
    client.disconnect();
  });
});

describe.skipIf(missing)('a restored key', () => {
  it('every pod accepts a restored key within 2 s, however often it goes and comes back', async () => {
    const scope = `team-a/main-${randomBytes(4).toString('hex')}`;
    const issued = makeKey(randomBytes);
    const client = new Redis(url);
    const pods = [startPod(url, scope, issued), startPod(url, scope, issued)];
    await untilAll(pods, true);
    for (let times = 0; times < 3; times++) {
      await revokeIds(client, scope, [issued.id]);
      for (const pod of pods) await expect.poll(() => askWith(issued.key)(pod)).toMatchObject({ code: 'unknown_key' });
      await restoreIds(client, scope, [issued.id]);
      const isRefused = async (): Promise<boolean> =>
        (await Promise.all(pods.map(askWith(issued.key)))).some(
          (decision) => !decision.allowed && decision.code === 'unknown_key',
        );
      await expect.poll(isRefused, { interval: 20 }).toBe(false);
    }
    client.disconnect();
    await Promise.all(pods.map(({ limits }) => limits.close()));
  });
});

describe.skipIf(missing)('revocations in a Redis cluster', () => {
  it('a revocation reaches a pod and ends there, whichever node has the keys', async () => {
    const cluster = await startRedisCluster();
    const scope = 'team-a/main';
    const issued = makeKey(randomBytes);
    const pod = startPod(cluster.url, scope, issued);
    const connection = connectRedis({ url: cluster.url, retryMs: () => 100 });
    connection.on('error', () => undefined);
    await untilAll([pod], true);
    await expect.poll(() => connection.status).toBe('ready');
    await revokeIds(connection, scope, [issued.id]);
    await expect.poll(() => askWith(issued.key)(pod)).toMatchObject({ code: 'unknown_key' });
    await restoreIds(connection, scope, [issued.id]);
    await expect.poll(async () => (await askWith(issued.key)(pod)).allowed).toBe(true);
    expect(await trimRevocations(connection, scope, [])).toEqual([]);
    connection.disconnect();
    await pod.limits.close();
    await cluster.close();
  });
});
