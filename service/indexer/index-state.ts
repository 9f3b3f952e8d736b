/**
 * State of the index. Stalled: no block was written for too long though some remain. CatchingUp: behind, or with an unfinished past. Live:
 * neither.
 */
export type IndexState = 'Stalled' | 'CatchingUp' | 'Live';

export type IndexFacts = {
  /** Masterchain blocks between the network's head and the newest indexed block; undefined while unknown. */
  readonly lagBlocks: number | undefined;
  /** Undefined while it is unknown. */
  readonly remainingBlocks: number | undefined;
  /** Time since the last progress, here or in another process. */
  readonly idleMs: number;
};

/** The head moves in steps: a few blocks are on their way at any time. */
const LAG_BLOCKS_MAX = 10;

/** Restarting Postgres and flapping lite servers are usually back by then. */
const IDLE_MS_MAX = 120_000;

export function indexStateOf({ lagBlocks, remainingBlocks, idleMs }: IndexFacts): IndexState {
  const isDone = lagBlocks === 0 && remainingBlocks === 0;
  if (!isDone && idleMs > IDLE_MS_MAX) return 'Stalled';
  const isNear = lagBlocks !== undefined && lagBlocks <= LAG_BLOCKS_MAX && remainingBlocks === 0;
  return isNear ? 'Live' : 'CatchingUp';
}
