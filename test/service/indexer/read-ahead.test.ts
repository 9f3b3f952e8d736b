import { assert, asyncProperty, infiniteStream, integer, nat } from 'fast-check';
import { describe, expect, test } from 'vitest';

import { createReadAhead, hasRoom } from '#service/indexer/read-ahead.ts';

type Item = { readonly number: number; readonly bytes: number };

/** A sequence whose reads end when the test says so. */
function sequence(last: number, bytesOf: (number: number) => number = () => 10) {
  const waiting = new Map<number, () => void>();
  const begun: number[] = [];
  return {
    begun,
    waiting,
    end: (number: number): void => {
      waiting.get(number)!();
      waiting.delete(number);
    },
    dependencies: {
      read: (number: number, signal: AbortSignal): Promise<Item> =>
        new Promise((resolve, reject) => {
          begun.push(number);
          waiting.set(number, () => resolve({ number, bytes: bytesOf(number) }));
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        }),
      bytesOf: ({ bytes }: Item): number => bytes,
      last: () => last,
      awaitItem: (): Promise<void> => new Promise(() => undefined),
      signal: new AbortController().signal,
    },
  };
}

const all = { itemsMax: 1_000, bytesMax: 1e9 };

describe('reading ahead', () => {
  test('gives in order what comes in any order', async () => {
    const { dependencies, end } = sequence(3);
    const ahead = createReadAhead({ first: 1, itemsMax: 8, bytesMax: 1e6, bytesGuess: 10 }, dependencies);
    const taken = ahead.take(all, true);
    for (const number of [3, 1, 2]) end(number);
    expect((await taken).map(({ number }) => number)).toEqual([1, 2, 3]);
  });

  test('takes what is there without waiting for more, when it is not patient', async () => {
    const { dependencies, end } = sequence(4);
    const ahead = createReadAhead({ first: 1, itemsMax: 8, bytesMax: 1e6, bytesGuess: 10 }, dependencies);
    const taken = ahead.take(all, false);
    for (const number of [2, 4, 1]) end(number);
    expect((await taken).map(({ number }) => number)).toEqual([1, 2]);
  });

  test('begins no more than it may hold, and goes on as they are taken', async () => {
    const { dependencies, end, begun } = sequence(10);
    const ahead = createReadAhead({ first: 1, itemsMax: 3, bytesMax: 1e6, bytesGuess: 10 }, dependencies);
    const taken = ahead.take({ itemsMax: 2, bytesMax: 1e6 }, true);
    expect(begun).toEqual([1, 2, 3]);
    end(1);
    end(2);
    expect(await taken).toHaveLength(2);
    expect(begun).toEqual([1, 2, 3, 4, 5]);
  });

  test('lets one item pass that is larger than all that may be held', async () => {
    const { dependencies, end } = sequence(3, () => 500);
    const ahead = createReadAhead({ first: 1, itemsMax: 8, bytesMax: 100, bytesGuess: 10 }, dependencies);
    const first = ahead.take({ itemsMax: 1, bytesMax: 100 }, true);
    end(1);
    expect(await first).toHaveLength(1);
  });

  test('reading ahead ends when its signal aborts', async () => {
    const { dependencies } = sequence(3);
    const ended = new AbortController();
    const ahead = createReadAhead(
      { first: 1, itemsMax: 8, bytesMax: 1e6, bytesGuess: 10 },
      { ...dependencies, signal: ended.signal },
    );
    const taken = ahead.take(all, true);
    ended.abort(new Error('enough'));
    await expect(taken).rejects.toThrow('enough');
  });

  test('holds no more bytes than allowed when sizes are as they usually are, in whatever order reads end', async () => {
    const orders = infiniteStream(nat());
    const lengths = integer({ min: 2, max: 60 });
    await assert(
      asyncProperty(lengths, integer({ min: 20, max: 200 }), orders, async (last, bytesMax, order) => {
        const { dependencies, waiting, end } = sequence(last);
        const ahead = createReadAhead({ first: 1, itemsMax: 1_000, bytesMax, bytesGuess: 10 }, dependencies);
        let taken = 0;
        while (taken < last) {
          const taking = ahead.take({ itemsMax: 1, bytesMax: 1 }, false);
          const numbers = [...waiting.keys()];
          const from = (order.next().value ?? 0) % (numbers.length + 1);
          for (const number of [...numbers.slice(from), ...numbers.slice(0, from)]) end(number);
          taken += (await taking).length;
          expect(ahead.bufferedBytes() + 10 * ahead.reading()).toBeLessThanOrEqual(bytesMax);
        }
        expect([ahead.bufferedBytes(), ahead.reading()]).toEqual([0, 0]);
      }),
      { seed: 9, numRuns: 200 },
    );
  });
});

describe('room for one more', () => {
  const bounds = { itemsMax: 4, bytesMax: 100 };
  test.each([
    {
      name: 'is there when nothing is held',
      now: { items: 0, bufferedBytes: 0, reading: 0, usualBytes: 1_000 },
      room: true,
    },
    {
      name: 'is not there with as many as allowed',
      now: { items: 4, bufferedBytes: 4, reading: 0, usualBytes: 1 },
      room: false,
    },
    {
      name: 'is not there when the bytes would be too many',
      now: { items: 2, bufferedBytes: 60, reading: 1, usualBytes: 30 },
      room: false,
    },
    {
      name: 'is there when they just fit',
      now: { items: 2, bufferedBytes: 40, reading: 1, usualBytes: 30 },
      room: true,
    },
  ])('$name', ({ now, room }) => {
    expect(hasRoom(now, bounds)).toBe(room);
  });
});
