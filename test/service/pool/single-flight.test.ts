import { describe, expect, test } from 'vitest';

import { createSingleFlight } from '#service/pool/single-flight.ts';
import type { Waiter } from '#service/pool/single-flight.ts';

const now = (): number => performance.now();
const waiter = (leftMs = 5_000, signal = new AbortController().signal): Waiter => ({
  deadlineMs: now() + leftMs,
  signal,
});

const fail = (): Promise<never> => Promise.reject(new Error('broken'));

describe('single flight', () => {
  test('equal work at one time runs once, and runs again after its end', async () => {
    const flights = createSingleFlight({ now });
    let runs = 0;
    const gate = Promise.withResolvers<number>();
    const work = (): Promise<number> => {
      runs += 1;
      return gate.promise;
    };
    const waiting = Array.from({ length: 100 }, () => flights.run('same', waiter(), work));
    expect(flights.size()).toBe(1);
    gate.resolve(7);
    const results = await Promise.all(waiting);
    expect(runs).toBe(1);
    expect(results.filter(({ joined }) => joined)).toHaveLength(99);
    expect(new Set(results.map(({ value }) => value))).toEqual(new Set([7]));
    expect(flights.size()).toBe(0);
    await flights.run('same', waiter(), work);
    expect(runs).toBe(2);
  });

  test('different keys do not share', async () => {
    const flights = createSingleFlight({ now });
    const results = await Promise.all(['a', 'b'].map((key) => flights.run(key, waiter(), () => Promise.resolve(key))));
    expect(results).toEqual([
      { value: 'a', joined: false },
      { value: 'b', joined: false },
    ]);
  });

  test('an error reaches every waiter and is not cached', async () => {
    const flights = createSingleFlight({ now });
    const waiting = await Promise.allSettled([1, 2, 3].map(() => flights.run('same', waiter(), fail)));
    expect(waiting.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(await flights.run('same', waiter(), () => Promise.resolve(1))).toEqual({ value: 1, joined: false });
  });

  test("a waiter's deadline or abort ends its own wait and no other", async () => {
    const flights = createSingleFlight({ now });
    const gate = Promise.withResolvers<string>();
    let aborted = false;
    const work = (signal: AbortSignal): Promise<string> => {
      signal.addEventListener('abort', () => (aborted = true));
      return gate.promise;
    };
    const gone = new AbortController();
    const leader = flights.run('same', waiter(10), work);
    const follower = flights.run('same', waiter(5_000, gone.signal), work);
    const patient = flights.run('same', waiter(), work);
    gone.abort();
    await expect(follower).rejects.toMatchObject({ code: 'aborted' });
    await expect(leader).rejects.toMatchObject({ code: 'deadline' });
    expect(aborted).toBe(false);
    gate.resolve('good');
    expect((await patient).value).toBe('good');
  });

  test('work without waiters is aborted, and a newcomer starts it again', async () => {
    const flights = createSingleFlight({ now });
    let runs = 0;
    const work = (signal: AbortSignal): Promise<number> =>
      new Promise((resolve, reject) => {
        runs += 1;
        if (runs === 2) resolve(runs);
        signal.addEventListener('abort', () => reject(new Error('stopped')));
      });
    const gone = new AbortController();
    const first = flights.run('same', waiter(5_000, gone.signal), work);
    gone.abort();
    await expect(first).rejects.toMatchObject({ code: 'aborted' });
    expect(flights.size()).toBe(0);
    expect((await flights.run('same', waiter(), work)).value).toBe(2);
  });

  test('a waiter whose time is over already does not wait', async () => {
    const flights = createSingleFlight({ now });
    await expect(flights.run('a', waiter(-1), () => Promise.resolve(1))).rejects.toMatchObject({ code: 'deadline' });
    await expect(flights.run('b', waiter(100, AbortSignal.abort()), () => Promise.resolve(1))).rejects.toMatchObject({
      code: 'aborted',
    });
  });
});
