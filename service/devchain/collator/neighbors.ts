import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import type { BlockId } from '#service/decode/block-id.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { shardsIntersect } from '#service/decode/shard.ts';
import type { ListedShard } from '#service/decode/tlb/shard-descr.ts';
import type { ShardIdent } from '#service/decode/tlb/shard-ident.ts';
import type { PreviousState, QueueBefore } from './previous-state.ts';
import { openPreviousState } from './previous-state.ts';
import type { QueuedMessage } from './out-queue.ts';
import { listQueue } from './out-queue.ts';
import type { Processed, ShardEndLt } from './processed-upto.ts';
import { isProcessed } from './processed-upto.ts';

/** A chain whose queue a block reads, and which may have taken messages from the block's own queue. */
export type Neighbor = {
  readonly shard: ShardIdent;
  readonly endLt: bigint;
  readonly queue: number | undefined;
  readonly processed: Processed;
  /** The chain that the block belongs to. */
  readonly own: boolean;
};

/** A message in a neighbor's queue for the shard. */
export type Arrival = {
  readonly message: QueuedMessage;
  readonly own: boolean;
  /** The shard took the message in an earlier block, which its neighbor has not seen yet. No action is needed. */
  readonly taken: boolean;
};

/**
 * Returns every chain that a block sees: the masterchain, the listed shards, and its own state after the previous block. During an unlisted
 * split or merge, the own shard already has its future form.
 */
export function neighborsOf(
  states: CellStore,
  shard: ShardIdent,
  before: PreviousState,
  listed: readonly ListedShard[],
  masterchain: { readonly state: number; readonly endLt: bigint },
  stateOf: (id: BlockId) => number,
): Neighbor[] {
  const own = (queue: QueueBefore, part: ShardIdent): Neighbor => {
    return { shard: part, endLt: before.lt, queue: queue.queue, processed: queue.processed, own: true };
  };
  const isOwn = (other: ShardIdent): boolean =>
    other.workchain === shard.workchain && shardsIntersect(other.shard, shard.shard);
  const others = listed
    .filter(({ block }) => !isOwn(block))
    .map(({ block, endLt }) => {
      const { queue, processed } = openPreviousState(states, stateOf(block));
      return { shard: block, endLt, queue, processed, own: false };
    });
  const neighbors = [own(before, shard), ...others];
  if (before.sibling !== undefined) {
    const { owner } = before.sibling.processed;
    neighbors.push({ ...own(before.sibling, owner), own: false });
  }
  if (shard.workchain === MASTERCHAIN) return neighbors;
  const { queue, processed } = openPreviousState(states, masterchain.state);
  const place = { workchain: MASTERCHAIN, shard: FULL_SHARD };
  return [...neighbors, { shard: place, endLt: masterchain.endLt, queue, processed, own: false }];
}

/** Lists messages of the own queue that neighbors have taken. Each has the end lt of the block that shows it. */
export function listDelivered(
  states: CellStore,
  queue: number | undefined,
  neighbors: readonly Neighbor[],
  endLt: ShardEndLt,
): { readonly message: QueuedMessage; readonly importLt: bigint }[] {
  return neighbors.flatMap((neighbor) =>
    listQueue(states, queue, neighbor.shard)
      .filter((message) => isProcessed(neighbor.processed, message, endLt))
      .map((message) => ({ message, importLt: neighbor.endLt })),
  );
}

/** Messages in all queues whose next stop is in the shard, in the order of their delivery. */
export function listArrivals(
  states: CellStore,
  shard: ShardIdent,
  processed: Processed,
  neighbors: readonly Neighbor[],
  endLt: ShardEndLt,
): Arrival[] {
  return neighbors
    .flatMap(({ queue, own }) =>
      listQueue(states, queue, shard).map((message) => ({
        message,
        own,
        taken: isProcessed(processed, message, endLt),
      })),
    )
    .toSorted(({ message: one }, { message: other }) =>
      one.lt === other.lt ? Buffer.compare(one.hash, other.hash) : one.lt < other.lt ? -1 : 1,
    );
}
