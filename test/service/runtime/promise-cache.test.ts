import { describe, expect, test } from 'vitest';

import { createPromiseCache } from '#service/runtime/promise-cache.ts';

const signal = new AbortController().signal;

describe('a cache of promises', () => {
  test('makes a result once, and again after it evicted the least recently used', async () => {
    const held = createPromiseCache<string>({ max: 2 });
    const made: number[] = [];
    const get = (key: number): Promise<string> =>
      held.get(key, signal, () => {
        made.push(key);
        return Promise.resolve(`value ${key}`);
      });
    for (const key of [1, 1, 2, 1, 3, 1, 2]) expect(await get(key)).toBe(`value ${key}`);
    expect(made).toEqual([1, 2, 3, 2]);
  });

  test('makes a result again for a caller who shared work that failed', async () => {
    const held = createPromiseCache<string>({ max: 2 });
    const first = held.get(1, signal, () => Promise.reject(new Error('the first one left')));
    const second = held.get(1, signal, () => Promise.resolve('made by the second'));
    await expect(first).rejects.toThrow('the first one left');
    expect(await second).toBe('made by the second');
    expect(await held.get(1, signal, () => Promise.reject(new Error('not needed')))).toBe('made by the second');
  });
});
