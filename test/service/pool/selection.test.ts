import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { lagBlocks, selectLiteServer } from '#service/pool/selection.ts';
import type { Candidate, Need } from '#service/pool/selection.ts';
import { seededRandom } from './workload.ts';

function candidate(index: number, change: Partial<Candidate> = {}): Candidate {
  return {
    index,
    health: { phase: 'in', cause: undefined },
    tipSeqno: 100,
    hasRoom: true,
    permission: 'yes',
    cordoned: false,
    reaches: true,
    stalled: 0,
    costMs: 10,
    weight: 10,
    ...change,
  };
}

function need(change: Partial<Need> = {}): Need {
  return { masterchainSeqno: 100, tried: new Set(), lastGood: undefined, random: () => 0, ...change };
}

const failing = { health: { phase: 'out', cause: 'failures' } } as const;

describe('choice of a lite server', () => {
  test.each<[string, Candidate[], Need, number | undefined]>([
    ['undefined without candidates', [], need(), undefined],
    ['a server with the block before a server behind', [candidate(0, { tipSeqno: 99 }), candidate(1)], need(), 1],
    [
      'the least behind when none has the block',
      [candidate(0, { tipSeqno: 90 }), candidate(1, { tipSeqno: 98 })],
      need(),
      1,
    ],
    [
      'a server that reaches back to the block before a newer and cheaper one',
      [candidate(0, { reaches: false, costMs: 1 }), candidate(1, { tipSeqno: 90 })],
      need(),
      1,
    ],
    ['the clearly cheaper of two fresh ones', [candidate(0, { costMs: 12 }), candidate(1, { costMs: 8 })], need(), 1],
    [
      'by weight among those that cost about the same',
      [candidate(0, { weight: 1 }), candidate(1, { weight: 9, costMs: 11 })],
      need({ random: () => 0.2 }),
      1,
    ],
    [
      'a server without stalls before a cheaper one with stalls',
      [candidate(0, { costMs: 1, stalled: 1 }), candidate(1, { costMs: 90 })],
      need({ lastGood: 0 }),
      1,
    ],
    [
      'the last good one as long as another is not clearly better',
      [candidate(0, { costMs: 8 }), candidate(1)],
      need({ lastGood: 1 }),
      1,
    ],
    ['a clearly better one', [candidate(0, { costMs: 6 }), candidate(1)], need({ lastGood: 1 }), 0],
    [
      'the last good one among equals',
      [candidate(0), candidate(1), candidate(2)],
      need({ lastGood: 2, random: () => 0.5 }),
      2,
    ],
    ['drawn by chance among the rest', [candidate(0), candidate(1), candidate(2)], need({ random: () => 0.99 }), 2],
    ['not a tried one', [candidate(0), candidate(1)], need({ tried: new Set([0]), lastGood: 0 }), 1],
    [
      'a server a little behind before a server without room',
      [candidate(0, { hasRoom: false }), candidate(1, { tipSeqno: 97 })],
      need(),
      1,
    ],
    [
      'a server without room before a server far behind, so that the read waits',
      [candidate(0, { hasRoom: false }), candidate(1, { tipSeqno: 96 })],
      need(),
      0,
    ],
    [
      'a server without room before a server without the data',
      [candidate(0, { hasRoom: false }), candidate(1, { reaches: false })],
      need(),
      0,
    ],
    [
      'a spare after every other usable server',
      [candidate(0, { permission: 'spare' }), candidate(1, { hasRoom: false, tipSeqno: 1, costMs: 99 })],
      need(),
      1,
    ],
    ['a spare before an ejected server', [candidate(0, failing), candidate(1, { permission: 'spare' })], need(), 1],
    ['never a forbidden server', [candidate(0, { permission: 'no' })], need(), undefined],
    [
      'an ejected server after every usable one',
      [candidate(0, failing), candidate(1, { tipSeqno: 1, hasRoom: false })],
      need(),
      1,
    ],
    ['an ejected server when no other is left', [candidate(0, failing)], need(), 0],
    ['never a cordoned server', [candidate(0, { cordoned: true })], need(), undefined],
    [
      'never a misbehaving server',
      [candidate(0, { health: { phase: 'out', cause: 'misbehaviour' } })],
      need(),
      undefined,
    ],
    [
      'never a server of another network',
      [candidate(0, { health: { phase: 'rejected', cause: 'other_network' } })],
      need(),
      undefined,
    ],
    [
      'never a server without a report',
      [candidate(0, { health: { phase: 'new', cause: undefined } })],
      need(),
      undefined,
    ],
    [
      'a server with any tip when no block is needed',
      [candidate(0, { tipSeqno: 1 }), candidate(1, { costMs: 11 })],
      need({ masterchainSeqno: undefined }),
      0,
    ],
  ])('the chosen lite server is %s', (_name, candidates, needed, expected) => {
    expect(selectLiteServer(candidates, needed)?.index).toBe(expected);
  });

  test('a read that asks again and again tries each lite server once, usable ones first, and ends', () => {
    const phases = fc.constantFrom<Candidate['health']>(
      { phase: 'in', cause: undefined },
      { phase: 'out', cause: 'failures' },
      { phase: 'out', cause: 'misbehaviour' },
      { phase: 'new', cause: undefined },
      { phase: 'rejected', cause: 'other_network' },
    );
    const candidates = fc.array(
      fc.record({
        health: phases,
        tipSeqno: fc.option(fc.nat(200), { nil: undefined }),
        hasRoom: fc.boolean(),
        permission: fc.constantFrom('yes' as const, 'spare' as const, 'no' as const),
        weight: fc.integer({ min: 1, max: 100 }),
        cordoned: fc.constant(false),
        reaches: fc.boolean(),
        stalled: fc.nat(1),
        costMs: fc.nat(500),
      }),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(
        candidates,
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.option(fc.nat(7), { nil: undefined }),
        (drawn, random, lastGood) => {
          const all = drawn.map((part, index) => ({ index, ...part }));
          const tried = new Set<number>();
          const order: Candidate[] = [];
          for (;;) {
            const chosen = selectLiteServer(all, need({ tried, random: () => random, lastGood }));
            if (chosen === undefined) break;
            expect(tried.has(chosen.index)).toBe(false);
            tried.add(chosen.index);
            order.push(chosen);
          }
          const may = all.filter(
            ({ health, permission }) =>
              permission !== 'no' && (health.phase === 'in' || (health.phase === 'out' && health.cause === 'failures')),
          );
          expect(order).toHaveLength(may.length);
          const usable = order.map(({ health }) => health.phase === 'in');
          expect(usable).toEqual(usable.toSorted((a, b) => Number(b) - Number(a)));
        },
      ),
      { seed: 5, numRuns: 300 },
    );
  });
});

