import { MASTERCHAIN } from '../decode/block-id.ts';
import type { BlockId } from '../decode/block-id.ts';
import type {
  LiveBlockHeader,
  LiveBlockSignatures,
  LiveConsensusBlock,
  LiveQueueSizes,
  LiveShardBlockProof,
} from '../live/blocks/blocks.ts';
import { base64, flag, hash, int32, lt, uint31, uint63 } from './scalars.ts';
import { constant, list, named, object, optional, scalar, variants, type Infer } from '../contract/shape.ts';
import { blockIdExt, viewBlockId, viewHash } from './views.ts';

/** Answers about blocks, shape and writer (service/v2/README.md#blocks). */

const signature = scalar<string>({ type: 'string', pattern: '^[A-Za-z0-9+/]{86}==$' });

const blockSignature = named(
  'BlockSignature',
  object({ '@type': constant('blocks.signature'), node_id_short: hash, signature }),
);

const signedBlock = { id: blockIdExt, signatures: list(blockSignature) };

const ordinarySignatures = object({ '@type': constant('blocks.blockSignatures'), ...signedBlock });

const simplexSignatures = object({
  '@type': constant('blocks.blockSignatures.simplex'),
  ...signedBlock,
  session_id: hash,
  slot: int32,
  candidate: base64,
});

export const masterchainBlockSignatures = named(
  'MasterchainBlockSignatures',
  variants(
    '@type',
    { 'blocks.blockSignatures': 'BlockSignatures', 'blocks.blockSignatures.simplex': 'BlockSignaturesSimplex' },
    [named('BlockSignatures', ordinarySignatures), named('BlockSignaturesSimplex', simplexSignatures)],
  ),
);

/** Signatures of the simplex consensus also show the signed data in place of the block's id. */
export function viewBlockSignatures(live: LiveBlockSignatures): Infer<typeof masterchainBlockSignatures> {
  const { signatures: set } = live;
  const id = viewBlockId(live.id);
  const signatures = set.signatures.map((one) => ({
    '@type': 'blocks.signature' as const,
    node_id_short: viewHash(one.nodeIdShort),
    signature: one.signature.toString('base64'),
  }));
  if (set.kind === 'ordinary') return { '@type': 'blocks.blockSignatures', id, signatures };
  return {
    '@type': 'blocks.blockSignatures.simplex',
    id,
    signatures,
    session_id: viewHash(set.sessionId),
    slot: set.slot | 0,
    candidate: set.candidate.toString('base64'),
  };
}

const shardBlockLink = named(
  'ShardBlockLink',
  object({ '@type': constant('blocks.shardBlockLink'), id: blockIdExt, proof: base64 }),
);

const blockLinkBack = named(
  'BlockLinkBack',
  object({
    '@type': constant('blocks.blockLinkBack'),
    to_key_block: flag,
    from: blockIdExt,
    to: blockIdExt,
    dest_proof: base64,
    proof: base64,
    state_proof: base64,
  }),
);

export const shardBlockProof = named(
  'ShardBlockProof',
  object({
    '@type': constant('blocks.shardBlockProof'),
    from: blockIdExt,
    mc_id: blockIdExt,
    links: list(shardBlockLink),
    mc_proof: list(blockLinkBack),
  }),
);

/** Proofs are the lite server's own bytes: callers check them by hash. */
export function viewShardBlockProof(live: LiveShardBlockProof): Infer<typeof shardBlockProof> {
  const { masterchainLink: link } = live;
  return {
    '@type': 'blocks.shardBlockProof',
    from: viewBlockId(live.from),
    mc_id: viewBlockId(live.masterchainBlock),
    links: live.links.map(({ id, proof }) => ({
      '@type': 'blocks.shardBlockLink',
      id: viewBlockId(id),
      proof: proof.toString('base64'),
    })),
    mc_proof: link === undefined ? [] : [viewBackLink(link)],
  };
}

