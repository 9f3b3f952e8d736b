import { describe, expect, test } from 'vitest';

import { functionNamed } from '#service/liteserver/function-table.ts';
import { costMs, createScores, SCORE_OLD_MS } from '#service/pool/score.ts';

/** Creates scores with a clock that the test moves. */
function scene() {
  const at = { ms: 0 };
  return { at, scores: createScores({ now: () => at.ms }) };
}

describe('the score of a lite server', () => {
  test('a score has the latency of seven of ten answers, each class of functions separately', () => {
    const { scores } = scene();
    for (const ms of [10, 10, 10, 10, 10, 10, 10, 900, 900, 900]) scores.observe('state', ms, false);
    expect(scores.of('state').p70Ms).toBeGreaterThanOrEqual(10);
    expect(scores.of('state').p70Ms).toBeLessThan(12.1);
    expect(scores.of('light').p70Ms).toBeUndefined();
  });

  test('a score has the part of recent attempts that failed', () => {
    const { scores } = scene();
    for (let i = 0; i < 50; i += 1) scores.observe('state', 10, true);
    expect(scores.of('state').errorRate).toBeGreaterThan(0.99);
    for (let i = 0; i < 50; i += 1) scores.observe('state', 10, false);
    expect(scores.of('state').errorRate).toBeLessThan(0.01);
  });

  test('a score expires after a while, and later attempts count alone', () => {
    const { at, scores } = scene();
    for (let i = 0; i < 50; i += 1) scores.observe('heavy', 2_000, true);
    at.ms = SCORE_OLD_MS + 1;
    expect(scores.of('heavy')).toEqual({ p70Ms: undefined, errorRate: 0 });
    scores.observe('heavy', 10, false);
    expect(scores.of('heavy').p70Ms).toBeLessThan(13);
  });
});

describe('the cost of asking', () => {
  const score = { p70Ms: 20, errorRate: 0 };

  test.each([
    ['latency alone while idle', costMs(score, 0), 20],
    ['twice that with four in flight', costMs(score, 4), 40],
    ['twice that when one of ten fails', costMs({ ...score, errorRate: 0.1 }, 0), 40],
    ['nothing for one that is idle and unknown, so that it is tried', costMs({ p70Ms: undefined, errorRate: 0 }, 0), 0],
  ])('the cost is %s', (_name, cost, expected) => {
    expect(cost).toBeCloseTo(expected);
  });

  test('the cost of an unknown server in use diverts other reads from it', () => {
    expect(costMs({ p70Ms: undefined, errorRate: 0 }, 1)).toBeGreaterThan(costMs(score, 4));
  });
});

test.each([
  ['getAccountState', 'state'],
  ['runSmcMethod', 'state'],
  ['getBlock', 'heavy'],
  ['getTransactions', 'heavy'],
  ['lookupBlock', 'light'],
])('%s is of the class %s', (name, methodClass) => {
  expect(functionNamed(name)?.cost).toBe(methodClass);
});
