import { describe, expect, test } from 'vitest';

import { createProgress, formatProgress } from '#service/indexer/progress.ts';
import { etaSeconds } from '#service/runtime/rate.ts';

function progressAt() {
  const clock = { ms: 0 };
  const head: { position: { seqno: number; utime: number } | undefined } = { position: undefined };
  const progress = createProgress({
    network: () => ({ seqno: 120 }),
    position: () => head.position,
    now: () => clock.ms,
    unixMs: () => 1_000_000 + clock.ms,
  });
  return { clock, head, progress };
}

describe('progress', () => {
  test('shows how far the index is behind the network, in blocks and in age', () => {
    const { head, progress } = progressAt();
    expect(progress.view()).toMatchObject({ networkSeqno: 120, headSeqno: undefined, lagBlocks: undefined });
    head.position = { seqno: 118, utime: 996 };
    expect(progress.view()).toMatchObject({ headSeqno: 118, lagBlocks: 2, lagSeconds: 4 });
  });

  test('has rates over the last minute', () => {
    const { clock, progress } = progressAt();
    for (let second = 1; second <= 120; second++) {
      clock.ms = second * 1_000;
      progress.written(second <= 60 ? 1_000 : 5, 50);
    }
    expect(progress.view()).toMatchObject({ blocksPerSecond: 5, transactionsPerSecond: 50 });
  });

  test('tells the time that is left by the pace of all processes', () => {
    const { clock, progress } = progressAt();
    for (let second = 0; second <= 30; second++) {
      clock.ms = second * 1_000;
      progress.remaining(10_000 - second * 100);
    }
    expect(progress.view()).toMatchObject({ remainingBlocks: 7_000, etaSeconds: 70 });
  });
});

describe('time that is left', () => {
  test.each([
    { name: 'is unknown at first', history: [{ atMs: 0, left: 10 }], eta: undefined },
    {
      name: 'is unknown when nothing moves',
      history: [
        { atMs: 0, left: 10 },
        { atMs: 60_000, left: 10 },
      ],
      eta: undefined,
    },
    {
      name: 'is none when nothing is left',
      history: [
        { atMs: 0, left: 10 },
        { atMs: 100, left: 0 },
      ],
      eta: 0,
    },
    {
      name: 'follows from the pace',
      history: [
        { atMs: 0, left: 100 },
        { atMs: 10_000, left: 50 },
      ],
      eta: 10,
    },
  ])('$name', ({ history, eta }) => {
    expect(etaSeconds(history)).toBe(eta);
  });
});

test('one line tells it', () => {
  const view = {
    networkSeqno: 1_235,
    headSeqno: 1_233,
    lagBlocks: 2,
    lagSeconds: 3,
    blocksPerSecond: 61.5,
    transactionsPerSecond: 3_400,
    remainingBlocks: 5_000,
    etaSeconds: 82,
  };
  expect(formatProgress(view)).toBe(
    'index 1,233 of 1,235 (2 behind) | past: 5,000 blocks left | 61.5 blocks/s, 3400.0 tx/s | 1m 22s to go',
  );
  const done = { ...view, headSeqno: 1_235, lagBlocks: 0, remainingBlocks: 0, etaSeconds: 0 };
  expect(formatProgress(done)).toBe('index 1,235 of 1,235 | 61.5 blocks/s, 3400.0 tx/s');
});
