import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { isMemoized, memoizePacedView, memoizeView, writeResult } from '#service/contract/memoized-view.ts';

describe('a value that is given again', () => {
  it('is shown once, and another one anew, equal or not', () => {
    let shown = 0;
    const view = memoizeView((value: { readonly n: number }) => ({ n: value.n, shown: ++shown }));
    const one = { n: 1 };
    expect([view(one), view(one), view({ n: 1 })]).toEqual([
      { n: 1, shown: 1 },
      { n: 1, shown: 1 },
      { n: 1, shown: 2 },
    ]);
    expect(view(one)).toBe(view(one));
  });

  it('is shown with the context of the first time', () => {
    const view = memoizeView((value: { readonly n: number }, factor: number) => value.n * factor);
    const one = { n: 2 };
    expect([view(one, 3), view(one, 5)]).toEqual([6, 6]);
  });

  it('is written once: the answer is the same text though its object was changed behind its back', () => {
    const view = memoizeView((value: { readonly n: number }) => ({ n: value.n }));
    const result = view({ n: 1 });
    expect(writeResult(result)).toBe('{"n":1}');
    Object.assign(result, { n: 2 });
    expect(writeResult(result)).toBe('{"n":1}');
  });
});

describe('a value that is shown in work that pauses', () => {
  it('is shown once for all who ask meanwhile and later, and its JSON is kept', async () => {
    let shown = 0;
    const view = memoizePacedView(async ({ n }: { readonly n: number }) => {
      shown++;
      await Promise.resolve();
      return { n };
    });
    const one = { n: 1 };
    const [first, second] = await Promise.all([view(one), view(one)]);
    expect(await view(one)).toBe(first);
    expect([second, isMemoized(first), shown]).toEqual([first, true, 1]);
  });

  it('is refused again without the work', async () => {
    let shown = 0;
    const view = memoizePacedView((): Promise<object> => {
      shown++;
      return Promise.reject(new Error('too big'));
    });
    const one = {};
    await expect(view(one)).rejects.toThrow('too big');
    await expect(view(one)).rejects.toThrow('too big');
    expect(shown).toBe(1);
  });
});

describe('a result', () => {
  it('is written as JSON.stringify writes it, shown once or not', () => {
    const view = memoizeView(({ item }: { readonly item: unknown }) => item);
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.boolean(), (items, areShown) => {
        const result = areShown ? items.map((item) => view({ item })) : items;
        expect(writeResult(result)).toBe(JSON.stringify(result));
        for (const item of result) expect(writeResult(item)).toBe(JSON.stringify(item));
        expect(writeResult(result)).toBe(JSON.stringify(items));
      }),
      { seed: 21, numRuns: 300 },
    );
  });
});
