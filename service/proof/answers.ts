import type { BlockId } from '../decode/block-id.ts';
import type { SignatureSet } from './signatures.ts';

// Answers of lite servers as the checks read them. The decoded answers of `liteserver/functions.ts` have these shapes.

/** `liteServer.accountState`. */
export type AccountStateAnswer = {
  readonly id: BlockId;
  readonly shardBlock: BlockId;
  readonly shardProof: Buffer;
  readonly proof: Buffer;
  /** BoC of the account, or of a Merkle proof of it in the pruned variant; empty for an absent account. */
  readonly state: Buffer;
};

/** `liteServer.blockHeader`, of getBlockHeader and lookupBlock. */
export type BlockHeaderAnswer = { readonly id: BlockId; readonly mode: number; readonly headerProof: Buffer };

/** `liteServer.shardInfo`. */
export type ShardInfoAnswer = {
  readonly id: BlockId;
  readonly shardBlock: BlockId;
  readonly shardProof: Buffer;
  /** BoC of the cell with `BinTree ShardDescr`'s leaf; empty when there is no such shard. */
  readonly shardDescr: Buffer;
};

/** `liteServer.allShardsInfo`. */
export type AllShardsInfoAnswer = { readonly id: BlockId; readonly proof: Buffer; readonly data: Buffer };

/** `liteServer.blockData`. */
export type BlockDataAnswer = { readonly id: BlockId; readonly data: Buffer };

/** `liteServer.blockState`. */
export type BlockStateAnswer = { readonly id: BlockId; readonly data: Buffer };

/** `liteServer.configInfo`. */
export type ConfigInfoAnswer = {
  readonly mode: number;
  readonly id: BlockId;
  readonly stateProof: Buffer;
  readonly configProof: Buffer;
};

/** `liteServer.transactionInfo`. */
export type TransactionInfoAnswer = { readonly id: BlockId; readonly proof: Buffer; readonly transaction: Buffer };

/** `liteServer.transactionList`. */
export type TransactionListAnswer = { readonly ids: readonly BlockId[]; readonly transactions: Buffer };

/** `liteServer.blockTransactions`. The mode sets which fields of the ids are present. */
export type BlockTransactionsAnswer = {
  readonly id: BlockId;
  readonly incomplete: boolean;
  readonly ids: readonly { readonly account?: Buffer; readonly lt?: bigint; readonly hash?: Buffer }[];
  readonly proof: Buffer;
};

/** `liteServer.blockTransactionsExt`. */
export type BlockTransactionsExtAnswer = {
  readonly id: BlockId;
  readonly incomplete: boolean;
  readonly transactions: Buffer;
  readonly proof: Buffer;
};

/** `liteServer.shardBlockLink`. */
export type ShardBlockLink = { readonly id: BlockId; readonly proof: Buffer };

/** `liteServer.shardBlockProof`. */
export type ShardBlockProofAnswer = { readonly masterchainId: BlockId; readonly links: readonly ShardBlockLink[] };

/** `liteServer.blockOutMsgQueueSize`; `proof` is present when requested. */
export type QueueSizeAnswer = { readonly id: BlockId; readonly size: bigint; readonly proof?: Buffer };

/** `liteServer.lookupBlockResult`. */
export type LookupBlockAnswer = {
  readonly id: BlockId;
  readonly mode: number;
  readonly mcBlockId: BlockId;
  readonly clientMcStateProof: Buffer;
  readonly mcBlockProof: Buffer;
  readonly shardLinks: readonly ShardBlockLink[];
  readonly header: Buffer;
  readonly prevHeader: Buffer;
};

/** `liteServer.libraryResult`'s entries. */
export type LibraryEntry = { readonly hash: Buffer; readonly data: Buffer };

/** `liteServer.libraryResultWithProof`. */
export type LibrariesWithProofAnswer = {
  readonly id: BlockId;
  readonly mode: number;
  readonly result: readonly LibraryEntry[];
  readonly stateProof: Buffer;
  readonly dataProof: Buffer;
};

/** `liteServer.BlockLink`: a step from a trusted block to another block. */
export type BlockLink = BackLink | ForwardLink;

export type BackLink = {
  readonly kind: 'back';
  readonly toKeyBlock: boolean;
  readonly from: BlockId;
  readonly to: BlockId;
  /** Header of `to`; empty for the zero state. */
  readonly destProof: Buffer;
  /** Header of `from` with its state update. */
  readonly proof: Buffer;
  /** State of `from` with the path to `to` in its list of masterchain blocks. */
  readonly stateProof: Buffer;
};

export type ForwardLink = {
  readonly kind: 'forward';
  readonly toKeyBlock: boolean;
  readonly from: BlockId;
  readonly to: BlockId;
  readonly destProof: Buffer;
  /** Key block `from`, or the zero state, with its configuration. */
  readonly configProof: Buffer;
  readonly signatures: SignatureSet;
};

/** `liteServer.partialBlockProof`. */
export type PartialBlockProof = {
  readonly complete: boolean;
  readonly from: BlockId;
  readonly to: BlockId;
  readonly steps: readonly BlockLink[];
};
