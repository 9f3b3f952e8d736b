import { hostname, availableParallelism } from 'node:os';

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import type { ServiceConfig } from '../config.ts';
import { createIndexer, type IndexerStatus } from '../indexer/indexer.ts';
import { formatProgress } from '../indexer/progress.ts';
import { createRowThreads } from '../indexer/rows/threads.ts';
import { assembleTraces } from '../indexer/traces/assembly.ts';
import { createBlockFinder } from '../live/block-finder.ts';
import { createLiveBlockFiles } from '../live/block-files.ts';
import type { Pool } from '../pool/pool.ts';
import type { Store } from '../store/store.ts';
import type { IndexStatus } from './status.ts';
import { workerUrl } from './worker-url.ts';

/** An indexer over a pool. */
export type IndexWriter = {
  status(): IndexStatus & IndexerStatus;
  close(): Promise<void>;
};

export type IndexWriterDependencies = {
  readonly store: Store;
  readonly pool: Pool;
  readonly logger: Logger;
  readonly register: Registry;
};

/** One thread makes rows faster than Postgres takes them; the second bridges what the first has just begun. */
const threadsMax = 2;

/** Begins to write the network's blocks into Postgres: the past, and new ones as they come. */
export function startIndexWriter(
  { anchors, indexer: wanted }: Pick<ServiceConfig, 'anchors' | 'indexer'>,
  { archiveFolder }: { readonly archiveFolder?: string | undefined },
  { store, pool, logger, register }: IndexWriterDependencies,
): IndexWriter {
  const workers = Math.min(threadsMax, availableParallelism());
  const threads = createRowThreads({ workers, workerUrl: workerUrl('indexer/rows/rows-worker.ts') }, { logger });
  const indexer = createIndexer(
    {
      startSeqno: wanted?.startSeqno ?? 1,
      network: anchors.zeroState,
      // In a pod the host's name is the pod's.
      worker: `${hostname()}-${process.pid}`,
      archiveFolder,
    },
    {
      store,
      files: createLiveBlockFiles({ pool, finder: createBlockFinder({ pool }) }),
      toRows: (blocks, signal) => threads.toRows(blocks, signal),
      assemble: assembleTraces,
      logger,
      register,
      now: () => performance.now(),
      unixMs: Date.now,
      random: Math.random,
    },
  );
  return {
    status() {
      const status = indexer.status();
      const [trouble] = status.troubles;
      const text = formatProgress(status);
      return { ...status, text: trouble === undefined ? text : `${text} | ${trouble.what}: ${trouble.error}` };
    },
    async close() {
      await indexer.close();
      await threads.close();
    },
  };
}
