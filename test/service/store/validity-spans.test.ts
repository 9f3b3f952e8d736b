import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { planSpans, type ValiditySpan } from '#service/store/validity-spans.ts';

const span = (after: number, until: number, owner: string, version = 1): ValiditySpan => ({
  after_lt: BigInt(after),
  until_lt: BigInt(until),
  facts: { jettonWallet: { owner, jetton: 'J' } },
  version,
});

/** The stored spans after changes, by their beginnings. */
function apply(stored: readonly ValiditySpan[], seen: readonly ValiditySpan[]): ValiditySpan[] {
  const { removed, added } = planSpans(stored, seen);
  return [...stored.filter(({ after_lt }) => !removed.includes(after_lt)), ...added].toSorted((one, other) =>
    Number(one.after_lt - other.after_lt),
  );
}

describe('spans of facts', () => {
  it.each([
    ['goes on from the one before', [span(0, 10, 'A')], [span(10, 20, 'A')], [span(0, 20, 'A')]],
    [
      'begins anew when the facts are others',
      [span(0, 10, 'A')],
      [span(10, 20, 'B')],
      [span(0, 10, 'A'), span(10, 20, 'B')],
    ],
    ['stands alone behind a gap', [span(0, 10, 'A')], [span(15, 20, 'A')], [span(0, 10, 'A'), span(15, 20, 'A')]],
    ['closes a gap', [span(0, 10, 'A'), span(20, 30, 'A')], [span(10, 20, 'A')], [span(0, 30, 'A')]],
    ['changes nothing when it was known', [span(0, 30, 'A')], [span(10, 20, 'A')], [span(0, 30, 'A')]],
    [
      'is cut out when it is told anew',
      [span(0, 30, 'A')],
      [span(10, 20, 'B')],
      [span(0, 10, 'A'), span(10, 20, 'B'), span(20, 30, 'A')],
    ],
    [
      'of another version stands for itself',
      [span(0, 10, 'A')],
      [span(10, 20, 'A', 2)],
      [span(0, 10, 'A'), span(10, 20, 'A', 2)],
    ],
    ['takes the whole place', [span(10, 20, 'A')], [span(10, 20, 'B')], [span(10, 20, 'B')]],
  ])('a span %s', (_what, stored, seen, expected) => {
    expect(apply(stored, seen)).toEqual(expected);
  });

  it('does not mind in which order Postgres keeps fields', () => {
    const stored = { ...span(0, 10, 'A'), facts: { jettonWallet: { jetton: 'J', owner: 'A' } } };
    expect(apply([stored], [span(10, 20, 'A')])).toHaveLength(1);
  });

  it('are the same whatever the order in which blocks were looked at', () => {
    const lives = fc.array(fc.constantFrom('A', 'B'), { minLength: 1, maxLength: 12 });
    const property = fc.property(lives, fc.infiniteStream(fc.nat()), (owners, draws) => {
      const all = owners.map((owner, index) => span(index * 10, index * 10 + 10, owner));
      const inOrder = all.reduce<ValiditySpan[]>((stored, one) => apply(stored, [one]), []);
      const left = [...all];
      let stored: ValiditySpan[] = [];
      while (left.length > 0) {
        const [one] = left.splice((draws.next().value as number) % left.length, 1);
        // Only what a row's neighbours are is read of the stored ones.
        const near = stored
          .filter(({ after_lt, until_lt }) => after_lt <= one!.until_lt && until_lt >= one!.after_lt)
          .slice(-3);
        stored = [...stored.filter((other) => !near.includes(other)), ...apply(near, [one!])];
      }
      expect(stored.toSorted((one, other) => Number(one.after_lt - other.after_lt))).toEqual(inOrder);
      expect(apply([], all.toReversed())).toEqual(inOrder);
    });
    fc.assert(property, { seed: 22_112_026, numRuns: 500 });
  });
});
