import type { Logger } from 'pino';

import { createWorkerPool } from '#service/runtime/worker-pool.ts';
import { packRows, unpackResults, type RenderJob, type RenderResult, type RenderRow } from './render-job.ts';
import type { PartialTransactionJson } from './transaction-json.ts';

/** Writes transactions off the event loop. */
export type RenderPool = {
  /** Undefined when all threads have enough to do. Rejects with ThreadError. */
  readonly write: (rows: readonly RenderRow[]) => Promise<readonly PartialTransactionJson[]> | undefined;
  readonly close: () => Promise<void>;
};

export type RenderPoolOptions = {
  /** Number of threads, at least 1. */
  readonly threads: number;
  /** The thread's module; another place when the service is bundled. */
  readonly workerUrl?: URL;
};

/** Some 30 MB each; a single thread renders more a second than the load of most pods. */
const THREADS_MAX = 2;

/** @returns undefined on a single core, where a thread only competes with the event loop */
export function startRenderPool(
  cores: number,
  { workerUrl, logger }: Pick<RenderPoolOptions, 'workerUrl'> & { readonly logger: Logger },
): RenderPool | undefined {
  const threads = Math.min(THREADS_MAX, cores - 1);
  return threads < 1 ? undefined : createRenderPool({ threads, ...(workerUrl && { workerUrl }) }, { logger });
}

/** A job runs while the next is in transfer. */
const JOBS_OF_THREAD = 2;

export function createRenderPool(
  { threads, workerUrl = new URL('render-worker.ts', import.meta.url) }: RenderPoolOptions,
  { logger }: { readonly logger: Logger },
): RenderPool {
  const { jobs, run, close } = createWorkerPool<RenderJob, RenderResult>(
    { threadsMax: threads, workerUrl },
    { onLost: (err, lost) => logger.error({ err, jobs: lost }, 'a thread that writes transactions ended') },
  );
  return {
    write(rows) {
      if (jobs() >= threads * JOBS_OF_THREAD) return undefined;
      const job = packRows(rows);
      return run(job, [job.bytes.buffer]).then(unpackResults);
    },
    close,
  };
}
