import { describe, expect, it } from 'vitest';

import { createDriftLog } from '#operator/reconcile/drift-log.ts';

function start() {
  let nowMs = 0;
  return { log: createDriftLog({ now: () => nowMs }), pass: (ms: number) => void (nowMs += ms) };
}

describe('the log of drift', () => {
  it('calls the sixth correction of one field within ten minutes a fight', () => {
    const { log, pass } = start();
    for (let at = 0; at < 5; at += 1) {
      log.corrected('x', ['spec.a']);
      pass(60_000);
    }
    expect(log.isFight('x')).toBe(false);
    log.corrected('x', ['spec.a']);
    expect([log.isFight('x'), log.isFight('y')]).toEqual([true, false]);
  });

  it('calls no fight what touches many fields once each', () => {
    const { log } = start();
    for (let at = 0; at < 100; at += 1) log.corrected('x', [`spec.f${at}`]);
    expect(log.isFight('x')).toBe(false);
  });

  it('slows the corrections of a fight down to one in five minutes, and forgets it when it is over', () => {
    const { log, pass } = start();
    for (let at = 0; at < 6; at += 1) log.corrected('x', ['spec.a']);
    expect(log.waitMs('x')).toBe(300_000);
    pass(120_000);
    expect(log.waitMs('x')).toBe(180_000);
    pass(500_000);
    expect([log.waitMs('x'), log.isFight('x')]).toEqual([0, false]);
  });
});
