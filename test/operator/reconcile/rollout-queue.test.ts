import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import { createRolloutQueue, type RolloutQueue } from '#operator/reconcile/rollout-queue.ts';
import { isReplacing } from '#operator/reconcile/rollout.ts';
import { createVirtualClock } from '#test/support/virtual-clock.ts';

describe('the line of rollouts', () => {
  it('lets as many go as may go at once, and tells the others their place', () => {
    const { queue } = line({ concurrencyMax: 2 });
    expect(['a', 'b', 'c', 'd'].map((key) => queue.ask(key))).toEqual([
      { granted: true },
      { granted: true },
      { granted: false, position: 1, waiting: 1 },
      { granted: false, position: 2, waiting: 2 },
    ]);
    expect(queue.ask('a')).toEqual({ granted: true });
    expect(queue.waiting()).toBe(2);
  });

  it('calls the first in the line when one is done, and keeps the order', async () => {
    const { queue, called, clock } = line();
    for (const key of ['a', 'b', 'c']) queue.ask(key);
    queue.leave('a');
    await clock.advance(0);
    expect(called).toEqual(['b']);
    expect(queue.ask('c')).toEqual({ granted: false, position: 2, waiting: 2 });
    expect(queue.ask('b')).toEqual({ granted: true });
  });

  it('pauses between two rollouts', async () => {
    const { queue, called, clock } = line({ delayMs: 30_000 });
    for (const key of ['a', 'b']) queue.ask(key);
    queue.begin('a');
    queue.leave('a');
    await clock.advance(29_000);
    expect(queue.ask('b')).toMatchObject({ granted: false, position: 1 });
    expect(called).toEqual([]);
    await clock.advance(1000);
    expect(called).toEqual(['b']);
    expect(queue.ask('b')).toEqual({ granted: true });
  });

  it('has no pause after a turn in which no rollout began', async () => {
    const { queue, called, clock } = line({ delayMs: 30_000 });
    for (const key of ['a', 'b']) queue.ask(key);
    expect(queue.hasBegun('a')).toBe(false);
    queue.leave('a');
    await clock.advance(0);
    expect(called).toEqual(['b']);
    expect(queue.ask('b')).toEqual({ granted: true });
  });

  it('calls those behind one that got its turn or left, whose places are other ones now', () => {
    const { queue, called } = line();
    for (const key of ['a', 'b', 'c', 'd']) queue.ask(key);
    queue.leave('c');
    expect(called).toEqual(['d']);
    queue.leave('a');
    expect(queue.ask('b')).toEqual({ granted: true });
    expect(called).toEqual(['d', 'd']);
    expect(queue.ask('d')).toEqual({ granted: false, position: 1, waiting: 1 });
  });

  it('calls ten of a long line alone', () => {
    const { queue, called } = line();
    for (let at = 0; at < 30; at++) queue.ask(`${at}`);
    queue.leave('1');
    expect(called).toHaveLength(10);
  });

  it('counts rollouts that an operator before it has begun', async () => {
    const replacing = new Set(['a']);
    const { queue, called, clock } = line({}, replacing);
    expect(queue.ask('b')).toEqual({ granted: false, position: 1, waiting: 1 });
    replacing.delete('a');
    queue.leave('a');
    await clock.advance(0);
    expect(called).toEqual(['b']);
    expect(queue.ask('b')).toEqual({ granted: true });
  });

  it('lets one that is being replaced go on with its own turn', () => {
    const { queue } = line({}, new Set(['a']));
    expect(queue.ask('a')).toEqual({ granted: true });
  });

  it('goes on without those who left the line', async () => {
    const { queue, called, clock } = line();
    for (const key of ['a', 'b', 'c']) queue.ask(key);
    queue.leave('b');
    queue.leave('a');
    await clock.advance(0);
    expect(called.at(-1)).toBe('c');
  });

  it('never has more at work than it may, and starves nobody, whatever the order of asking and leaving', () => {
    const step = fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd', 'e'), leaves: fc.boolean() });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 60 }), (concurrencyMax, steps) => {
        const { queue } = line({ concurrencyMax });
        const rolling = new Set<string>();
        for (const { key, leaves } of steps) {
          if (leaves) {
            queue.leave(key);
            rolling.delete(key);
          } else if (queue.ask(key).granted) rolling.add(key);
          expect(rolling.size).toBeLessThanOrEqual(concurrencyMax);
        }
        drain(queue, rolling);
        expect(queue.waiting()).toBe(0);
      }),
      { seed: 17, numRuns: 200 },
    );
  });
});

describe('pods are being replaced', () => {
  const stuck = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }];
  it.each<[string, KubernetesObject['status'], boolean]>([
    ['while older ones are there', { observedGeneration: 2, replicas: 4, updatedReplicas: 1 }, true],
    ['from the moment of the change', { observedGeneration: 1, replicas: 3, updatedReplicas: 3 }, true],
    ['not when all are new', { observedGeneration: 2, replicas: 3, updatedReplicas: 3, availableReplicas: 2 }, false],
    ['not when the first ones start', { observedGeneration: 2, replicas: 2, updatedReplicas: 2 }, false],
    ['not before there are any', {}, false],
    [
      'not when the new ones do not become ready',
      { observedGeneration: 2, replicas: 4, updatedReplicas: 1, conditions: stuck },
      false,
    ],
  ])('%s', (_case, status = {}, expected) => {
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'x', generation: 2 }, status };
    expect(isReplacing(deployment)).toBe(expected);
  });
});

function line(options: { concurrencyMax?: number; delayMs?: number } = {}, replacing: ReadonlySet<string> = new Set()) {
  const clock = createVirtualClock();
  const called: string[] = [];
  const queue = createRolloutQueue(
    { concurrencyMax: 1, delayMs: 0, ...options },
    { clock, replacing: () => replacing, onTurn: (key) => void called.push(key) },
  );
  return { queue, called, clock };
}

/** Those at work end, and the others ask again and again until each had a turn. */
function drain(queue: RolloutQueue, rolling: ReadonlySet<string>): void {
  for (const key of rolling) queue.leave(key);
  const without = new Set(['a', 'b', 'c', 'd', 'e']);
  for (let round = 0; round < 5; round++) {
    for (const key of without) {
      if (!queue.ask(key).granted) continue;
      queue.leave(key);
      without.delete(key);
    }
  }
}
