import { FULL_SHARD, MASTERCHAIN } from '../decode/block-id.ts';

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

/** Position in the chain that a query needs. */
export type PositionNeed = {
  readonly workchain: number;
  /** A shard, or an account's first 64 bits with the last one set. */
  readonly shard: bigint;
} & (
  | { readonly by: 'newest' }
  | { readonly by: 'seqno' | 'utime' | 'masterchainSeqno'; readonly value: number }
  | { readonly by: 'lt'; readonly value: bigint }
);

/** Seqno that stands for the newest block (service/liteserver/README.md#block-ids). */
const NEWEST_SEQNO = 0xffff_ffff;

/** Bits of lookupBlock's mode (service/liteserver/README.md#mode-bits). */
const BY_SEQNO = 0x1;
const BY_LT = 0x2;

const newest: PositionNeed = { workchain: MASTERCHAIN, shard: FULL_SHARD, by: 'newest' };

type Id = { readonly workchain: number; readonly shard: bigint; readonly seqno: number };

/** Returns the positions named by a query's arguments; the newest block of the masterchain when they name none. */
export function placesOf(functionName: string, args: unknown): readonly PositionNeed[] {
  const { id, account, lt, utime, mode, knownBlock, targetBlock } = args as {
    readonly id?: Id;
    readonly account?: { readonly workchain: number; readonly id: Buffer };
    readonly lt?: bigint;
    readonly utime?: number;
    readonly mode?: number;
    readonly knownBlock?: Id;
    readonly targetBlock?: Id;
  };
  if (knownBlock !== undefined)
    return targetBlock === undefined ? [placeOf(knownBlock), newest] : [knownBlock, targetBlock].map(placeOf);
  if (account !== undefined && Buffer.isBuffer(account.id)) {
    const place = { workchain: account.workchain, shard: account.id.readBigUInt64BE() | 1n };
    if (id === undefined) return [lt === undefined ? { ...place, by: 'newest' } : { ...place, by: 'lt', value: lt }];
    if (id.seqno === NEWEST_SEQNO) return [{ ...place, by: 'newest' }];
    return [{ ...place, by: id.workchain === MASTERCHAIN ? 'masterchainSeqno' : 'seqno', value: id.seqno }];
  }
  if (id === undefined || typeof id.seqno !== 'number' || typeof id.shard !== 'bigint') return [newest];
  if (!functionName.startsWith('lookupBlock') || ((mode ?? 0) & BY_SEQNO) !== 0) return [placeOf(id)];
  const place = { workchain: id.workchain, shard: id.shard };
  return [
    ((mode ?? 0) & BY_LT) !== 0
      ? { ...place, by: 'lt', value: lt ?? 0n }
      : { ...place, by: 'utime', value: utime ?? 0 },
  ];
}

function placeOf({ workchain, shard, seqno }: Id): PositionNeed {
  return { workchain, shard: BigInt.asUintN(64, shard), by: 'seqno', value: seqno };
}

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
