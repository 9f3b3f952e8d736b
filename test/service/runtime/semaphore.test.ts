import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';

import { createSemaphore } from '#service/runtime/semaphore.ts';

const signal = new AbortController().signal;

describe('a semaphore', () => {
  test('runs so much work at a time, and waiting work in the order of its arrival', async () => {
    const places = createSemaphore(2);
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const runs = [1, 2, 3, 4].map((number) =>
      places.run(signal, () => {
        begun.push(number);
        return new Promise<void>((resolve) => void ends.push(resolve));
      }),
    );
    await setImmediate();
    expect(begun).toEqual([1, 2]);
    ends[1]!();
    await runs[1];
    ends[0]!();
    await runs[0];
    await setImmediate();
    expect(begun).toEqual([1, 2, 3, 4]);
    for (const end of ends) end();
    await Promise.all(runs);
  });

  test('frees the slots of work that fails, and forgets work that is aborted while it waits', async () => {
    const places = createSemaphore(1);
    const left = new AbortController();
    const { promise, reject } = Promise.withResolvers<void>();
    const failing = places.run(signal, () => promise);
    const waiting = places.run(left.signal, () => Promise.resolve('never'));
    left.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    reject(new Error('failed'));
    await expect(failing).rejects.toThrow('failed');
    await expect(places.run(signal, () => Promise.resolve('free'))).resolves.toBe('free');
  });

  test('gives work as many slots as it takes, and lets no later work overtake', async () => {
    const places = createSemaphore(10);
    const begun: string[] = [];
    const work = (name: string, count: number) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const run = places.run(signal, () => (begun.push(name), promise), count);
      return { end: async () => (resolve(), run) };
    };
    const [most, all, few] = [work('most', 8), work('more than there are', 99), work('few', 2)];
    await setImmediate();
    expect([begun, places.taken, places.waiting]).toEqual([['most'], 8, 2]);
    await most.end();
    await setImmediate();
    expect([begun.at(-1), places.taken, places.waiting]).toEqual(['more than there are', 10, 1]);
    await all.end();
    await few.end();
    await setImmediate();
    expect([begun.at(-1), places.taken, places.waiting]).toEqual(['few', 0, 0]);
  });

  test('admits the work behind an aborted one', async () => {
    const places = createSemaphore(10);
    const left = new AbortController();
    const { promise, resolve } = Promise.withResolvers<void>();
    const first = places.run(signal, () => promise, 8);
    const large = places.run(left.signal, () => Promise.resolve('never'), 10);
    const small = places.run(signal, () => Promise.resolve('small'), 2);
    left.abort(new Error('gone'));
    await expect(large).rejects.toThrow('gone');
    await expect(small).resolves.toBe('small');
    resolve();
    await first;
  });

  test('frees acquired slots once, however often they are released', async () => {
    const semaphore = createSemaphore(2);
    const release = await semaphore.acquire(signal, 2);
    const next = semaphore.acquire(signal);
    expect([semaphore.taken, semaphore.waiting]).toEqual([2, 1]);
    release();
    release();
    await next;
    expect([semaphore.taken, semaphore.waiting]).toEqual([1, 0]);
  });
});
