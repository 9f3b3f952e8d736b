import { shardContainsPrefix } from '#service/decode/shard.ts';
import type { Chain, ChainBlock } from './chain.ts';

/** A chain's blocks by the ways down its shards. */
export type ShardPaths = {
  readonly along: Chain['along'];
  add(block: ChainBlock): void;
  /** Forgets all other blocks. */
  keepOnly(isKept: (block: ChainBlock) => boolean): void;
};

/** Creates lists of a workchain's blocks, cached for each requested path through its shards. */
export function createShardPaths(): ShardPaths {
  const byShard = new Map<string, ChainBlock[]>();
  /** Lists by the shards on the path. A new shard may lengthen a path; its list then gets another key. */
  const ways = new Map<string, ChainBlock[]>();
  return {
    keepOnly(isKept) {
      for (const [key, list] of byShard) {
        const remaining = list.filter(isKept);
        if (remaining.length > 0) byShard.set(key, remaining);
        else byShard.delete(key);
      }
      ways.clear();
    },
    add(block) {
      const key = shardKey(block.id.workchain, block.id.shard);
      const known = byShard.get(key);
      if (known === undefined) {
        byShard.set(key, [block]);
        return;
      }
      known.push(block);
      for (const [way, list] of ways) if (way.split(',').includes(key)) list.push(block);
    },
    along(workchain, prefix) {
      const keys = [...byShard]
        .filter(([, [first]]) => first!.id.workchain === workchain && shardContainsPrefix(first!.id.shard, prefix))
        .map(([key]) => key);
      const way = keys.join();
      const known = ways.get(way);
      if (known !== undefined) return known;
      const made = keys.flatMap((key) => byShard.get(key)!).toSorted((one, other) => one.id.seqno - other.id.seqno);
      ways.set(way, made);
      return made;
    },
  };
}

/** Names a shard. */
export function shardKey(workchain: number, shard: bigint): string {
  return `${workchain}:${shard.toString(16)}`;
}
