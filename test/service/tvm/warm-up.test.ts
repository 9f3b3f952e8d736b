import { describe, expect, it } from 'vitest';

import type { Job } from '#service/tvm/job.ts';
import { createWarmUp } from '#service/tvm/warm-up.ts';

const config = { key: '', boc: new SharedArrayBuffer(0) };
const getMethod: Job = { kind: 'getMethods', config, params: '', log: false, calls: [], previousBlocks: '', gasMax: 1 };
const other: Job = { ...getMethod, params: 'other' };
const transaction = { ...getMethod, kind: 'transaction' } as unknown as Job;

/** A thread with nothing else to do, whose runs take so long. */
function startIdle(runMs: (run: number) => number) {
  const waiting: (() => void)[] = [];
  const runs: Job[] = [];
  let clockMs = 0;
  const warmUp = createWarmUp({
    run: (job) => {
      runs.push(job);
      clockMs += runMs(runs.length);
    },
    later: (work) => void waiting.push(work),
    now: () => clockMs,
  });
  const turn = (): boolean => {
    const [work] = waiting.splice(0, 1);
    work?.();
    return work !== undefined;
  };
  return { warmUp, runs, turn };
}

describe('the first get-method of a thread', () => {
  it('is repeated 200 times, one run at a turn', () => {
    const { warmUp, runs, turn } = startIdle(() => 1);
    warmUp.ran(getMethod, 40);
    expect(runs).toEqual([]);
    turn();
    expect(runs).toEqual([getMethod]);
    while (turn());
    expect(runs).toHaveLength(200);
  });

  it('is the only one that is repeated', () => {
    const { warmUp, runs, turn } = startIdle(() => 1);
    warmUp.ran(transaction, 1);
    warmUp.ran(getMethod, 1);
    warmUp.ran(other, 1);
    while (turn());
    expect(new Set(runs)).toEqual(new Set([getMethod]));
  });

  it('is not repeated when it takes long', () => {
    const { warmUp, runs, turn } = startIdle(() => 1);
    warmUp.ran(other, 101);
    expect(turn()).toBe(false);
    warmUp.ran(getMethod, 1);
    while (turn());
    expect(runs[0]).toBe(getMethod);
  });

  it('is not repeated any more once a repetition takes long', () => {
    const { warmUp, runs, turn } = startIdle((run) => (run === 5 ? 11 : 1));
    warmUp.ran(getMethod, 1);
    while (turn());
    expect(runs).toHaveLength(5);
  });
});
