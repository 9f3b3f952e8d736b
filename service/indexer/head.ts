import type { Logger } from 'pino';

import type { HeadLease } from '../store/lease.ts';
import type { IndexerTuning } from './options.ts';
import { pause } from '../runtime/retry.ts';
import type { HeadSource } from './source.ts';
import type { BlockStream, BlockStreamDependencies, ReadBlocks } from './stream.ts';
import { createBlockStream } from './stream.ts';
import type { BatchWriter } from './batch-writer.ts';

/** Follows the network's head, block by block, while this process has the lease. */
export type HeadFlow = {
  /** The newest block that this process wrote; undefined while another process follows the head. */
  readonly position: () => HeadPosition | undefined;
  readonly isWriter: () => boolean;
  readonly bufferedBytes: () => number;
  /** Resolves when the signal has ended all work and the lease is released. */
  readonly done: Promise<void>;
};

export type HeadPosition = { readonly seqno: number; readonly utime: number };

export type HeadFlowDependencies = Pick<BlockStreamDependencies, 'toRows' | 'retry' | 'signal'> & {
  readonly source: HeadSource;
  readonly writer: BatchWriter;
  /** Undefined while another process has the lease. */
  readonly acquireLease: () => Promise<HeadLease | undefined>;
  readonly logger: Logger;
};

/** Longest wait for the head; the caller checks again then. */
const WAIT_MS = 5_000;

export function createHeadFlow(
  tuning: Pick<IndexerTuning, 'headBlocksMax' | 'headBytesMax' | 'headBatch' | 'gapBlocksMax' | 'leaseRetryMs'>,
  { source, toRows, retry, signal, writer, acquireLease, logger }: HeadFlowDependencies,
): HeadFlow {
  let position: HeadPosition | undefined;
  let isWriter = false;
  let stream: BlockStream | undefined;

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const lease = await retry.run('lease', 0, acquireLease, signal);
      if (lease === undefined) {
        await pause(tuning.leaseRetryMs, signal);
        continue;
      }
      isWriter = true;
      logger.info({ epoch: String(lease.epoch) }, 'this process follows the head');
      try {
        await follow(lease, AbortSignal.any([signal, lease.signal]));
      } catch (error) {
        if (!signal.aborted) logger.warn({ err: error }, 'the lease on the head ended');
      } finally {
        isWriter = false;
        position = undefined;
        stream?.close();
        stream = undefined;
        await lease.release().catch((error: unknown) => logger.debug({ err: error }, 'the lease was not given back'));
      }
      await pause(tuning.leaseRetryMs, signal);
    }
  }

  /** Until the lease or everything ends; rejects with the reason. */
  async function follow(lease: HeadLease, leaseSignal: AbortSignal): Promise<void> {
    const head = await knownHead(source, leaseSignal);
    const next = await retry.run('lease', 0, () => lease.moveTo(firstSeqno(head, tuning.gapBlocksMax)), leaseSignal);
    logger.info({ next, head }, 'the index goes on');
    const reading = createBlockStream(
      { first: next, itemsMax: tuning.headBlocksMax, bytesMax: tuning.headBytesMax },
      {
        source,
        toRows,
        retry,
        last: () => source.head()?.seqno ?? 0,
        awaitItem: (seqno, ended) => source.waitHead(seqno - 1, WAIT_MS, ended),
        signal: leaseSignal,
      },
    );
    stream = reading;
    for (;;) {
      const blocks = await reading.take(tuning.headBatch, false);
      await writer.write('head', blocks, lease, leaseSignal);
      position = positionOf(blocks) ?? position;
    }
  }

  return {
    position: () => position,
    isWriter: () => isWriter,
    bufferedBytes: () => stream?.bufferedBytes() ?? 0,
    done: run().catch((error: unknown) => {
      if (!signal.aborted) throw error;
    }),
  };
}

/** First seqno of the head. A larger gap than the head catches up itself is left to the backfill. */
export function firstSeqno(headSeqno: number, gapBlocksMax: number): number {
  return Math.max(1, headSeqno - gapBlocksMax);
}

async function knownHead(source: HeadSource, signal: AbortSignal): Promise<number> {
  for (;;) {
    signal.throwIfAborted();
    const head = source.head();
    if (head !== undefined) return head.seqno;
    await source.waitHead(0, WAIT_MS, signal);
  }
}

function positionOf(blocks: readonly ReadBlocks[]): HeadPosition | undefined {
  const last = blocks.at(-1);
  return last && { seqno: last.rows.mcSeqno, utime: last.utime };
}
