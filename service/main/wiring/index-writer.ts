import { hostname, availableParallelism } from 'node:os';

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import type { ServiceConfig } from '#service/config.ts';
import { createIndexer, type IndexerStatus } from '#service/indexer/indexer.ts';
import { formatProgress } from '#service/indexer/progress.ts';
import { createRowThreads } from '#service/indexer/rows/threads.ts';
import { createZeroStateReader } from '#service/indexer/zero-states.ts';
import { assembleTraces } from '#service/indexer/traces/assembly.ts';
import { createBlockFinder } from '#service/live/blocks/block-finder.ts';
import { createLiveBlockFiles } from '#service/live/blocks/block-files.ts';
import type { Pool } from '#service/pool/pool.ts';
import type { Detector } from '#service/interfaces/detector.ts';
import { createInterpreter, type InterpreterStatus } from '#service/interpreter/interpreter.ts';
import { formatInterpretation } from '#service/interpreter/progress.ts';
import { beginningOf } from '#service/interpreter/zero-states.ts';
import type { ChainSnapshots } from '#service/live/contracts/chain-snapshot.ts';
import type { Store } from '#service/store/store.ts';
import { createTraceMaterializer } from '#service/v3/rendering/trace-materializer.ts';
import type { IndexStatus } from '../status/status.ts';
import { workerUrl } from '../worker-url.ts';

/** An indexer over a pool, and an interpreter of what it writes. */
export type IndexWriter = {
  /** The ledger alone decides whether the index is live. The interpreter's progress is reported separately. */
  status(): IndexStatus & IndexerStatus & { readonly interpreter: InterpreterStatus };
  close(): Promise<void>;
};

export type IndexWriterDependencies = {
  readonly store: Store;
  readonly pool: Pool;
  /** Contract worlds for calls of get-methods. */
  readonly worlds: ChainSnapshots;
  readonly detector: Detector;
  readonly logger: Logger;
  readonly register: Registry;
};

/** A single thread makes rows faster than Postgres takes them. The second thread bridges the start of the first. */
const THREADS_MAX = 2;

/** Begins to write the network's blocks and what they mean into Postgres: the past, and new ones as they come. */
export function startIndexWriter(
  { anchors, indexer: wanted }: Pick<ServiceConfig, 'anchors' | 'indexer'>,
  { archiveFolder }: { readonly archiveFolder?: string | undefined },
  { store, pool, worlds, detector, logger, register }: IndexWriterDependencies,
): IndexWriter {
  const workers = Math.min(THREADS_MAX, availableParallelism());
  const threads = createRowThreads({ workers, workerUrl: workerUrl('indexer/rows/rows-worker.ts') }, { logger });
  const shared = { logger, register, now: () => performance.now(), unixMs: Date.now, random: Math.random };
  const files = createLiveBlockFiles({ pool, finder: createBlockFinder({ pool }) });
  const toRows: ReturnType<typeof createRowThreads>['toRows'] = (blocks, signal) => threads.toRows(blocks, signal);
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
      files,
      toRows,
      assemble: assembleTraces,
      ...shared,
    },
  );
  const readZeroStates = createZeroStateReader({ files, toRows });
  const readBeginning = async (signal: AbortSignal) => beginningOf(await readZeroStates(signal));
  const interpreter = createInterpreter(
    {},
    { store, worlds, detector, readBeginning, storeTraces: createTraceMaterializer({ store }).store, ...shared },
  );
  return {
    status() {
      const status = indexer.status();
      const interpreted = interpreter.status();
      const [trouble] = [...status.troubles, ...interpreted.troubles];
      const text = `${formatProgress(status)} | ${formatInterpretation(interpreted)}`;
      return {
        ...status,
        interpreter: interpreted,
        text: trouble === undefined ? text : `${text} | ${trouble.what}: ${trouble.error}`,
      };
    },
    async close() {
      await Promise.all([indexer.close(), interpreter.close()]);
      await threads.close();
    },
  };
}
