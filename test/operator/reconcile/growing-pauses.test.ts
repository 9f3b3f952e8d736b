import { describe, expect, it } from 'vitest';

import { createGrowingPauses } from '#operator/reconcile/growing-pauses.ts';

const [propagating, revoking] = ['Propagating', 'Revoking'];
const pausesOf = () => createGrowingPauses({ firstMs: 2000, maxMs: 10_000 });

describe('growing pauses', () => {
  it('double up to the longest, for each key by itself', () => {
    const pauses = pausesOf();
    expect(Array.from({ length: 5 }, () => pauses.next('ton/a', propagating))).toEqual([
      2000, 4000, 8000, 10_000, 10_000,
    ]);
    expect(pauses.next('ton/b', propagating)).toBe(2000);
  });

  it('begin with the first for another reason, and after the wait has ended', () => {
    const pauses = pausesOf();
    pauses.next('ton/a', propagating);
    expect(pauses.next('ton/a', revoking)).toBe(2000);
    expect(pauses.next('ton/a', revoking)).toBe(4000);
    expect(pauses.next('ton/a', undefined)).toBeUndefined();
    expect(pauses.next('ton/a', revoking)).toBe(2000);
  });
});
