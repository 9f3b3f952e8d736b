import type { Logger } from 'pino';

import type { ClaimedRange } from '../store/ranges.ts';
import type { BatchWriter } from './batch-writer.ts';
import { startHeartbeat } from '../runtime/heartbeat.ts';
import type { IndexerTuning } from './options.ts';
import { pause } from '../runtime/retry.ts';
import type { BlockStream, BlockStreamDependencies } from './stream.ts';
import { createBlockStream } from './stream.ts';

/** Writes the past: some ranges at a time, each from its first block to its last. */
export type Backfill = {
  /** Ranges in work. */
  readonly ranges: () => readonly { readonly next: number; readonly to: number }[];
  readonly bufferedBytes: () => number;
  /** Resolves when the signal has ended all work and the ranges are released. */
  readonly done: Promise<void>;
};

export type BackfillDependencies = Pick<BlockStreamDependencies, 'source' | 'toRows' | 'retry' | 'signal'> & {
  readonly writer: BatchWriter;
  /** @param claimMs how long the claim lasts without a heartbeat */
  readonly claimRange: (claimMs: number) => Promise<ClaimedRange | undefined>;
  readonly logger: Logger;
};

type Tuning = Pick<
  IndexerTuning,
  'backfillBlocksMax' | 'backfillBytesMax' | 'backfillBatch' | 'backfillWorkers' | 'rangesRetryMs' | 'claimMs'
>;

type Work = { readonly stream: BlockStream; readonly to: number; next: number };

export function createBackfill(tuning: Tuning, dependencies: BackfillDependencies): Backfill {
  const { source, toRows, retry, signal, writer, claimRange, logger } = dependencies;
  const works = new Set<Work>();

  async function run(worker: number): Promise<void> {
    while (!signal.aborted) {
      const range = await retry.run('ranges', worker, () => claimRange(tuning.claimMs), signal);
      if (range === undefined) {
        await pause(tuning.rangesRetryMs, signal);
        continue;
      }
      logger.info({ from: range.next, to: range.to }, 'a range of the past is begun');
      try {
        await fill(range);
      } catch (error) {
        if (!signal.aborted) logger.warn({ err: error, to: range.to }, 'a range of the past is given up');
        await range.release().catch((failure: unknown) => logger.debug({ err: failure }, 'a range was not given back'));
        if (!signal.aborted) await pause(tuning.rangesRetryMs, signal);
      }
    }
  }

  /** Rejects with the signal's reason, or when the range is another worker's now. */
  async function fill(range: ClaimedRange): Promise<void> {
    const lost = new AbortController();
    const claimSignal = AbortSignal.any([signal, lost.signal]);
    const endHeartbeat = startHeartbeat({ claimMs: tuning.claimMs, beat: () => range.heartbeat() }, { logger });
    const stream = createBlockStream(
      {
        first: range.next,
        itemsMax: tuning.backfillBlocksMax,
        bytesMax: Math.floor(tuning.backfillBytesMax / tuning.backfillWorkers),
      },
      { source, toRows, retry, last: () => range.to, awaitItem: never, signal: claimSignal },
    );
    const work: Work = { stream, to: range.to, next: range.next };
    works.add(work);
    try {
      while (work.next <= range.to) {
        const blocks = await stream.take(tuning.backfillBatch, true);
        await writer.write('backfill', blocks, range, claimSignal);
        work.next += blocks.length;
      }
    } finally {
      endHeartbeat();
      works.delete(work);
      lost.abort(new Error('the range is over'));
    }
  }

  const workers = Array.from({ length: tuning.backfillWorkers }, (_, worker) =>
    run(worker).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    }),
  );
  return {
    ranges: () => [...works].map(({ next, to }) => ({ next, to })),
    bufferedBytes: () => [...works].reduce((sum, { stream }) => sum + stream.bufferedBytes(), 0),
    done: Promise.all(workers).then(() => undefined),
  };
}

/** A range has an end, so nothing waits for further blocks. */
function never(): Promise<void> {
  return new Promise(() => undefined);
}
