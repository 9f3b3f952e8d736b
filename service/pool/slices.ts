import { FULL_SHARD, MASTERCHAIN } from '../decode/block-id.ts';
import type { PositionNeed } from '../liteserver/query-facts.ts';

/** Start or end of a slice in one shard; same shape as the configuration's. */
export type SlicePlace = {
  readonly workchain: number;
  readonly shard: bigint;
  readonly seqno: number;
  /** Unix seconds. */
  readonly utime: number;
  readonly lt: bigint;
};

/** Part of the chain that a lite server has (service/liteserver/README.md#global-config). */
export type Slice = {
  /** Start of the slice for each of its shards; empty: all, from the beginning. */
  readonly from: readonly SlicePlace[];
  /** End of the slice. Empty: it includes the newest blocks. */
  readonly to: readonly SlicePlace[];
};

/**
 * Returns true when one of the slices has every position; `null` has all.
 * @param masterchainSeqno a masterchain block that is needed too
 */
export function coversPositions(
  slices: readonly Slice[] | null,
  places: readonly PositionNeed[],
  masterchainSeqno: number | undefined,
): boolean {
  if (slices === null) return true;
  const needs: PositionNeed[] = [...places];
  if (masterchainSeqno !== undefined)
    needs.push({ workchain: MASTERCHAIN, shard: FULL_SHARD, by: 'seqno', value: masterchainSeqno });
  return slices.some((slice) => needs.every((need) => reaches(slice.from, need, 1) && reaches(slice.to, need, -1)));
}

/** Returns true for a server whose newest block can be the head: a slice of it has no end. */
export function hasNewest(slices: readonly Slice[] | null): boolean {
  return slices === null || slices.some(({ to }) => to.length === 0);
}

/**
 * Returns true when the position is on the right side of one bound of its shard. A slice without bounds on this side has all positions.
 * @param direction 1: from the bound on; -1: up to it
 */
function reaches(bounds: readonly SlicePlace[], need: PositionNeed, direction: 1 | -1): boolean {
  if (bounds.length === 0) return true;
  const masterchain = bounds.find(({ workchain }) => workchain === MASTERCHAIN);
  return bounds.some((bound) => {
    if (bound.workchain !== need.workchain || !intersects(bound.shard, need.shard)) return false;
    switch (need.by) {
      case 'newest':
        return direction === 1;
      case 'masterchainSeqno':
        return masterchain !== undefined && (need.value - masterchain.seqno) * direction >= 0;
      case 'lt':
        return direction === 1 ? need.value >= bound.lt : need.value <= bound.lt;
      default:
        return (need.value - bound[need.by]) * direction >= 0;
    }
  });
}

/** Reports whether two shards intersect (service/liteserver/README.md#shards). */
function intersects(one: bigint, other: bigint): boolean {
  const lowOne = one & -one;
  const lowOther = other & -other;
  const low = lowOne > lowOther ? lowOne : lowOther;
  return BigInt.asUintN(64, (one ^ other) & -(low << 1n)) === 0n;
}
