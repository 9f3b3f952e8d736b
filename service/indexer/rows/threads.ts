import type { Logger } from 'pino';

import type { BlockRows } from '#service/store/tables.ts';
import { IndexerError } from '../errors.ts';
import type { SourceBlocks } from '../source.ts';
import { createWorkerPool, WorkerError } from '#service/runtime/worker-pool.ts';
import { packBlocks, type PackedBlocks } from './packed-blocks.ts';
import { unpackRows } from './packed-rows.ts';

export type RowThreadsOptions = {
  /** Threads; each makes rows of some 40,000 transactions a second. */
  readonly workers: number;
  /** Masterchain blocks that may wait or run: more than all streams of an indexer read ahead. */
  readonly blocksMax?: number;
  /** The thread's module; another place when the service is bundled. */
  readonly workerUrl?: URL;
};

/** Makes rows of blocks off the event loop. */
export type RowThreads = {
  /** Same as `rowsOf`. Rejects with IndexerError `rows_failed`, or with the signal's reason. */
  toRows(blocks: SourceBlocks, signal: AbortSignal): Promise<BlockRows>;
  /** Ends the threads; waiting calls reject. */
  close(): Promise<void>;
};

/**
 * Threads start with the first blocks and do not prevent the process from exiting. A thread that ends on its own is replaced with the next
 * block.
 */
export function createRowThreads(options: RowThreadsOptions, { logger }: { readonly logger: Logger }): RowThreads {
  const { workers, blocksMax = 1024, workerUrl = new URL('rows-worker.ts', import.meta.url) } = options;
  const { jobs, run, close } = createWorkerPool<PackedBlocks, Uint8Array>(
    { threadsMax: workers, workerUrl },
    { onLost: (err, blocks) => logger.error({ err, blocks }, 'a thread that makes rows ended') },
  );

  async function make(blocks: SourceBlocks): Promise<BlockRows> {
    const packed = packBlocks(blocks);
    try {
      const { buffer, byteOffset, byteLength } = await run(packed, [packed.bytes.buffer]);
      return unpackRows(Buffer.from(buffer, byteOffset, byteLength));
    } catch (error) {
      if (!(error instanceof WorkerError)) throw error;
      throw failed(error.code === 'failed' ? `A block has no rows: ${error.message}` : error.message, error);
    }
  }

  return {
    toRows(blocks, signal) {
      if (signal.aborted) return Promise.reject(signal.reason as Error);
      if (jobs() >= blocksMax) return Promise.reject(failed(`${jobs()} masterchain blocks wait for rows.`));
      return new Promise<BlockRows>((resolve, reject) => {
        const abort = (): void => reject(signal.reason as Error);
        signal.addEventListener('abort', abort, { once: true });
        const settled = (): void => signal.removeEventListener('abort', abort);
        make(blocks).then(resolve, reject).finally(settled);
      });
    },
    close,
  };
}

function failed(message: string, cause?: unknown): IndexerError {
  return new IndexerError('rows_failed', message, {}, cause);
}
