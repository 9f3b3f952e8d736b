import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';

import { connectRedis } from '#service/limits/redis/connection.ts';
import { connectShared, type Shared } from '#service/pool/redis/pool-redis.ts';
import { skipLoudly } from '#test/support/skips.ts';

const url = inject('redisUrl') ?? '';
const missing = skipLoudly(url === '', { what: 'malformed floors and answers in Redis', why: 'no redis-server' });

const texts = ['garbage', 'NaN', 'inf', '-5', '1.5', '0x10', '1e3', '', '2147483648', '9'.repeat(30)];

describe.skipIf(missing)('a value of another form in Redis', () => {
  const client = new Redis(url, { lazyConnect: true });
  const api = `malformed-${process.pid}`;
  let malformed = 0;
  let shared: Shared;
  beforeAll(async () => {
    await client.connect();
    shared = connectShared(
      {
        connect: () => connectRedis({ url, retryMs: () => 50 }),
        api,
        zeroState: { rootHash: Buffer.alloc(32, 7), fileHash: Buffer.alloc(32, 7) } as never,
        keptMs: 60_000,
        answerMs: 1000,
      },
      { logger: pino({ level: 'silent' }), headSeqno: () => 100, onMalformed: () => malformed++ },
    );
    await vi.waitUntil(() => shared.isHere() && shared.floors.newest() === 100, { timeout: 120_000 });
  });
  afterAll(() => {
    shared.close();
    client.disconnect();
  });

  const counted = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
    malformed = 0;
    return [await work(), malformed];
  };
  const spoils = [
    ...texts.map((text) => [text, (key: string) => client.set(key, text)] as const),
    ['a list', (key: string) => client.del(key).then(() => client.rpush(key, 'garbage'))] as const,
  ];

  it.each(spoils)('a malformed value is no floor of a caller, is overwritten and counted: %j', async (_text, spoil) => {
    await shared.floors.raise('caller', 50);
    const [key = ''] = await client.keys(`ton:floor:${api}:*`);
    await spoil(key);
    expect(await counted(() => shared.floors.read('caller'))).toEqual([undefined, 1]);
    expect(await counted(() => shared.floors.raise('caller', 60))).toEqual([true, 1]);
    expect(await counted(() => shared.floors.read('caller'))).toEqual([60, 0]);
    await client.del(key);
  });

  it.each(spoils)(
    'a malformed value is no newest block of all pods, is overwritten and counted: %j',
    async (_text, spoil) => {
      const [key = ''] = await client.keys(`ton:newest:${api}:*`);
      await spoil(key);
      expect(await counted(() => shared.floors.announce(100))).toEqual([undefined, 1]);
      expect(await client.get(key)).toBe('100');
      expect(shared.floors.newest()).toBe(100);
    },
  );

  it('a malformed value is no answer, and is counted', async () => {
    const request = Buffer.from('request');
    shared.answers.write(request, Buffer.from('answer'));
    const read = () => shared.answers.read(request);
    await expect.poll(read).toEqual(Buffer.from('answer'));
    const [key = ''] = await client.keys(`ton:answer:*:${'07'.repeat(8)}:*`);
    await client.del(key);
    await client.rpush(key, 'garbage');
    expect(await counted(read)).toEqual([undefined, 1]);
    shared.answers.write(request, Buffer.from('another'));
    await expect.poll(read).toEqual(Buffer.from('another'));
    await client.del(key);
  });
});
