import type { BitWriter } from '../bit-writer.ts';
import type { CellSlice } from '../cell-slice.ts';

/** Number of blocks that a validator made, in total and recently. The two recent counts are in 2^-32 blocks and fade with 2048 and 65536 s. */
export type BlockCounter = {
  /** Unix seconds. */
  readonly lastUpdated: number;
  readonly total: bigint;
  readonly count2048: bigint;
  readonly count65536: bigint;
};

/** Statistics of one validator. The key 0 has the statistics of all validators together. */
export type CreatorStats = { readonly masterchain: BlockCounter; readonly shards: BlockCounter };

/** Counter without blocks. */
export const NO_BLOCKS: BlockCounter = { lastUpdated: 0, total: 0n, count2048: 0n, count65536: 0n };

/** `creator_info#4 mc_blocks:Counters shard_blocks:Counters = CreatorStats`. */
export function readCreatorStats(slice: CellSlice): CreatorStats {
  slice.expectTag(4, 4, 'CreatorStats');
  return { masterchain: readCounter(slice), shards: readCounter(slice) };
}

/** `counters#_ last_updated:uint32 total:uint64 cnt2048:uint64 cnt65536:uint64 = Counters`. */
function readCounter(slice: CellSlice): BlockCounter {
  return {
    lastUpdated: slice.uint(32),
    total: slice.uint64(),
    count2048: slice.uint64(),
    count65536: slice.uint64(),
  };
}

/** The reverse of `readCreatorStats`. */
export function writeCreatorStats(writer: BitWriter, { masterchain, shards }: CreatorStats): BitWriter {
  return writeCounter(writeCounter(writer.uint(4, 4), masterchain), shards);
}

function writeCounter(writer: BitWriter, { lastUpdated, total, count2048, count65536 }: BlockCounter): BitWriter {
  return writer.uint(lastUpdated, 32).int(total, 64).int(count2048, 64).int(count65536, 64);
}
