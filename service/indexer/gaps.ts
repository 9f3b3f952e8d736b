import type { Logger } from 'pino';

import { pause } from './retry.ts';
import type { Retry } from './retry.ts';

/** Masterchain blocks looked at in one question: some 50 ms of an index scan. */
const SPAN_BLOCKS = 50_000;

/** Between two spans: the look over ten million blocks takes some minutes and disturbs nobody. */
const SPAN_PAUSE_MS = 500;

/**
 * The whole index is looked over again so often. What the indexer writes has no gaps: they come from whole blocks that were taken out by hand, and from backups. A block
 * of which rows are left over is a conflict instead, again and again, which `troubles` tell.
 */
const AGAIN_MS = 6 * 3_600_000;

export type GapSearchDependencies = {
  /** First and last masterchain block that should be there or be queued; undefined while nothing is. */
  readonly extent: () => Promise<{ readonly from: number; readonly to: number } | undefined>;
  /** Queues what is missing among these. */
  readonly queueGaps: (from: number, to: number) => Promise<readonly { readonly from: number; readonly to: number }[]>;
  /** One process of all looks. */
  readonly isMine: () => boolean;
  readonly retry: Retry;
  readonly signal: AbortSignal;
  readonly logger: Logger;
};

/** Looks for masterchain blocks that are missing though nobody works on them, and queues them for the backfill. */
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
