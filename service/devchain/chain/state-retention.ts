import { createCellStore } from '#service/decode/cell-store.ts';
import type { ChainBlock, GrowingChain } from './chain.ts';
import type { TimeSlice } from '#service/runtime/time-slice.ts';

/** Bounds of a chain's history in memory and on disk. */
export type StateRetention = {
  /**
   * Number of cells, some 150 bytes each, at which the oldest states are forgotten. If larger, twice the cells after the last collection
   * apply instead.
   */
  readonly cellsMax: number;
  /** Bytes at which the oldest blocks are forgotten. */
  readonly blockBytesMax: number;
};

/**
 * Cells: some 30 MB, the states of one to two hours at a block a second. A node without an archive has an hour. Bytes on disk: some 23,000
 * empty steps, 6 hours at a block a second.
 */
export const DEFAULT_RETENTION: StateRetention = { cellsMax: 200_000, blockBytesMax: 256 * 1_048_576 };

/** Below the bound of a store, so that another step always fits. A step of 1,000 transactions makes some 100,000 cells. */
const CELLS_MAX = 3_000_000;

/**
 * Forgets the oldest states of a chain with too many cells, as a node without an archive does. Half of the cells stay; the newest states
 * always stay. During this call an index into `chain.states` is valid only within a turn of the event loop.
 * @returns true when states were forgotten
 */
export async function forgetOldStates(
  chain: GrowingChain,
  window: StateRetention,
  slices: TimeSlice,
): Promise<boolean> {
  const { states } = chain;
  // The newest state alone may be larger than the window: then a collection must not follow each step.
  if (states.size < Math.min(Math.max(window.cellsMax, 2 * chain.cellsAtLastCollection), CELLS_MAX)) return false;
  const retained = createCellStore();
  const roots = new Map<ChainBlock, number>();
  for (let seqno = chain.lastSeqno; seqno > 0 && (retained.size < window.cellsMax / 2 || roots.size === 0); seqno--) {
    const top = chain.masterchain(seqno);
    if (top === undefined || !chain.holdsState(top)) break;
    const shards = top.shards.flatMap(({ block }) => chain.find(block) ?? []);
    for (const block of [top, ...shards]) {
      if (!roots.has(block)) roots.set(block, retained.import(states, block.state));
      await slices.pause();
    }
  }
  chain.useStates(retained, roots);
  return true;
}

/**
 * Forgets the oldest blocks of a chain with too many bytes, an eighth at a time. A lite server then answers like a server without an
 * archive.
 */
export function forgetOldBlocks(chain: GrowingChain, { blockBytesMax }: StateRetention): void {
  if (chain.blockBytes > blockBytesMax) chain.forgetBlocks((blockBytesMax / 8) * 7);
}
