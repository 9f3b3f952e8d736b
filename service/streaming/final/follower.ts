import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import { createRetry, type Trouble } from '#service/runtime/retry.ts';
import { findBlockState, findNewestClassified, type BlockState } from '#service/store/queries/final-blocks.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import type { Change } from '../changes.ts';
import type { BlockSource } from './block-source.ts';
import { createFinalMetrics } from './final-metrics.ts';
import { createWake, type Wake } from './wake.ts';

/** Gives the changes of blocks in the order of the masterchain, from the newest one on. */
export type Follower = {
  /** Block up to which changes were given or passed; null before the first. */
  readonly newest: () => number | null;
  /** Unix milliseconds at which the newest block was seen; null before the first. */
  readonly seenMs: () => number | null;
  /** Unix milliseconds of the last answer of the index. */
  readonly lookedMs: () => number | null;
  readonly announce: Wake['announce'];
  readonly troubles: () => readonly Trouble[];
  /** Resolves when the signal has ended it. */
  readonly done: Promise<void>;
};

export type FollowerDependencies = {
  readonly reader: StoreReader & { readonly signal: AbortSignal };
  readonly blocks: BlockSource;
  /** Called with all changes of one block at a time, block by block. The next block waits until it resolves. */
  readonly onChanges: (changes: readonly Change[]) => Promise<void>;
  /** True while a connection is open: then no block is passed over. */
  readonly isWanted: () => boolean;
  readonly logger: Logger;
  readonly register: Registry;
  /** 0..1. */
  readonly random: () => number;
  readonly unixMs: () => number;
  /** Milliseconds, ascending. */
  readonly clock: () => number;
};

/** @param pollMs milliseconds between two looks for a new block while no news come */
export function createFollower(pollMs: number, dependencies: FollowerDependencies): Follower {
  const { reader, blocks, onChanges, isWanted, logger, register, random, unixMs, clock } = dependencies;
  const { signal } = reader;
  const retry = createRetry<'follow'>({ logger, random, unixMs, onFailure: () => {}, isFinal: () => false });
  const wake = createWake(pollMs, clock);
  let newest: number | null = null;
  let seenMs: number | null = null;
  let answeredMs: number | null = null;
  let indexed: number | null = null;
  /** Moment of the last look that found no new block. */
  let lookedAtMs = clock();
  /** Moment since which the next block is indexed, and not given. */
  let behindSinceMs: number | undefined;
  const metrics = createFinalMetrics(register, {
    lag: () => ({
      blocks: Math.max((indexed ?? 0) - (newest ?? indexed ?? 0), 0),
      seconds: behindSinceMs === undefined ? 0 : (clock() - behindSinceMs) / 1000,
    }),
    cachedBytes: blocks.bytes,
  });

  /** @returns true if the next block may be there already */
  async function step(): Promise<boolean> {
    if (newest === null || !isWanted()) {
      const found = await findNewestClassified(reader);
      answeredMs = unixMs();
      // A connection that opened during the read gets every block since.
      if (newest === null || !isWanted()) {
        if (found !== undefined && found > (newest ?? -1)) see(found);
        [indexed, behindSinceMs] = [newest, undefined];
        return false;
      }
    }
    const lookMs = clock();
    const next = newest + 1;
    const state = await findBlockState(reader, next);
    ({ indexed } = state);
    answeredMs = unixMs();
    behindSinceMs = indexed !== null && indexed >= next ? (behindSinceMs ?? lookMs) : undefined;
    const changes = isReady(state.block) ? await blocks.readNext(next, signal) : undefined;
    if (changes === undefined) {
      lookedAtMs = lookMs;
      return false;
    }
    if (state.block?.known !== true) passUnclassified(next);
    see(next);
    if (changes.length > 0) await give(changes);
    metrics.given((clock() - (wake.announcedAt(next) ?? lookedAtMs)) / 1000);
    behindSinceMs = indexed !== null && indexed > next ? clock() : undefined;
    return true;
  }

  function see(mcSeqno: number): void {
    newest = mcSeqno;
    seenMs = unixMs();
  }

  function passUnclassified(mcSeqno: number): void {
    metrics.unclassified();
    logger.error(
      { mcSeqno },
      'a block is streamed without actions and jettons, because the interpreter cannot read it',
    );
  }

  async function give(changes: readonly Change[]): Promise<void> {
    try {
      await onChanges(changes);
    } catch (error) {
      signal.throwIfAborted();
      logger.error({ err: error, mcSeqno: newest }, 'the changes of a block were not distributed');
    }
  }

  async function follow(): Promise<void> {
    for (;;) {
      const isBehind = await retry.run('follow', 0, step, signal);
      if (!isBehind) await wake.rest(newest, signal);
    }
  }

  return {
    newest: () => newest,
    seenMs: () => seenMs,
    lookedMs: () => answeredMs,
    announce: wake.announce,
    troubles: retry.troubles,
    done: follow().catch((error: unknown) => {
      if (!signal.aborted) logger.fatal({ err: error }, 'the changes of blocks are no longer followed');
    }),
  };
}

/** A block that the interpreter has put aside must not delay all later ones. */
function isReady(block: BlockState | undefined): boolean {
  return block !== undefined && (!block.todo || block.aside);
}
