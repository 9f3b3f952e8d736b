import type { BlockId } from '../decode/block-id.ts';
import { shardChildren, shardParent, shardPrefixBits } from '../decode/shard.ts';
import type { ShardDescr } from '../decode/tlb/shard-descr.ts';
import type { ShardIdent } from '../decode/tlb/shard-ident.ts';

/** A shard block to be made next. */
export type BlockPlan = {
  readonly shard: ShardIdent;
  /** What it follows: one block, or after a merge the left and the right one. */
  readonly previous: readonly BlockId[];
  readonly beforeSplit: boolean;
  readonly wantSplit: boolean;
  readonly wantMerge: boolean;
};

/** A split begins no later than this many seconds before its time is over: as in the node. */
const SPLIT_MARGIN_SECONDS = 13;

/** The next block of every shard that a masterchain block lists: of both halves after a split, of the whole after a merge. */
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
