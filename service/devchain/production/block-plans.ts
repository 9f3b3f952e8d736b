import type { BlockId } from '#service/decode/block-id.ts';
import { shardChildren, shardParent, shardPrefixBits } from '#service/decode/shard.ts';
import type { ShardDescr } from '#service/decode/tlb/shard-descr.ts';
import type { ShardIdent } from '#service/decode/tlb/shard-ident.ts';

/** A shard block to be made next. */
export type BlockPlan = {
  readonly shard: ShardIdent;
  /** Previous blocks: a single block, or after a merge the left and the right block. */
  readonly previous: readonly BlockId[];
  readonly beforeSplit: boolean;
  readonly wantSplit: boolean;
  readonly wantMerge: boolean;
};

/** A split begins no later than this many seconds before the end of its interval, as in the node. */
const SPLIT_MARGIN_SECONDS = 13;

/**
 * Plans the next block of every shard that a masterchain block lists. A split shard has two next blocks, merged shards have a common one.
 */
export function planBlocks(shards: readonly ShardDescr[], utime: number, shardDepth: number): BlockPlan[] {
  const plan = (shard: ShardIdent, previous: readonly BlockId[], beforeSplit = false): BlockPlan => {
    const depth = shardPrefixBits(shard.shard);
    return { shard, previous, beforeSplit, wantSplit: depth < shardDepth, wantMerge: depth > shardDepth };
  };
  return shards.flatMap((listed) => {
    const { block, beforeSplit, beforeMerge, splitMergeAt } = listed;
    const { workchain } = block;
    if (beforeSplit) return shardChildren(block.shard).map((shard) => plan({ workchain, shard }, [block]));
    const sibling = beforeMerge ? siblingOf(shards, listed) : undefined;
    if (sibling?.beforeMerge === true) {
      const isLeft = block.shard < sibling.block.shard;
      return isLeft ? [plan({ workchain, shard: shardParent(block.shard) }, [block, sibling.block])] : [];
    }
    const isDue =
      splitMergeAt?.kind === 'split' &&
      utime >= splitMergeAt.utime &&
      utime + SPLIT_MARGIN_SECONDS < splitMergeAt.utime + splitMergeAt.intervalSeconds;
    return [plan({ workchain, shard: block.shard }, [block], isDue)];
  });
}

function siblingOf(shards: readonly ShardDescr[], { block }: ShardDescr): ShardDescr | undefined {
  const parent = shardParent(block.shard);
  return shards.find(
    ({ block: other }) =>
      other.workchain === block.workchain &&
      other.shard !== block.shard &&
      shardPrefixBits(other.shard) === shardPrefixBits(block.shard) &&
      shardParent(other.shard) === parent,
  );
}