function viewBackLink(link: NonNullable<LiveShardBlockProof['masterchainLink']>): Infer<typeof blockLinkBack> {
  return {
    '@type': 'blocks.blockLinkBack',
    to_key_block: link.toKeyBlock,
    from: viewBlockId(link.from),
    to: viewBlockId(link.to),
    dest_proof: link.destProof.toString('base64'),
    proof: link.proof.toString('base64'),
    state_proof: link.stateProof.toString('base64'),
  };
}

export const consensusBlock = named(
  'ConsensusBlock',
  object({ '@type': constant('ext.blocks.consensusBlock'), consensus_block: uint31, timestamp: uint63 }),
);

export function viewConsensusBlock({ seqno, sinceUtime }: LiveConsensusBlock): Infer<typeof consensusBlock> {
  return { '@type': 'ext.blocks.consensusBlock', consensus_block: seqno, timestamp: sinceUtime };
}

export const shards = named('Shards', object({ '@type': constant('blocks.shards'), shards: list(blockIdExt) }));

export function viewShards(live: readonly BlockId[]): Infer<typeof shards> {
  return { '@type': 'blocks.shards', shards: live.map(viewBlockId) };
}

/** Previous blocks of a block: two after a merge. */
const PREVIOUS_BLOCKS_MAX = 2;

/** `flags` and `vert_seqno` are what a peer adds; they are not shown here. */
export const blockHeader = named(
  'BlockHeader',
  object({
    '@type': constant('blocks.header'),
    id: blockIdExt,
    global_id: int32,
    version: uint63,
    flags: optional(uint63),
    after_merge: flag,
    after_split: flag,
    before_split: flag,
    want_merge: flag,
    want_split: flag,
    validator_list_hash_short: int32,
    catchain_seqno: uint31,
    min_ref_mc_seqno: uint31,
    is_key_block: flag,
    prev_key_block_seqno: uint31,
    start_lt: lt,
    end_lt: lt,
    gen_utime: uint63,
    vert_seqno: optional(uint31),
    prev_blocks: list(blockIdExt, PREVIOUS_BLOCKS_MAX),
  }),
);

export function viewBlockHeader({ id, globalId, info, previous }: LiveBlockHeader): Infer<typeof blockHeader> {
  return {
    '@type': 'blocks.header',
    id: viewBlockId(id),
    global_id: globalId,
    version: info.version,
    after_merge: info.afterMerge,
    after_split: info.afterSplit,
    before_split: info.beforeSplit,
    want_merge: info.wantMerge,
    want_split: info.wantSplit,
    validator_list_hash_short: info.validatorListHashShort | 0,
    catchain_seqno: info.catchainSeqno,
    min_ref_mc_seqno: info.minRefMasterchainSeqno,
    is_key_block: info.keyBlock,
    // Shard blocks name one too, which tonlib does not show.
    prev_key_block_seqno: id.workchain === MASTERCHAIN ? info.prevKeyBlockSeqno : 0,
    start_lt: info.startLt.toString(),
    end_lt: info.endLt.toString(),
    gen_utime: info.utime,
    prev_blocks: previous.map(viewBlockId),
  };
}

const outMsgQueueSize = named(
  'OutMsgQueueSize',
  object({ '@type': constant('blocks.outMsgQueueSize'), id: blockIdExt, size: uint63 }),
);

export const outMsgQueueSizes = named(
  'OutMsgQueueSizes',
  object({
    '@type': constant('blocks.outMsgQueueSizes'),
    shards: list(outMsgQueueSize),
    ext_msg_queue_size_limit: uint63,
  }),
);

/** A size has 48 bits: it fits a JSON number. */
export function viewOutMsgQueueSizes(live: LiveQueueSizes): Infer<typeof outMsgQueueSizes> {
  return {
    '@type': 'blocks.outMsgQueueSizes',
    shards: live.shards.map(({ id, size }) => ({
      '@type': 'blocks.outMsgQueueSize',
      id: viewBlockId(id),
      size: Number(size),
    })),
    ext_msg_queue_size_limit: live.externalsLimit,
  };
}
