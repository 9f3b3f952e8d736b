import type { BlockId } from '../decode/block-id.ts';

/** A block whose id is proved and whose file has the id's hash. */
export type SourceBlock = { readonly id: BlockId; readonly boc: Uint8Array };

/** One masterchain block with the shard blocks that it brings. */
export type SourceBlocks = {
  readonly mcSeqno: number;
  /** `gen_utime` of the masterchain block, unix seconds. */
  readonly utime: number;
  readonly masterchain: SourceBlock;
  /** Newly referred to since the masterchain block before, through splits and merges: previous before next. */
  readonly shards: readonly SourceBlock[];
  /** What the masterchain, with its first block, and new workchains begin with: states in place of blocks. */
  readonly zeroStates: readonly SourceBlock[];
  /** The newest block of each shard as of this masterchain block. */
  readonly tops: readonly BlockId[];
  /** Version of the rules as of the masterchain block (configuration parameter 8); undefined when nobody has the key block any more. */
  readonly globalVersion: number | undefined;
};

/** Where blocks come from. */
export type BlockSource = {
  /**
   * Of the network's chain, proved. Rejects with the error of what failed (PoolError, ProofError, LiteServerError, IndexerError), or with
   * the signal's reason: the caller decides whether to try again.
   */
  readonly read: (mcSeqno: number, signal: AbortSignal) => Promise<SourceBlocks>;
};

/** A source that grows. */
export type HeadSource = BlockSource & {
  /** The newest masterchain block that can be read; undefined while nobody can tell. */
  readonly head: () => SourceHead | undefined;
  /** Resolves when the head is above the seqno, when `waitMs` are over or when the signal is aborted: the caller looks which. */
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
