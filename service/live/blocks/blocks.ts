import type { BlockId } from '#service/decode/block-id.ts';
import type { BlockInfo } from '#service/decode/tlb/block-info.ts';
import type { BackLink, ShardBlockLink } from '#service/proof/answers.ts';
import type { BlockSearch } from '#service/proof/lookup-proof.ts';
import type { SignatureSet } from '#service/proof/signatures.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';

/** A shard: any account prefix stands for the shard that has it. `shard` is unsigned. */
export type ShardPlace = { readonly workchain: number; readonly shard: bigint };

/** A block's header, proved to be a block of the network. */
export type LiveBlockHeader = {
  readonly id: BlockId;
  /** Signed 32 bits: -239 is mainnet, -3 testnet. */
  readonly globalId: number;
  readonly info: BlockInfo;
  /** Previous block, or two after a merge. */
  readonly previous: readonly BlockId[];
};

/** Signatures under a masterchain block, each checked and together more than two thirds of the weight. */
export type LiveBlockSignatures = { readonly id: BlockId; readonly signatures: SignatureSet };

/** The way from a masterchain block to a shard block. */
export type LiveShardBlockProof = {
  /** The masterchain block that the proof starts from. */
  readonly from: BlockId;
  /** The masterchain block that has the shard block in its history. */
  readonly masterchainBlock: BlockId;
  /** From `masterchainBlock` down to the shard block; none for a masterchain block. */
  readonly links: readonly ShardBlockLink[];
  /** From `from` back to `masterchainBlock`; undefined when they are the same. */
  readonly masterchainLink: BackLink | undefined;
};

/** Newest proved masterchain block that 60 % of the lite servers have, and since when, in Unix seconds. */
export type LiveConsensusBlock = { readonly seqno: number; readonly sinceUtime: number };

/** Messages that wait to leave each shard, as of the served head. */
export type LiveQueueSizes = {
  /** The masterchain first, then the shards in the order of their list; proved. */
  readonly shards: readonly { readonly id: BlockId; readonly size: bigint }[];
  /** Queue size above which the asked lite server's node takes no external messages: its own setting. */
  readonly externalsLimit: number;
};

/**
 * Reads of blocks. Errors: PoolError, ProofError, LiteServerError (see their modules); a block that is not there is the lite
 * server's error 651.
 */
export type LiveBlocks = {
  /**
   * Finds a block. With lt or time: the first block on the shard's path that reaches the value, at least block 1.
   * See service/v2/README.md#blocks.
   */
  findBlock(place: ShardPlace, search: BlockSearch, context: ReadContext): Promise<LiveAnswer<LiveBlockHeader>>;
  /** Header of a block with a full id. */
  readHeader(block: BlockId, context: ReadContext): Promise<LiveAnswer<LiveBlockHeader>>;
  /** Newest shard blocks that a masterchain block lists, in the order of its tree. */
  readShards(seqno: number, context: ReadContext): Promise<LiveAnswer<readonly BlockId[]>>;
  readSignatures(seqno: number, context: ReadContext): Promise<LiveAnswer<LiveBlockSignatures>>;
  /** @param fromSeqno masterchain seqno to start from; the served head when absent. Throws LiveError `from_too_old`. */
  readShardBlockProof(
    place: ShardPlace,
    seqno: number,
    fromSeqno: number | undefined,
    context: ReadContext,
  ): Promise<LiveAnswer<LiveShardBlockProof>>;
  readConsensusBlock(context: ReadContext): Promise<LiveAnswer<LiveConsensusBlock>>;
  readQueueSizes(context: ReadContext): Promise<LiveAnswer<LiveQueueSizes>>;
};
