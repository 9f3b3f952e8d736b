import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';

import { slotsScript } from '#service/limits/redis/script.ts';
import { skipLoudly } from '#test/support/skips.ts';

const url = inject('redisUrl') ?? '';
const missing = skipLoudly(url === '', { what: 'slots in Redis', why: 'no redis-server' });

describe.skipIf(missing)('slots under maxConcurrent in Redis', () => {
  it('all pods together take at most maxConcurrent slots, and slots return when a pod reports fewer or is gone', async () => {
    const client = new Redis(url);
    const key = `places:${process.pid}:{subject}`;
    const tell = async (pod: string, held: number, most: number, keptMs = 60_000): Promise<number> => {
      const [granted] = (await client.eval(slotsScript, 1, key, pod, keptMs, `${held},${most}`)) as number[];
      return granted ?? -1;
    };
    expect([await tell('one', 1, 3), await tell('two', 1, 3), await tell('one', 2, 3)]).toEqual([1, 1, 1]);
    expect([await tell('two', 2, 3), await tell('three', 1, 3)]).toEqual([0, 0]);
    await tell('one', 1, -1);
    expect(await tell('three', 1, 3)).toBe(1);
    await sleep(30);
    expect(await tell('two', 3, 3, 20)).toBe(1);
    await tell('two', 0, -1);
    expect(await client.exists(key)).toBe(0);
    client.disconnect();
  });
});
