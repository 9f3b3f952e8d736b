import { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';

import { countScript } from '#service/limits/redis/script.ts';
import { createSharedUsage } from '#service/limits/redis/shared-usage.ts';
import type { RedisSession } from '#service/limits/redis/redis-session.ts';
import { skipLoudly } from '#test/support/skips.ts';

const url = inject('redisUrl') ?? '';
const missing = skipLoudly(url === '', { what: 'usage in Redis', why: 'no redis-server' });

describe.skipIf(missing)('usage in Redis', () => {
  it('each flush of a pod is added once, however often and in whatever company it comes', async () => {
    const client = new Redis(url);
    const names = ['a', 'b'].map((key) => `usage:${process.pid}:{${key}}:today`);
    const flush = (pod: string, ...parts: [number, string, number][]): Promise<unknown> =>
      client.eval(
        countScript,
        parts.length,
        ...names.slice(0, parts.length),
        pod,
        60,
        ...parts.map((part) => part.join('\t')),
      );
    await flush('one', [1, 'getBlock', 2], [1, 'getBlock', 5]);
    await flush('one', [1, 'getBlock', 2]);
    await flush('two', [1, 'getBlock', 10]);
    await flush('one', [2, 'getBlock', 3], [1, 'getBlock', 5]);
    await flush('one', [1, 'getBlock', 2]);
    const counts = await Promise.all(names.map((name) => client.hget(name, 'getBlock')));
    expect(counts).toEqual(['15', '5']);
    expect(await client.ttl(names[0] ?? '')).toBeGreaterThan(50);
    await client.del(...names);
    client.disconnect();
  });
});

describe('usage that Redis may not have heard of', () => {
  it('a flush that Redis may not have counted is sent again unchanged, so that Redis recognises it', async () => {
    const sent: string[] = [];
    const ask = (name: string, argument: string): Promise<readonly number[]> => {
      sent.push(`${name} ${argument}`);
      return sent.length === 1 ? Promise.reject(new Error('late')) : Promise.resolve([]);
    };
    const store = { here: true, questions: () => ({ ask }) } as Partial<RedisSession> as RedisSession;
    const usage = createSharedUsage({ api: 'api', pod: 'pod' }, store, { malformed: () => undefined });
    const noonMs = Date.parse('2026-11-21T12:00:00Z');
    for (const operation of ['getBlock', 'getBlock', null]) usage.count('key', operation, noonMs);
    await usage.close();
    const flush = ['usage:api:{key}:2026-11-21 1', 'getBlock', 2, '!refused', 1].join('\t');
    expect(sent).toEqual([flush, flush]);
  });
});
