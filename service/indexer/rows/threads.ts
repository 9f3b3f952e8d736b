import type { Logger } from 'pino';
import { Worker } from 'node:worker_threads';

import type { BlockRows } from '#service/store/tables.ts';
import { IndexerError } from '../errors.ts';
import type { SourceBlocks } from '../source.ts';
import { packBlocks } from './packed-blocks.ts';
import { unpackRows } from './packed-rows.ts';
import type { RowJob, RowResult } from './row-job.ts';

export type RowThreadsOptions = {
  /** Threads; one makes rows of some 40,000 transactions a second. */
  readonly workers: number;
  /** Masterchain blocks that may wait or run: more than all streams of an indexer read ahead. */
  readonly blocksMax?: number;
  /** The thread's module; another place when the service is bundled. */
  readonly workerUrl?: URL;
};

/** Makes rows of blocks off the event loop. */
export type RowThreads = {
  /** As `rowsOf`. Rejects with IndexerError `rows_failed`, or with the signal's reason. */
  toRows(blocks: SourceBlocks, signal: AbortSignal): Promise<BlockRows>;
  /** Ends the threads; what waits rejects. */
  close(): Promise<void>;
};

type Waiting = { readonly resolve: (rows: BlockRows) => void; readonly reject: (error: Error) => void };
type Thread = { readonly worker: Worker; readonly jobs: Map<number, Waiting> };

/** Threads start with the first blocks and do not keep the process alive. One that ends on its own is replaced with the next block. */
export function createRowThreads(options: RowThreadsOptions, { logger }: { readonly logger: Logger }): RowThreads {
  const blocksMax = options.blocksMax ?? 1024;
  const workerUrl = options.workerUrl ?? new URL('rows-worker.ts', import.meta.url);
  const threads = new Set<Thread>();
  let nextId = 0;
  let waiting = 0;
  let closed = false;

  function settle(thread: Thread, result: RowResult): void {
    const job = thread.jobs.get(result.id);
    if (job === undefined) return;
    thread.jobs.delete(result.id);
    waiting--;
    if (thread.jobs.size === 0) thread.worker.unref();
    if ('error' in result) return job.reject(failed(`A block has no rows: ${result.error}`));
    const { buffer, byteOffset, byteLength } = result.rows;
    job.resolve(unpackRows(Buffer.from(buffer, byteOffset, byteLength)));
  }

  function lose(thread: Thread, detail: string, cause?: unknown): void {
    if (!threads.delete(thread)) return;
    if (!closed) logger.error({ err: cause, blocks: thread.jobs.size }, 'a thread that makes rows ended');
    waiting -= thread.jobs.size;
    for (const job of thread.jobs.values()) job.reject(failed(detail, cause));
    thread.jobs.clear();
  }

  function start(): Thread {
    const worker = new Worker(workerUrl);
    const thread: Thread = { worker, jobs: new Map() };
    threads.add(thread);
    worker.on('message', (result: RowResult) => settle(thread, result));
    worker.on('error', (error) => lose(thread, 'The thread failed.', error));
    worker.on('exit', (code) => lose(thread, `The thread exited with ${code}.`));
    return thread;
  }

  /** The thread with the fewest blocks; a new one while there may be more and none is idle. */
  function choose(): Thread {
    const [least] = [...threads].toSorted((one, other) => one.jobs.size - other.jobs.size);
    return least !== undefined && (least.jobs.size === 0 || threads.size >= options.workers) ? least : start();
  }

  return {
    toRows(blocks, signal) {
      if (signal.aborted) return Promise.reject(signal.reason as Error);
      if (closed) return Promise.reject(failed('The threads are closed.'));
      if (waiting >= blocksMax) return Promise.reject(failed(`${waiting} masterchain blocks wait for rows.`));
      return new Promise<BlockRows>((resolve, reject) => {
        const abort = (): void => reject(signal.reason as Error);
        const settled = (): void => signal.removeEventListener('abort', abort);
        signal.addEventListener('abort', abort, { once: true });
        const thread = choose();
        const job: RowJob = { id: nextId++, blocks: packBlocks(blocks) };
        thread.jobs.set(job.id, {
          resolve(rows) {
            settled();
            resolve(rows);
          },
          reject(error) {
            settled();
            reject(error);
          },
        });
        waiting++;
        thread.worker.ref();
        thread.worker.postMessage(job, [job.blocks.bytes.buffer]);
      });
    },
    async close() {
      closed = true;
      const ending = [...threads];
      for (const thread of ending) lose(thread, 'The threads are closed.');
      await Promise.all(ending.map(({ worker }) => worker.terminate()));
    },
  };
}

function failed(message: string, cause?: unknown): IndexerError {
  return new IndexerError('rows_failed', message, {}, cause);
}
