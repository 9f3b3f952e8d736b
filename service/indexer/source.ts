import type { BlockId } from '../decode/block-id.ts';

/** A block with a proved id and a file that matches the id's hash. */
export type SourceBlock = { readonly id: BlockId; readonly boc: Uint8Array };

/** A masterchain block with the shard blocks that it includes. */
export type SourceBlocks = {
  readonly mcSeqno: number;
  /** `gen_utime` of the masterchain block, unix seconds. */
  readonly utime: number;
  readonly masterchain: SourceBlock;
  /** Newly referred to since the masterchain block before, through splits and merges: previous before next. */
  readonly shards: readonly SourceBlock[];
  /** States of the masterchain, with its first block, and of new workchains: states in place of blocks. */
  readonly zeroStates: readonly SourceBlock[];
  /** The newest block of each shard as of this masterchain block. */
  readonly tops: readonly BlockId[];
  /** Version of the rules at the masterchain block (configuration parameter 8). Undefined when no source has the key block any more. */
  readonly globalVersion: number | undefined;
};

/** Source of blocks. */
export type BlockSource = {
  /**
   * Proved blocks of the network's chain. Rejects with the error of the failed part (PoolError, ProofError, LiteServerError, IndexerError),
   * or with the signal's reason. The caller decides about retries.
   */
  readonly read: (mcSeqno: number, signal: AbortSignal) => Promise<SourceBlocks>;
};

/** A source that grows. */
export type HeadSource = BlockSource & {
  /** The newest readable masterchain block; undefined while unknown. */
  readonly head: () => SourceHead | undefined;
  /** Resolves when the head is above the seqno, when `waitMs` are over or when the signal is aborted. The caller checks the cause. */
  readonly waitHead: (afterSeqno: number, waitMs: number, signal: AbortSignal) => Promise<void>;
};

export type SourceHead = {
  readonly seqno: number;
  /** `gen_utime`, unix seconds. */
  readonly utime: number;
};

/** Bytes of all blocks. */
export function bytesOf({ masterchain, shards, zeroStates }: SourceBlocks): number {
  return [...shards, ...zeroStates].reduce((sum, { boc }) => sum + boc.length, masterchain.boc.length);
}
