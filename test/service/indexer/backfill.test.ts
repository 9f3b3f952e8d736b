import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';

import { createBackfill } from '#service/indexer/backfill.ts';
import { isTurnOver } from '#service/indexer/batch-writer.ts';
import { tuningDefaults } from '#service/indexer/options.ts';
import type { SourceBlocks } from '#service/indexer/source.ts';
import { createRetry } from '#service/runtime/retry.ts';
import { StoreError } from '#service/store/errors.ts';
import type { ClaimedRange } from '#service/store/ranges.ts';
import { noRows } from '#test/support/block-rows.ts';

const logger = pino({ level: 'silent' });

/** Fills the ranges with writes that fail at these blocks, once each. */
function fill(ranges: readonly { next: number; to: number }[], failAt: readonly number[] = []) {
  const closing = new AbortController();
  const [done, failures, left] = [[] as string[], new Set(failAt), [...ranges]];
  const claim = ({ next, to }: { next: number; to: number }): ClaimedRange => ({
    next,
    to,
    advance: () => Promise.resolve(),
    heartbeat: () => Promise.resolve(),
    release: () => {
      done.push(`released ${next}-${to}`);
      return Promise.reject(new Error('the connection broke'));
    },
  });
  const backfill = createBackfill(
    { ...tuningDefaults, backfillWorkers: 1, backfillBatch: { itemsMax: 2, bytesMax: 1_000_000 }, rangesRetryMs: 1 },
    {
      source: {
        read: async (mcSeqno) =>
          ({
            mcSeqno,
            utime: 0,
            masterchain: { boc: Buffer.alloc(9) },
            shards: [],
            zeroStates: [],
          }) as unknown as SourceBlocks,
      },
      toRows: async ({ mcSeqno }) => noRows(mcSeqno),
      retry: createRetry({
        logger,
        random: () => 0,
        unixMs: () => 0,
        onFailure: vi.fn<() => void>(),
        isFinal: isTurnOver,
      }),
      writer: {
        async write(_stream, blocks) {
          const seqnos = blocks.map(({ rows }) => rows.mcSeqno);
          const failed = seqnos.find((seqno) => failures.delete(seqno));
          if (failed !== undefined) throw new StoreError('range_lost', 'another worker has it');
          done.push(`written ${seqnos.join(' ')}`);
        },
      },
      claimRange: async () => {
        const next = left.shift();
        return next && claim(next);
      },
      signal: closing.signal,
      logger,
    },
  );
  const close = async (): Promise<void> => {
    closing.abort(new Error('closed'));
    await backfill.done;
  };
  return { backfill, done, close };
}

describe('the backfill', () => {
  it('a range is written from its first block to its last, in batches', async () => {
    const { backfill, done, close } = fill([{ next: 5, to: 9 }]);
    await expect.poll(() => done).toEqual(['written 5 6', 'written 7 8', 'written 9']);
    await expect.poll(() => backfill.ranges()).toEqual([]);
    expect(backfill.bufferedBytes()).toBe(0);
    await close();
  });

  it('a range that another worker has is given back, and the next range is written', async () => {
    const ranges = [
      { next: 1, to: 4 },
      { next: 7, to: 8 },
    ];
    const { done, close } = fill(ranges, [3]);
    await expect.poll(() => done).toEqual(['written 1 2', 'released 1-4', 'written 7 8']);
    await close();
  });
});
