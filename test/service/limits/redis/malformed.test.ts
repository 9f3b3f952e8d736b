import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

import { skipLoudly } from '#test/support/skips.ts';

import { askWith, planOf, startPods, valueOf, type SharedPod } from './shared-setup.ts';

const url = inject('redisUrl') ?? '';
const missing = skipLoudly(url === '', { what: 'malformed values in Redis', why: 'no redis-server' });

/** Writes a value over a key that no pod would write. */
type Spoil = (client: Redis, key: string) => Promise<unknown>;

const otherTypes: readonly (readonly [name: string, spoil: Spoil])[] = [
  ['a text', async (client, key) => client.set(key, 'garbage')],
  ['a list', async (client, key) => client.del(key).then(() => client.rpush(key, 'garbage'))],
];

const values = ['garbage', 'NaN', 'inf', '-5', '1.5', '0x10', '1e3', '', '9'.repeat(15), '9'.repeat(400)];

const valuesOf = (field: string): readonly (readonly [name: string, spoil: Spoil])[] =>
  values.map((value) => [`${field} ${value.slice(0, 20)}`, (client, key) => client.hset(key, field, value)] as const);

const malformed = ({ register }: SharedPod) => valueOf(register, 'ton_limits_redis_malformed_total');

describe.skipIf(missing)('a value of another form in Redis', () => {
  const client = new Redis(url, { lazyConnect: true });
  beforeAll(() => client.connect());
  afterAll(() => client.disconnect());

  const keyOf = async (pattern: string) => {
    const [key] = await client.keys(pattern);
    return key ?? '';
  };

  it.each([
    ...otherTypes,
    ...valuesOf('d'),
    ...valuesOf('day'),
    ...['garbage', 'NaN', '-5'].flatMap((value) => [
      [`n ${value}`, (of: Redis, key: string) => of.hset(key, 'n', value)] as const,
      [`u ${value}`, (of: Redis, key: string) => of.hset(key, 'u', value)] as const,
      [`g ${value}`, (of: Redis, key: string) => of.hset(key, 'g', value)] as const,
    ]),
  ])('a value of another form is no budget, and is counted: %s', async (_name, spoil) => {
    const plan = planOf({ requestsPerSecond: 1, burst: 5, requestsPerDay: 1000 });
    const { pods, keys, api, close } = await startPods(2, { url, plan });
    const [first, second] = pods as [SharedPod, SharedPod];
    expect((await askWith(keys[0])(first)).allowed).toBe(true);
    await spoil(client, await keyOf(`limits:${api}:*`));
    expect((await askWith(keys[0])(second)).allowed).toBe(true);
    expect(await malformed(second)).toBe(1);
    expect(await second.isHere()).toBe(true);
    // The first pod's copy counts: four of its five are left, because no whole second has passed.
    let admitted = 0;
    for (let asked = 0; asked < 8; asked++) admitted += Number((await askWith(keys[0])(first)).allowed);
    expect(admitted).toBeLessThanOrEqual(5);
    expect(await malformed(first)).toBe(0);
    await close();
  });

  it.each([
    ...otherTypes,
    ...['garbage', 'NaN,NaN', '-1,-1', `5,${'9'.repeat(15)}`, `${'9'.repeat(15)},1`].map(
      (value) => [`a field ${value}`, (of: Redis, key: string) => of.hset(key, 'another pod', value)] as const,
    ),
  ])('a value of another form is no slot, and is counted: %s', async (_name, spoil) => {
    const plan = planOf({ maxConcurrent: 2 });
    const { pods, keys, api, close } = await startPods(1, { url, plan });
    const [pod] = pods as [SharedPod];
    const held = await askWith(keys[0])(pod);
    await spoil(client, await keyOf(`places:${api}:*`));
    expect((await askWith(keys[0])(pod)).allowed).toBe(true);
    expect((await askWith(keys[0])(pod)).allowed).toBe(false);
    expect(await malformed(pod)).toBe(1);
    expect(await pod.isHere()).toBe(true);
    if (held.allowed) held.release();
    await close();
  });

  it.each([
    ...otherTypes,
    ...['garbage', 'NaN', '-5', '9'.repeat(15), '9'.repeat(40)].map(
      (value) => [`a count ${value}`, (of: Redis, key: string) => of.hset(key, 'getAddressState', value)] as const,
    ),
  ])('a value of another form is no usage, and is counted: %s', async (_name, spoil) => {
    const { pods, keys, ids, api, close } = await startPods(1, { url, plan: planOf({ requestsPerDay: 1000 }) });
    const [pod] = pods as [SharedPod];
    await askWith(keys[0])(pod);
    const day = new Date().toISOString().slice(0, 10);
    await spoil(client, `usage:${api}:{${ids[0]}}:${day}`);
    const usage = () => pod.limits.usage({ key: keys[0], clientAddress: '192.0.2.1' });
    expect(await usage()).toMatchObject({ usage: { operations: { getAddressState: 1 } } });
    await expect
      .poll(() => client.hget(`usage:${api}:{${ids[0]}}:${day}`, 'getAddressState').catch(() => ''))
      .toBe('1');
    expect(await malformed(pod)).toBeGreaterThan(0);
    expect(await pod.isHere()).toBe(true);
    await close();
  });

  it('a value of another type is neither a set of pods nor of revoked keys, and is counted; a revoked key stays revoked', async () => {
    const { pods, keys, ids, api, close } = await startPods(1, { url });
    const [pod] = pods as [SharedPod];
    await client.sadd(`revoked:${api}`, ids[0] ?? '');
    await expect.poll(() => askWith(keys[0])(pod)).toMatchObject({ code: 'unknown_key' });
    await client.set(`revoked:${api}`, 'garbage');
    await client.set(`pods:{revoked:${api}}`, 'garbage');
    await expect.poll(() => malformed(pod)).toBeGreaterThanOrEqual(2);
    expect(await pod.isHere()).toBe(true);
    expect(await askWith(keys[0])(pod)).toMatchObject({ code: 'unknown_key' });
    await client.del(`revoked:${api}`);
    await close();
  });
});
