import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { decideCanary, REQUESTS_MIN, type CanaryInput } from '#operator/rollout/canary.ts';
import { addLook, emptyWindow, type Counts } from '#operator/rollout/error-window.ts';

const noonMs = Date.parse('2026-11-21T12:00:00Z');
const noon = '2026-11-21T12:00:00Z';
const state = { hash: 'new', step: 0, since: noon };

describe('a canary', () => {
  it('starts at the first step, with at least one pod', () => {
    expect(decideCanary(input({ state: undefined, nowMs: noonMs }))).toMatchObject({
      phase: 'step',
      state,
      weight: 5,
      replicas: 1,
    });
  });

  it.each<[string, Partial<CanaryInput>, object]>([
    [
      'holds while its pods start',
      { pods: 'starting', nowMs: noonMs + 3_600_000 },
      { phase: 'step', weight: 5, why: 'its pods start' },
    ],
    ['holds as long as the step says', { nowMs: noonMs + 599_000 }, { phase: 'step', weight: 5, retryAfterMs: 1000 }],
    [
      'does not end a step whose hold is no duration',
      { steps: [{ weight: 5, holdMs: undefined }], nowMs: noonMs + 999_000_000 },
      { phase: 'step', weight: 5, why: 'the hold of step 1 is no duration' },
    ],
    [
      'holds until there were enough requests',
      { canary: { requests: 499, errors: 0 } },
      { phase: 'step', weight: 5, why: 'waits for 500 requests to the canary before it is judged' },
    ],
    [
      'goes to the next step when both are there',
      {},
      { phase: 'step', state: { hash: 'new', step: 1, since: '2026-11-21T12:10:00Z' }, weight: 50, replicas: 5 },
    ],
    ['becomes stable after the last step', { state: { ...state, step: 1 } }, { phase: 'promote' }],
    [
      'goes on with failures that stable pods have too',
      { canary: { requests: 1000, errors: 100 }, stable: { requests: 9000, errors: 880 } },
      { phase: 'step', state: { step: 1 } },
    ],
    [
      'is given up with more failures than allowed',
      { canary: { requests: 1000, errors: 21 }, stable: { requests: 9000, errors: 90 } },
      { phase: 'rolledBack' },
    ],
    [
      'is given up before it has enough requests when they could not save it',
      { canary: { requests: 100, errors: 6 } },
      { phase: 'rolledBack', why: expect.stringMatching(/^6 of 100 requests failed/) },
    ],
    [
      'is given up during the hold',
      { nowMs: noonMs + 1000, canary: { requests: 600, errors: 30 } },
      { phase: 'rolledBack' },
    ],
    [
      'is given up when its pods do not become ready',
      { pods: 'failed' },
      { phase: 'rolledBack', why: 'its pods did not become ready' },
    ],
    ['stays given up', { state: { ...state, rolledBack: 'too bad' } }, { phase: 'rolledBack', why: 'too bad' }],
    [
      'starts anew with another template',
      { state: { ...state, step: 1, rolledBack: 'too bad' }, wantedHash: 'newer' },
      { phase: 'step', state: { hash: 'newer', step: 0 }, weight: 5 },
    ],
  ])('%s', (_case, changes, expected) => {
    expect(decideCanary(input(changes))).toMatchObject(expected);
  });

  it('with one request in twenty failing is given up while at most one request in a hundred of all is hurt', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const random = seeded(seed);
        let canary: Counts = { requests: 0, errors: 0 };
        let requests = 0;
        let phase = 'step';
        while (phase === 'step' && requests < 200_000) {
          requests++;
          if (random() >= 0.05) continue;
          canary = { requests: canary.requests + 1, errors: canary.errors + (random() < 0.05 ? 1 : 0) };
          const stable = { requests: requests - canary.requests, errors: 0 };
          phase = decideCanary(input({ canary, stable, nowMs: noonMs + 1 })).phase;
        }
        expect(phase).toBe('rolledBack');
        expect(canary.errors / requests).toBeLessThanOrEqual(0.01);
      }),
      { seed: 3, numRuns: 100 },
    );
  });

  it('never loses a step to time that runs back', () => {
    expect(decideCanary(input({ nowMs: noonMs - 60_000 }))).toMatchObject({ phase: 'step', state });
  });
});

describe('a window of counters', () => {
  it.each<[string, Record<string, [number, number]>[], boolean, Counts]>([
    [
      'counts from the first look at pods that were there before',
      [{ a: [100, 10] }, { a: [150, 11] }],
      false,
      { requests: 50, errors: 1 },
    ],
    [
      'counts everything of pods that started within it',
      [{ a: [100, 10] }, { a: [150, 11] }],
      true,
      { requests: 150, errors: 11 },
    ],
    ['takes a restarted pod from zero', [{ a: [100, 10] }, { a: [20, 2] }], false, { requests: 20, errors: 2 }],
    ['keeps what a pod added that is gone', [{ a: [0, 0] }, { a: [40, 4] }, {}], true, { requests: 40, errors: 4 }],
  ])('%s', (_case, looks, startedInWindow, expected) => {
    const window = looks.reduce((before, pods) => addLook(before, countersOf(pods), startedInWindow), emptyWindow);
    expect(window.sum).toEqual(expected);
  });
});

function countersOf(pods: Record<string, [number, number]>): Map<string, Counts> {
  return new Map(Object.entries(pods).map(([name, [requests, errors]]) => [name, { requests, errors }]));
}

/** Even numbers from 0 to 1, the same for the same seed. */
function seeded(seed: number): () => number {
  let drawn = seed >>> 0;
  return () => {
    drawn = (Math.imul(drawn, 1_664_525) + 1_013_904_223) >>> 0;
    return drawn / 2 ** 32;
  };
}

function input(changes: Partial<CanaryInput> = {}): CanaryInput {
  return {
    steps: [
      { weight: 5, holdMs: 600_000 },
      { weight: 50, holdMs: 600_000 },
    ],
    maxErrorRatio: 0.01,
    wantedHash: 'new',
    stableReplicas: 10,
    state,
    pods: 'ready',
    canary: { requests: REQUESTS_MIN, errors: 0 },
    stable: { requests: 10_000, errors: 0 },
    nowMs: noonMs + 600_000,
    ...changes,
  };
}
