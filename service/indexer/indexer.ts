import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import type { LiveBlockFiles } from '../live/blocks/block-files.ts';
import { claimIndex, lacksZeroStates, newestBlock, readProgress } from '../store/indexer-state.ts';
import type { IndexProgress } from '../store/indexer-state.ts';
import { acquireHeadLease, type HeadLease } from '../store/lease.ts';
import { checkSchema } from '../store/migrate.ts';
import { claimRange, queueGaps } from '../store/ranges.ts';
import type { Store } from '../store/store.ts';
import type { BlockRows } from '../store/tables.ts';
import type { TraceRows } from '../store/trace-rows.ts';
import { createWriter } from '../store/writer.ts';
import { createArchiveSource } from './archive-source.ts';
import type { Backfill } from './backfill.ts';
import { createBackfill } from './backfill.ts';
import { createBatchWriter, isTurnOver } from './batch-writer.ts';
import { countReads, createFallbackSource } from './fallback-source.ts';
import { startGapSearch } from './gaps.ts';
import type { HeadFlow } from './head.ts';
import { createHeadFlow } from './head.ts';
import type { IndexState } from './index-state.ts';
import { indexStateOf } from './index-state.ts';
import { createLiteServerSource } from './lite-server-source.ts';
import type { Stream } from './metrics.ts';
import { createIndexerMetrics } from './metrics.ts';
import type { IndexerOptions } from './options.ts';
import { tuningDefaults } from './options.ts';
import type { ProgressView } from './progress.ts';
import { createProgress } from './progress.ts';
import type { Trouble } from '../runtime/retry.ts';
import { createRetry, pause } from '../runtime/retry.ts';
import { refuseOtherChain } from './same-chain.ts';
import type { Stage } from './stage.ts';
import type { BlockSource, HeadSource, SourceBlocks } from './source.ts';
import { createStoredProgress } from './stored-progress.ts';
import { addZeroStates, createZeroStateReader } from './zero-states.ts';

/** Writes the network's blocks into Postgres: new blocks as they come, and the past. */
export type Indexer = {
  /** State of the indexer in `/status`. */
  readonly status: () => IndexerStatus;
  /** Ends work in progress; leaves nothing half written. */
  readonly close: () => Promise<void>;
};

export type IndexerStatus = ProgressView & {
  readonly state: IndexState;
  readonly isHeadWriter: boolean;
  /** Ranges of the past in this process. */
  readonly ranges: readonly { readonly next: number; readonly to: number }[];
  /** Failures under retry, longest first. */
  readonly troubles: readonly Trouble[];
};

export type IndexerDependencies = {
  readonly store: Store;
  readonly files: LiveBlockFiles;
  /** Makes rows in worker threads. */
  readonly toRows: (blocks: SourceBlocks, signal: AbortSignal) => Promise<BlockRows>;
  /** Traces of masterchain blocks, assembled without the rest of the index. */
  readonly assemble: (rows: readonly BlockRows[]) => TraceRows;
  readonly logger: Logger;
  readonly register: Registry;
  /** Milliseconds, ascending. */
  readonly now: () => number;
  readonly unixMs: () => number;
  /** 0..1. */
  readonly random: () => number;
};

/** Interval between queries of the progress of all processes. */
const PROGRESS_MS = 2_000;

