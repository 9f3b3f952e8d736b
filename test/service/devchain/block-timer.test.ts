import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';

import { createBlockTimer } from '#service/devchain/block-timer.ts';

/** A timer whose clock stands, with the delays that it asked for. */
function start(makeBlock: () => Promise<unknown>, hasMessages: () => boolean) {
  const delays: number[] = [];
  const runs: (() => void)[] = [];
  const timer = createBlockTimer(
    { blockPerMessage: true },
    {
      makeBlock,
      hasMessages,
      startTimer(run, delayMs) {
        delays.push(delayMs);
        runs.push(run);
        return () => undefined;
      },
      now: () => 1000,
      logger: pino({ level: 'silent' }),
    },
  );
  return { timer, delays, runNext: () => runs.shift()!() };
}

describe('a block for each message', () => {
  it('is followed by others while messages wait that a block can take', async () => {
    const waiting = [true, false];
    const { timer, delays, runNext } = start(vi.fn<() => Promise<void>>(), () => waiting.shift()!);
    timer.messageWaits();
    runNext();
    await vi.waitFor(() => expect(delays).toEqual([0, 0]));
    runNext();
    await vi.waitFor(() => expect(waiting).toEqual([]));
    expect(delays).toEqual([0, 0]);
  });

  it('is tried again after a second when it cannot be made', async () => {
    const makeBlock = vi.fn<() => Promise<void>>().mockRejectedValue(new Error('no account'));
    const { timer, delays, runNext } = start(makeBlock, () => true);
    timer.messageWaits();
    runNext();
    await vi.waitFor(() => expect(delays).toEqual([0, 1000]));
  });

  it('waits for the end of a delay', () => {
    const { timer, delays } = start(vi.fn<() => Promise<void>>(), () => false);
    timer.delay(60_000);
    expect(timer.delayedMs()).toBe(60_000);
    timer.messageWaits();
    expect(delays).toEqual([60_000]);
  });
});
