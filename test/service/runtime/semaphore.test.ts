import { describe, expect, test } from 'vitest';

import { createSemaphore } from '#service/runtime/semaphore.ts';

const signal = new AbortController().signal;

describe('places', () => {
  test('let so many run at a time, the others in their order', async () => {
    const places = createSemaphore(2);
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const runs = [1, 2, 3, 4].map((number) =>
      places.run(signal, () => {
        begun.push(number);
        return new Promise<void>((resolve) => void ends.push(resolve));
      }),
    );
    await Promise.resolve();
    expect(begun).toEqual([1, 2]);
    ends[1]!();
    await runs[1];
    ends[0]!();
    await runs[0];
    await Promise.resolve();
    expect(begun).toEqual([1, 2, 3, 4]);
    for (const end of ends) end();
    await Promise.all(runs);
  });

  test('are left by who waits no more, and by what fails', async () => {
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

  test('are as many as the work takes, and who comes later with less does not overtake', async () => {
    const places = createSemaphore(10);
    const begun: string[] = [];
    const work = (name: string, count: number) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const run = places.run(signal, () => (begun.push(name), promise), count);
      return { end: async () => (resolve(), run) };
    };
    const [most, all, few] = [work('most', 8), work('more than there are', 99), work('few', 2)];
    await Promise.resolve();
    expect([begun, places.taken, places.waiting]).toEqual([['most'], 8, 2]);
    await most.end();
    expect([begun.at(-1), places.taken, places.waiting]).toEqual(['more than there are', 10, 1]);
    await all.end();
    await few.end();
    expect([begun.at(-1), places.taken, places.waiting]).toEqual(['few', 0, 0]);
  });

  test('go to those behind whoever waits no more', async () => {
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
});