/** Begins at once, and retries every failure until it is closed. */
export function createIndexer(options: IndexerOptions, dependencies: IndexerDependencies): Indexer {
  const { store, files, logger, register, now, unixMs, random, toRows } = dependencies;
  const tuning = { ...tuningDefaults, ...options.tuning };
  const closing = new AbortController();
  const { signal } = closing;
  let head: HeadFlow | undefined;
  let backfill: Backfill | undefined;
  let movedMs = now();

  const progress = createProgress({ network: () => files.head(), position, now, unixMs });
  const metrics = createIndexerMetrics(register, {
    view: progress.view,
    isHeadWriter: () => head?.isWriter() ?? false,
    bufferedBytes: () => (head?.bufferedBytes() ?? 0) + (backfill?.bufferedBytes() ?? 0),
    troubles: () => retry.troubles().length,
  });
  const retry = createRetry<Stage>({ logger, random, unixMs, onFailure: metrics.retried, isFinal: isTurnOver });
  const stored = createStoredProgress({
    read: () => retry.run('progress', 0, () => readProgress(store), signal),
    onMoved: () => {
      movedMs = now();
    },
    onRemaining: progress.remaining,
  });
  const headWriter = createWriter({ carriage: 'unnest', assemble: dependencies.assemble }, store);
  const writer = createBatchWriter({
    writers: {
      head: headWriter,
      backfill: createWriter({ carriage: 'copy', assemble: dependencies.assemble }, store),
    },
    retry,
    onWritten(stream, blocks, transactions) {
      metrics.written(stream, blocks, transactions);
      progress.written(blocks, transactions);
      movedMs = now();
    },
  });

  /** Head of this process, else the head of another process from Postgres. */
  function position(): { readonly seqno: number; readonly utime?: number } | undefined {
    const own = head?.position();
    if (own !== undefined) return own;
    const seqno = stored.latest()?.headSeqno ?? undefined;
    return seqno === undefined ? undefined : { seqno };
  }

  function ofLiteServers(stream: Stream): HeadSource {
    const source = createLiteServerSource({ stream }, { files });
    return { ...source, ...countReads(source, () => metrics.read('lite_server')) };
  }

  async function prepare(): Promise<void> {
    const { startSeqno, network } = options;
    await retry.run('schema', 0, () => checkSchema(store), signal);
    await retry.run('schema', 0, () => claimIndex(store, { ...network, startSeqno }), signal);
    await checkChain();
  }

  const checkChain = (): Promise<void> =>
    retry.run('chain', 0, () => refuseOtherChain(() => newestBlock(store), files, signal), signal);

  async function pastSource(): Promise<BlockSource> {
    const { archiveFolder } = options;
    const liteServers = ofLiteServers('backfill');
    if (archiveFolder === undefined) return liteServers;
    const open = (): Promise<BlockSource> => createArchiveSource({ folder: archiveFolder }, { files });
    const archive = await retry.run('archive', 0, open, signal);
    return createFallbackSource({ archive: countReads(archive, () => metrics.read('archive')), liteServers });
  }

  async function watchProgress(): Promise<void> {
    for (;;) {
      await stored.update();
      await pause(PROGRESS_MS, signal);
    }
  }

  async function acquireLease(): Promise<HeadLease | undefined> {
    const lease = await acquireHeadLease(store, options.worker);
    return (
      lease && {
        ...lease,
        // The remaining past is known before the first block of the head. Otherwise the index is live for a moment in between.
        moveTo: async (seqno) => {
          await checkChain();
          const next = await lease.moveTo(seqno);
          await stored.update();
          return next;
        },
      }
    );
  }

  async function run(): Promise<void> {
    await prepare();
    const shared = { toRows, retry, signal, writer, logger };
    head = createHeadFlow(tuning, {
      ...shared,
      source: ofLiteServers('head'),
      acquireLease,
    });
    const gaps = startGapSearch({
      extent: async () => extentOf(await readProgress(store)),
      queueGaps: (from, to) => queueGaps(store, from, to),
      isMine: () => head?.isWriter() ?? false,
      retry,
      signal,
      logger,
    });
    const past = pastSource().then((source) => {
      backfill = createBackfill(tuning, {
        ...shared,
        source,
        claimRange: (claimMs) => claimRange(store, options.worker, claimMs),
      });
      return backfill.done;
    });
    const zeroStates = addZeroStates({
      isMissing: () => retry.run('progress', 1, () => lacksZeroStates(store), signal),
      read: createZeroStateReader({ files, toRows }),
      write: (rows) => headWriter.writeZeroStates(rows),
      signal,
      logger,
    });
    await Promise.all([head.done, past, gaps.done, watchProgress(), zeroStates]);
  }

  const done = run().catch((error: unknown) => {
    if (!signal.aborted) logger.fatal({ err: error }, 'the indexer ended');
  });

  return {
    status() {
      const view = progress.view();
      return {
        state: indexStateOf({ ...view, idleMs: now() - movedMs }),
        ...view,
        isHeadWriter: head?.isWriter() ?? false,
        ranges: backfill?.ranges() ?? [],
        troubles: retry.troubles(),
      };
    },
    async close() {
      closing.abort(new Error('the indexer is closed'));
      // All parts reject with that reason; each part returns its claims.
      await done;
      await Promise.all([head?.done, backfill?.done]);
    },
  };
}

/** Blocks that should be written or queued: all up to the head. */
function extentOf(found: IndexProgress | undefined): { readonly from: number; readonly to: number } | undefined {
  if (found === undefined || found.headSeqno === null) return undefined;
  return { from: found.startSeqno, to: found.headSeqno };
}
