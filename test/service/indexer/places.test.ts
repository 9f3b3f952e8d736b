import { describe, expect, test } from 'vitest';

import { createHeld } from '#service/indexer/held.ts';
import { createPlaces } from '#service/indexer/places.ts';

const signal = new AbortController().signal;

describe('places', () => {
  test('let so many run at a time, the others in their order', async () => {
    const places = createPlaces(2);
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
    const places = createPlaces(1);
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
});

describe('what is held', () => {
  test('is made once, and again after the last use was too long ago', async () => {
    const held = createHeld<string>({ max: 2 });
    const made: number[] = [];
    const get = (key: number): Promise<string> =>
      held.get(key, signal, () => {
        made.push(key);
        return Promise.resolve(`value ${key}`);
      });
    for (const key of [1, 1, 2, 1, 3, 1, 2]) expect(await get(key)).toBe(`value ${key}`);
    expect(made).toEqual([1, 2, 3, 2]);
  });

  test('is made anew by who shared work that failed', async () => {
    const held = createHeld<string>({ max: 2 });
    const first = held.get(1, signal, () => Promise.reject(new Error('the first one left')));
    const second = held.get(1, signal, () => Promise.resolve('made by the second'));
    await expect(first).rejects.toThrow('the first one left');
    expect(await second).toBe('made by the second');
    expect(await held.get(1, signal, () => Promise.reject(new Error('not needed')))).toBe('made by the second');
  });
});
