import { ApiError, type Api } from '../api.ts';
import type { Block, BlockRef } from '../objects.ts';
import type { Route } from '../paths.ts';

/** A block with the blocks after it: two after a split, none at the head. */
export type BlockAndNext = { readonly block: Block; readonly next: readonly BlockRef[] };

type BlocksAnswer = { readonly blocks: readonly Block[] };

/** Shards of one workchain: blocks with the same seqno. */
const SHARDS_MAX = 256;

/** @throws ApiError 404 for a block that is not indexed */
export async function loadBlock(
  api: Api,
  { workchain, shard, seqno }: Pick<Extract<Route, { page: 'block' }>, 'workchain' | 'shard' | 'seqno'>,
  signal: AbortSignal,
): Promise<BlockAndNext> {
  const [found, later] = await Promise.all([
    api.v3<BlocksAnswer>('blocks', { workchain, shard: shard.toUpperCase(), seqno, limit: 1 }, signal),
    api.v3<BlocksAnswer>('blocks', { workchain, seqno: seqno + 1, limit: SHARDS_MAX }, signal),
  ]);
  const [block] = found.blocks;
  if (block === undefined) throw new ApiError(404, 'The index has no such block.');
  return { block, next: later.blocks.filter(({ prev_blocks: before }) => before?.some((one) => isSame(one, block))) };
}

/** Shards are hexadecimal texts, in either case and with or without zeros in front. */
export function isSame(one: BlockRef, other: BlockRef): boolean {
  return one.workchain === other.workchain && one.seqno === other.seqno && shardOf(one) === shardOf(other);
}

/** 16 hexadecimal digits. */
export const shardOf = ({ shard }: BlockRef): string => shard.toLowerCase().padStart(16, '0');

/** A shard as v2 takes it: a signed decimal number. @param shard hexadecimal digits */
export function signedShard(shard: string): string {
  return BigInt.asIntN(64, BigInt(`0x${shard}`)).toString();
}

/** A shard of v2 as 16 hexadecimal digits. */
export function hexShard(shard: string): string {
  return BigInt.asUintN(64, BigInt(shard)).toString(16).padStart(16, '0');
}