test('lag is counted in blocks, never below zero, and from zero for a server without a report', () => {
  expect(lagBlocks({ tipSeqno: 90 }, 100)).toBe(10);
  expect(lagBlocks({ tipSeqno: 110 }, 100)).toBe(0);
  expect(lagBlocks({ tipSeqno: undefined }, 100)).toBe(100);
  expect(lagBlocks({ tipSeqno: 90 }, undefined)).toBe(0);
});

describe('among equally good servers', () => {
  const draws = 20_000;

  /** Returns the part of the draws of each server. */
  function shares(candidates: readonly Candidate[], seed: number): number[] {
    const random = seededRandom(seed);
    const taken = candidates.map(() => 0);
    for (let draw = 0; draw < draws; draw += 1) taken[selectLiteServer(candidates, need({ random }))!.index]! += 1;
    return taken.map((count) => count / draws);
  }

  test('each server gets the share of its weight', () => {
    const weights = [10, 20, 40, 30];
    const got = shares(
      weights.map((weight, index) => candidate(index, { weight })),
      1,
    );
    for (const [index, weight] of weights.entries()) expect(got[index]).toBeCloseTo(weight / 100, 1);
    const [light, heavy] = shares([candidate(0, { weight: 1 }), candidate(1, { weight: 100 })], 2);
    expect(heavy! / (light! + heavy!)).toBeGreaterThan(0.98);
  });

  test('two servers of all are compared, so that the dearest is never taken and load is spread over the rest', () => {
    const got = shares(
      [80, 40, 20, 10].map((costMs, index) => candidate(index, { costMs })),
      3,
    );
    // Among six pairs, the cheapest is in three, the next in two more, the third in one more.
    for (const [index, pairs] of [0, 1, 2, 3].entries()) expect(got[index]).toBeCloseTo(pairs / 6, 1);
    expect(got[0]).toBe(0);
  });
});
