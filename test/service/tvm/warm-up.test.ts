import { describe, expect, it } from 'vitest';

import type { Job } from '#service/tvm/job.ts';
import { createWarmUp } from '#service/tvm/warm-up.ts';

const config = { key: '', boc: new SharedArrayBuffer(0) };
const getMethod: Job = { kind: 'getMethods', config, params: '', log: false, calls: [], previousBlocks: '', gasMax: 1 };
const other: Job = { ...getMethod, params: 'other' };
const transaction = { ...getMethod, kind: 'transaction' } as unknown as Job;

/** Starts an idle thread with runs of the given lengths. */
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
  it('the first get-method is repeated 200 times, one run a turn', () => {
    const { warmUp, runs, turn } = startIdle(() => 1);
    warmUp.ran(getMethod, 40);
    expect(runs).toEqual([]);
    turn();
    expect(runs).toEqual([getMethod]);
    while (turn());
    expect(runs).toHaveLength(200);
  });

  it('only the first get-method is repeated', () => {
    const { warmUp, runs, turn } = startIdle(() => 1);
    warmUp.ran(transaction, 1);
    warmUp.ran(getMethod, 1);
    warmUp.ran(other, 1);
    while (turn());
    expect(new Set(runs)).toEqual(new Set([getMethod]));
  });

  it('a long first get-method is not repeated', () => {
    const { warmUp, runs, turn } = startIdle(() => 1);
    warmUp.ran(other, 101);
    expect(turn()).toBe(false);
    warmUp.ran(getMethod, 1);
    while (turn());
    expect(runs[0]).toBe(getMethod);
  });

  it('repetition ends once a repetition takes long', () => {
    const { warmUp, runs, turn } = startIdle((run) => (run === 5 ? 11 : 1));
    warmUp.ran(getMethod, 1);
    while (turn());
    expect(runs).toHaveLength(5);
  });
});
