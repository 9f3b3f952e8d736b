import { describe, expect, it } from 'vitest';

import type { StartTimer } from '#service/devchain/chain/head.ts';
import { createBlockWaiters } from '#service/devchain/chain/block-waiters.ts';

const never = new AbortController().signal;

/** Timers that run when the test says so. */
function createClock(): { startTimer: StartTimer; delays: number[]; runAll: () => void } {
  const timers = new Set<() => void>();
  const delays: number[] = [];
  return {
    delays,
    startTimer(run, delayMs) {
      delays.push(delayMs);
      timers.add(run);
      return () => timers.delete(run);
    },
    runAll: () => {
      for (const run of timers) run();
    },
  };
}

describe('waitMasterchainSeqno, as the node outcomes are recorded,', () => {
  it('answers at once for a block that is there', async () => {
    const clock = createClock();
    await expect(createBlockWaiters(() => 10, clock).until(10, 0, never)).resolves.toBeUndefined();
    expect(clock.delays).toEqual([]);
  });

  it('answers when the block comes', async () => {
    let tip = 10;
    const waiting = createBlockWaiters(() => tip, createClock());
    const wait = waiting.until(12, 1000, never);
    tip = 11;
    waiting.check();
    tip = 12;
    waiting.check();
    await expect(wait).resolves.toBeUndefined();
  });

  it('refuses with 652 when the time is over, after 10 s at most', async () => {
    const clock = createClock();
    const wait = createBlockWaiters(() => 10, clock).until(12, 60_000, never);
    expect(clock.delays).toEqual([10_000]);
    clock.runAll();
    await expect(wait).rejects.toMatchObject({ message: 'timeout', data: { serverCode: 652 } });
  });

  it('refuses with 652 at once when no time is given', async () => {
    const wait = createBlockWaiters(() => 10, createClock()).until(500, 0, never);
    await expect(wait).rejects.toMatchObject({ message: 'timeout', data: { serverCode: 652 } });
  });

  it('refuses with 651 a block more than 100 ahead', async () => {
    const waiting = createBlockWaiters(() => 10, createClock());
    await expect(waiting.until(111, 1000, never)).rejects.toMatchObject({
      message: 'too big masterchain block seqno',
      data: { serverCode: 651 },
    });
    const wait = waiting.until(110, 1000, never);
    waiting.close();
    await expect(wait).rejects.toMatchObject({ data: { serverCode: 652 } });
  });

  it('ends with the connection that asked', async () => {
    const clock = createClock();
    const client = new AbortController();
    const wait = createBlockWaiters(() => 10, clock).until(12, 1000, client.signal);
    client.abort();
    await expect(wait).rejects.toMatchObject({ data: { serverCode: 652 } });
  });
});
