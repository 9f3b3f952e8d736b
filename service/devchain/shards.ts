import type { BlockId } from '../decode/block-id.ts';
import { FULL_SHARD } from '../decode/block-id.ts';
import { CellSlice } from '../decode/cell-slice.ts';
import type { CellTable } from '../decode/cell-table.ts';
import { entries, key32, lookUp } from './dictionary.ts';

/** The newest block of a shard as a masterchain block or state lists it (`shard_descr#b`, `shard_descr#a`). */
export type ShardTop = {
  readonly id: BlockId;
  readonly endLt: bigint;
  /** The tree's leaf cell: a 0 bit, then the description. */
  readonly leaf: number;
};

/** Lowest set bit of a shard: half of what the shard covers. */
export function lowBit(shard: bigint): bigint {
  return shard & -shard;
}

/** True when the shard holds the accounts that start with this prefix. */
export function shardContains(shard: bigint, prefix: bigint): boolean {
  return ((shard ^ prefix) & BigInt.asUintN(64, -(lowBit(shard) << 1n))) === 0n;
}

/** True when one of the shards holds the other. */
export function shardsIntersect(one: bigint, other: bigint): boolean {
  return lowBit(one) > lowBit(other) ? shardContains(one, other) : shardContains(other, one);
}

/** How many bits of an address name the shard. */
export function prefixLength(shard: bigint): number {
  let length = 63;
  for (let low = lowBit(shard); low > 1n; low >>= 1n) length--;
  return length;
}

/** What account ids are sorted into shards by: their first 64 bits. */
export function accountPrefix(account: Buffer): bigint {
  return account.readBigUInt64BE(0);
}

/**
 * Finds the listed shard that holds `shard` by walking its bits down the tree; with `exact`, `shard` itself or nothing.
 * Opens the way to the leaf and what the leaf refers to.
 */
export function findShard(
  table: CellTable,
  shards: number | undefined,
  workchain: number,
  shard: bigint,
  exact: boolean,
): ShardTop | undefined {
  const root = shards === undefined ? undefined : lookUp({ table, cell: shards }, 32, key32(workchain))?.ref();
  if (root === undefined) return undefined;
  let cell = root;
  let found = FULL_SHARD;
  for (let bitsLeft = prefixLength(shard); ; bitsLeft--) {
    const slice = new CellSlice(table, cell);
    if (!slice.bit()) return exact && bitsLeft > 0 ? undefined : readTop(slice, workchain, found);
    if (bitsLeft === 0) return undefined;
    const half = lowBit(found) >> 1n;
    const left = slice.ref();
    const isRight = (shard & (half << 1n)) !== 0n;
    cell = isRight ? slice.ref() : left;
    found = isRight ? found + half : found - half;
  }
}

/** Every listed shard: by workchain, then from left to right. */
export function listShards(table: CellTable, shards: number | undefined): ShardTop[] {
  if (shards === undefined) return [];
  const tops: ShardTop[] = [];
  const descend = (workchain: number, cell: number, shard: bigint): void => {
    const slice = new CellSlice(table, cell);
    if (!slice.bit()) {
      tops.push(readTop(slice, workchain, shard));
      return;
    }
    const half = lowBit(shard) >> 1n;
    descend(workchain, slice.ref(), shard - half);
    descend(workchain, slice.ref(), shard + half);
  };
  for (const { key, value } of entries({ table, cell: shards }, 32))
    descend(key.readInt32BE(0), value.ref(), FULL_SHARD);
  return tops;
}

/** Reads a description behind the leaf's bit; opens the cell of fees that the newer kind refers to. */
function readTop(slice: CellSlice, workchain: number, shard: bigint): ShardTop {
  const tag = slice.uint(4);
  const seqno = slice.uint(32);
  slice.skip(32 + 64);
  const endLt = slice.uint64();
  const rootHash = slice.hash();
  const fileHash = slice.hash();
  if (tag === 0xa) slice.refSlice();
  return { id: { workchain, shard, seqno, rootHash, fileHash }, endLt, leaf: slice.cell };
}
