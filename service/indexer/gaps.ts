import type { Logger } from 'pino';

import { pause } from '../runtime/retry.ts';
import type { Retry } from '../runtime/retry.ts';
import type { Stage } from './stage.ts';

/** Masterchain blocks of a query: some 50 ms of an index scan. */
const SPAN_BLOCKS = 50_000;

/** Pause between two spans. A search of ten million blocks takes some minutes and disturbs no other work. */
const SPAN_PAUSE_MS = 500;

/**
 * Interval between searches of the whole index. The indexer writes no gaps: gaps come from blocks deleted by hand and from backups. A block
 * with leftover rows is a conflict at each try instead, which `troubles` reports.
 */
const AGAIN_MS = 6 * 3_600_000;

export type GapSearchDependencies = {
  /** First and last masterchain block that should be stored or queued; undefined without any. */
  readonly extent: () => Promise<{ readonly from: number; readonly to: number } | undefined>;
  /** Queues the missing blocks of this range. */
  readonly queueGaps: (from: number, to: number) => Promise<readonly { readonly from: number; readonly to: number }[]>;
  /** True in the only process that searches. */
  readonly isMine: () => boolean;
  readonly retry: Retry<Stage>;
  readonly signal: AbortSignal;
  readonly logger: Logger;
};

/** Finds masterchain blocks that are missing and that no worker has claimed. Queues them for the backfill. */
export function startGapSearch(dependencies: GapSearchDependencies): { readonly done: Promise<void> } {
  const { extent, queueGaps, isMine, retry, signal, logger } = dependencies;

  async function search(): Promise<void> {
    const found = await retry.run('ranges', -1, extent, signal);
    if (found === undefined) return;
    for (let from = found.from; from <= found.to && isMine(); from += SPAN_BLOCKS) {
      const to = Math.min(found.to, from + SPAN_BLOCKS - 1);
      const gaps = await retry.run('ranges', -1, () => queueGaps(from, to), signal);
      for (const gap of gaps) logger.warn(gap, 'blocks are missing: they are indexed again');
      await pause(SPAN_PAUSE_MS, signal);
    }
  }

  async function run(): Promise<void> {
    for (;;) {
      while (!isMine()) await pause(SPAN_PAUSE_MS, signal);
      await search();
      await pause(AGAIN_MS, signal);
    }
  }

  return {
    done: run().catch((error: unknown) => {
      if (!signal.aborted) throw error;
    }),
  };
}
