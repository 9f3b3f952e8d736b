import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import { lookupHashmap, uintKey } from '#service/decode/hashmap.ts';
import { shardChildren, shardContainsPrefix, shardPrefixBits } from '#service/decode/shard.ts';
import type { ShardDescr } from '#service/decode/tlb/shard-descr.ts';
import { readShardDescr } from '#service/decode/tlb/shard-descr.ts';

/** Newest block of a shard in a masterchain block or state, with the cell of its listing. */
export type ShardLeaf = ShardDescr & { readonly leaf: number };

/**
 * Finds the listed shard that contains `shard` by walking its bits down the tree. With `exact` it finds only `shard` itself. A shard that
 * has split into listed shards is not found. Opens the way to the leaf, and the cell of fees below it. The list is not opened for the
 * masterchain, nor for an invalid shard.
 */
export function findShardLeaf(
  table: CellTable,
  shardHashes: number | undefined,
  workchain: number,
  shard: bigint,
  exact: boolean,
): ShardLeaf | undefined {
  if (workchain === MASTERCHAIN || shard === 0n) return undefined;
  let cell = lookupHashmap(table, shardHashes, 32, uintKey(workchain, 32))?.ref();
  let found = FULL_SHARD;
  for (let bitsLeft = shardPrefixBits(shard); cell !== undefined; bitsLeft--) {
    const slice = new CellSlice(table, cell);
    if (!slice.bit()) return exact && bitsLeft > 0 ? undefined : readLeaf(slice, workchain, found);
    if (bitsLeft === 0) return undefined;
    const [left, right] = shardChildren(found);
    const goesLeft = shardContainsPrefix(left, shard);
    found = goesLeft ? left : right;
    cell = table.ref(cell, goesLeft ? 0 : 1);
  }
  return undefined;
}

/** Reads a description after the leaf's bit. The newer kind (`shard_descr_new#a`) has the fees in a separate cell. */
function readLeaf(slice: CellSlice, workchain: number, shard: bigint): ShardLeaf {
  const descr = readShardDescr(slice, workchain, shard);
  if (slice.remainingRefs > 0) slice.refSlice();
  return { ...descr, leaf: slice.cell };
}
