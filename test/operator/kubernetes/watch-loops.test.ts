import { describe, expect, it } from 'vitest';

import { createWatchLoops } from '#operator/kubernetes/watch-loops.ts';

function loopsOf(...namespaces: readonly string[]) {
  let nowMs = 0;
  const loops = createWatchLoops(namespaces, { now: () => nowMs });
  const [a, b] = loops.all;
  const refuse = (loop = b!, times = 3): boolean[] => Array.from({ length: times }, () => loops.refused(loop));
  return { loops, a: a!, b: b!, refuse, pass: (ms: number) => void (nowMs += ms) };
}

describe('the loops of one kind', () => {
  it('are synced when one namespace is listed and the other is forbidden, in any order', () => {
    for (const isFirst of [true, false]) {
      const { loops, a, refuse } = loopsOf('a', 'b');
      if (isFirst) loops.listed(a);
      expect(refuse()).toEqual([false, false, true]);
      expect(loops.hasSynced()).toBe(isFirst);
      loops.listed(a);
      expect(loops.hasSynced()).toBe(true);
    }
  });

  it('are not synced while a namespace may still answer, or none is listed', () => {
    const { loops, a, b, refuse } = loopsOf('a', 'b');
    refuse(a);
    expect([loops.hasSynced(), loops.forbidden(), loops.isLeftOut(a)]).toEqual([false, false, true]);
    refuse(b);
    expect([loops.hasSynced(), loops.forbidden(), loops.isLeftOut(a)]).toEqual([false, true, false]);
  });

  it('a forbidden namespace stays unknown through other errors, until it is listed', () => {
    const { loops, b, refuse } = loopsOf('a', 'b');
    refuse();
    b.refusals = 0;
    expect([loops.isUnknown('a'), loops.isUnknown('b')]).toEqual([false, true]);
    expect(loops.isUnknown()).toBe(true);
    loops.listed(b);
    refuse();
    expect([loops.isUnknown('b'), loops.isUnknown()]).toEqual([false, false]);
  });

  it('are as old as the most silent namespace that is not forbidden', () => {
    const { loops, a, refuse, pass } = loopsOf('a', 'b');
    refuse();
    pass(5000);
    a.aliveAtMs = 3000;
    expect(loops.ageSeconds()).toBe(2);
    refuse(a);
    expect(loops.ageSeconds()).toBe(5);
  });
});
