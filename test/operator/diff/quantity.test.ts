import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { quantity } from '#operator/diff/quantity.ts';

describe('a quantity', () => {
  it.each([
    ['1', '1000m'],
    ['0.5', '500m'],
    ['1e3', '1k'],
    ['1E3', '1000'],
    ['1Ki', '1024'],
    ['1.5Gi', '1536Mi'],
    ['128974848', '123Mi'],
    ['129e6', '129M'],
    ['.5', '500m'],
    ['5.', '5'],
    ['+1', '1'],
    ['-1', '-1000m'],
    ['1u', '1000n'],
    ['100E', '100000P'],
    [2, '2'],
    // Rounded up to a billionth, as the API server does.
    ['0.1n', '1n'],
  ])('%s is %s', (a, b) => {
    expect(quantity(a)).toBeDefined();
    expect(quantity(a)).toBe(quantity(b));
  });

  it.each([
    ['1Gi', '1G'],
    ['1', '1k'],
    ['1m', '1M'],
    ['0', '1n'],
  ])('%s is not %s', (a, b) => {
    expect(quantity(a)).not.toBe(quantity(b));
  });

  it.each([
    '',
    '.',
    'Gi',
    '1 Gi',
    '1gi',
    '1Kib',
    '1e',
    '1e3k',
    '0x10',
    'NaN',
    '1,5',
    '9'.repeat(65),
    true,
    null,
    undefined,
    {},
  ])('is not %s', (text) => {
    expect(quantity(text)).toBeUndefined();
  });

  it('is the same in every unit that holds it whole', () => {
    fc.assert(
      fc.property(fc.nat(), (amount) => {
        const billionths = quantity(amount);
        expect(billionths).toBe(BigInt(amount) * 1_000_000_000n);
        expect(quantity(`${amount}000m`)).toBe(billionths);
        expect(quantity(`${amount}.000`)).toBe(billionths);
        expect(quantity(`${amount}Ki`)).toBe(quantity(String(amount * 1024)));
      }),
      { seed: 5, numRuns: 200 },
    );
  });
});
