import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { createBoundedCache } from '#service/runtime/bounded-cache.ts';

test('the least recently used answers are evicted first', () => {
  const cache = createBoundedCache({ bytesMax: 80 });
  for (let i = 0; i < 8; i += 1) cache.set(`k${i}`, i, 10);
  expect(cache.get('k0')).toBe(0);
  cache.set('k8', 8, 10);
  expect(cache.get('k1')).toBe(undefined);
  expect(cache.get('k0')).toBe(0);
  expect(cache.bytes()).toBe(80);
});

test('an answer of more than an eighth of the cache is not cached', () => {
  const cache = createBoundedCache({ bytesMax: 80 });
  cache.set('big', 1, 11);
  expect(cache.get('big')).toBe(undefined);
});

test('the cache never exceeds its bytes, and returns only values that were put there', () => {
  const operation = fc.record({ key: fc.nat(20), bytes: fc.nat(60) });
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 100 }), (operations) => {
      const cache = createBoundedCache({ bytesMax: 400 });
      const last = new Map<number, number>();
      for (const [turn, { key, bytes }] of operations.entries()) {
        cache.set(String(key), turn, bytes);
        last.set(key, turn);
        expect(cache.bytes()).toBeLessThanOrEqual(400);
      }
      for (const [key, turn] of last) expect([turn, undefined]).toContain(cache.get(String(key)));
    }),
    { seed: 3, numRuns: 200 },
  );
});
