import { setImmediate } from 'node:timers/promises';

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createPacer, mapPaced, writePaced } from '#service/contract/paced.ts';

describe('long work', () => {
  it('rests when its turn is over, and begins another turn then', async () => {
    let nowMs = 0;
    const pacer = createPacer(() => nowMs);
    expect(pacer.pause()).toBeUndefined();
    nowMs = 10;
    const rest = pacer.pause();
    expect(rest).toBeInstanceOf(Promise);
    await rest;
    expect(pacer.pause()).toBeUndefined();
  });

  it('lets others run between its items', async () => {
    let nowMs = 0;
    let turns = 0;
    const over = new AbortController();
    const other = async (): Promise<void> => {
      for (; !over.signal.aborted; turns++) await setImmediate();
    };
    const running = other();
    const items = Array.from({ length: 20 }, (_one, at) => at);
    const shown = await mapPaced(
      items,
      (item) => {
        nowMs += 5;
        return -item;
      },
      createPacer(() => nowMs),
    );
    over.abort();
    await running;
    expect(shown).toEqual(items.map((item) => -item));
    expect(turns).toBeGreaterThanOrEqual(19);
  });
});

describe('paced JSON', () => {
  it('is that of JSON.stringify', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), async (value) => {
        expect(await writePaced(value)).toBe(JSON.stringify(value));
      }),
      { seed: 9, numRuns: 500 },
    );
  });

  it('has long lists whole, and fields without a value not at all', async () => {
    const value = { list: Array.from({ length: 1000 }, (_one, at) => ({ at })), none: undefined, book: { a: [1] } };
    expect(await writePaced(value)).toBe(JSON.stringify(value));
    expect(await writePaced(value.list)).toBe(JSON.stringify(value.list));
  });
});
