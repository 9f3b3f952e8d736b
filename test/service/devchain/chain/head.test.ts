import { describe, expect, it } from 'vitest';

import type { Head, HeadOptions } from '#service/devchain/chain/head.ts';
import { createHead } from '#service/devchain/chain/head.ts';

/** A head whose timer is the test's; `step` lets one interval pass. */
function play(options: Partial<HeadOptions> = {}): { head: Head; delays: number[]; step: () => void } {
  let next: (() => void) | undefined;
  const delays: number[] = [];
  const head = createHead(
    { firstSeqno: 10, lastSeqno: 12, paceSeconds: 2, ...options },
    {
      startTimer(run, delayMs) {
        delays.push(delayMs);
        next = run;
        return () => (next = undefined);
      },
    },
  );
  return {
    head,
    delays,
    step: () => {
      const run = next;
      next = undefined;
      run?.();
    },
  };
}

describe('the head', () => {
  it('moves one block in each interval and stands still at the last', () => {
    const { head, delays, step } = play();
    const seen: number[] = [];
    head.onMove((seqno) => seen.push(seqno));
    for (let interval = 0; interval < 5; interval++) step();
    expect(seen).toEqual([11, 12]);
    expect(delays).toEqual([2000, 2000]);
  });

  it('starts at the last block at pace 0', () => {
    const { head, delays } = play({ paceSeconds: 0 });
    expect(head.seqno()).toBe(12);
    expect(delays).toEqual([]);
  });

  it('can be moved by hand, forward and not beyond the recording', () => {
    const { head } = play();
    head.moveTo(9);
    expect(head.seqno()).toBe(10);
    head.moveTo(99);
    expect(head.seqno()).toBe(12);
  });

  it('tells nobody who stopped listening, and nobody after its end', () => {
    const { head, step } = play();
    const seen: number[] = [];
    const stop = head.onMove((seqno) => seen.push(seqno));
    stop();
    head.onMove((seqno) => seen.push(seqno));
    head.close();
    step();
    head.moveTo(11);
    expect(seen).toEqual([]);
    expect(head.seqno()).toBe(10);
  });
});
