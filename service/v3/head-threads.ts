import type { Logger } from 'pino';

import { createThreads } from '../threads.ts';
import { packRows, unpackHeads, type HeadJob, type HeadResult, type HeadRow } from './head-job.ts';
import type { TransactionHead } from './transaction-heads.ts';

/** Writes transactions off the event loop. */
export type HeadThreads = {
  /** Undefined when all threads have enough to do. Rejects with ThreadError. */
  readonly write: (rows: readonly HeadRow[]) => Promise<readonly TransactionHead[]> | undefined;
  readonly close: () => Promise<void>;
};

export type HeadThreadsOptions = {
  /** Number of threads, at least 1. */
  readonly threads: number;
  /** The thread's module; another place when the service is bundled. */
  readonly workerUrl?: URL;
};

/** Some 30 MB each; a single thread renders more a second than the load of most pods. */
const THREADS_MAX = 2;

/** @returns undefined on a single core, where a thread only competes with the event loop */
export function startHeadThreads(
  cores: number,
  { workerUrl, logger }: Pick<HeadThreadsOptions, 'workerUrl'> & { readonly logger: Logger },
): HeadThreads | undefined {
  const threads = Math.min(THREADS_MAX, cores - 1);
  return threads < 1 ? undefined : createHeadThreads({ threads, ...(workerUrl && { workerUrl }) }, { logger });
}

/** A job runs while the next is in transfer. */
const JOBS_OF_THREAD = 2;

export function createHeadThreads(
  { threads, workerUrl = new URL('head-worker.ts', import.meta.url) }: HeadThreadsOptions,
  { logger }: { readonly logger: Logger },
): HeadThreads {
  const { jobs, run, close } = createThreads<HeadJob, HeadResult>(
    { threadsMax: threads, workerUrl },
    { onLost: (err, lost) => logger.error({ err, jobs: lost }, 'a thread that writes transactions ended') },
  );
  return {
    write(rows) {
      if (jobs() >= threads * JOBS_OF_THREAD) return undefined;
      const job = packRows(rows);
      return run(job, [job.bytes.buffer]).then(unpackHeads);
    },
    close,
  };
}
