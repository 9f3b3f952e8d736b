import type { BlockId } from '../decode/block-id.ts';
import type { StackEntry } from './stack.ts';

/**
 * Masterchain blocks that a contract can see (parameter 13 of c7). They come from the state of the block that the call is pinned to, that block
 * first.
 */
export type PreviousBlocks = {
  /** Newest blocks, newest first; at most 16. */
  readonly last: readonly BlockId[];
  readonly lastKeyBlock: BlockId;
  /** Newest blocks whose seqno is a multiple of 100, newest first; at most 16. Present from global version 9 on. */
  readonly lastHundreds?: readonly BlockId[];
};

/** The tuple `[last_mc_blocks, prev_key_block, last_mc_blocks_100]`. */
export function previousBlocksTuple({ last, lastKeyBlock, lastHundreds }: PreviousBlocks): StackEntry {
  const items = [tuple(last.map(blockTuple)), blockTuple(lastKeyBlock)];
  return tuple(lastHundreds === undefined ? items : [...items, tuple(lastHundreds.map(blockTuple))]);
}

/** Adds previous blocks to the parameters of a run. @param params a JSON object with fields @param blocks base64 of the tuple; empty for none */
export function withPreviousBlocks(params: string, blocks: string): string {
  return blocks === '' ? params : `${params.slice(0, -1)},"prev_blocks_info":"${blocks}"}`;
}

/** `[wc:Integer shard:Integer seqno:Integer root_hash:Integer file_hash:Integer]`. */
function blockTuple({ workchain, shard, seqno, rootHash, fileHash }: BlockId): StackEntry {
  return tuple([BigInt(workchain), shard, BigInt(seqno), hashNumber(rootHash), hashNumber(fileHash)].map(int));
}

function hashNumber(hash: Buffer): bigint {
  return BigInt(`0x${hash.toString('hex')}`);
}

function int(value: bigint): StackEntry {
  return { type: 'int', value };
}

function tuple(items: readonly StackEntry[]): StackEntry {
  return { type: 'tuple', items };
}
