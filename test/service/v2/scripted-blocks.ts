import type { BlockId } from '#service/decode/block-id.ts';
import type { BlockInfo } from '#service/decode/tlb/block-info.ts';
import type { LiveAnswer } from '#service/contract/answer.ts';
import type { LiveBlockHeader, LiveBlocks } from '#service/live/blocks/blocks.ts';
import { bytes32, masterchainBlock } from './scripted-accounts.ts';

export const shardBlock: BlockId = { ...masterchainBlock(2000), workchain: 0, shard: 0x4000000000000000n };

/** A header with every number at its upper end, after a merge. */
export const blockInfo: BlockInfo = {
  version: 0,
  notMaster: true,
  afterMerge: true,
  beforeSplit: false,
  afterSplit: false,
  wantSplit: true,
  wantMerge: false,
  keyBlock: false,
  vertSeqnoIncrement: false,
  flags: 1,
  seqno: 2000,
  vertSeqno: 1,
  workchain: 0,
  shard: shardBlock.shard,
  utime: 4_294_967_295,
  startLt: 2n ** 63n - 2n,
  endLt: 2n ** 63n - 1n,
  validatorListHashShort: 4_294_967_295,
  catchainSeqno: 14,
  minRefMasterchainSeqno: 997,
  prevKeyBlockSeqno: 0,
  software: undefined,
  masterRef: undefined,
  prevRef: 0,
  prevVertRef: undefined,
};

export const blockHeader: LiveBlockHeader = {
  id: shardBlock,
  globalId: -239,
  info: blockInfo,
  previous: [
    { ...shardBlock, shard: 0x2000000000000000n, seqno: 1998 },
    { ...shardBlock, shard: 0x6000000000000000n, seqno: 1999 },
  ],
};

const signature = { nodeIdShort: bytes32(1), signature: Buffer.alloc(64, 2) };

export const ordinarySignatures = {
  id: masterchainBlock(1000),
  signatures: { kind: 'ordinary', validatorSetHash: 5, catchainSeqno: 6, signatures: [signature] },
} as const;

export const simplexSignatures = {
  id: masterchainBlock(1000),
  signatures: {
    ...ordinarySignatures.signatures,
    kind: 'simplex',
    sessionId: bytes32(3),
    slot: 71,
    candidate: Buffer.alloc(101, 4),
  },
} as const;

export const shardBlockProof = {
  from: masterchainBlock(1001),
  masterchainBlock: masterchainBlock(1000),
  links: [{ id: shardBlock, proof: Buffer.from('proof of the shard block') }],
  masterchainLink: {
    kind: 'back',
    toKeyBlock: false,
    from: masterchainBlock(1001),
    to: masterchainBlock(1000),
    destProof: Buffer.from('header'),
    proof: Buffer.from('block'),
    stateProof: Buffer.from('state'),
  },
} as const;

/** Fixed answers, each part to be replaced; remembers what was asked. */
export function scriptBlocks(script: Partial<LiveBlocks> = {}): LiveBlocks & { readonly asked: unknown[][] } {
  const asked: unknown[][] = [];
  const note = <T>(name: string, value: T, ...args: unknown[]): LiveAnswer<T> => {
    asked.push([name, ...args]);
    return { value, liteServers: [4], cached: false };
  };
  return {
    asked,
    findBlock: async (place, search) => note('findBlock', blockHeader, place, search),
    readHeader: async (block) => note('readHeader', blockHeader, block),
    readShards: async (seqno) => note('readShards', [shardBlock], seqno),
    readSignatures: async (seqno) => note('readSignatures', simplexSignatures, seqno),
    readShardBlockProof: async (place, seqno, from) => note('readShardBlockProof', shardBlockProof, place, seqno, from),
    readConsensusBlock: async () => note('readConsensusBlock', { seqno: 1000, sinceUtime: 1_755_516_054 }),
    readQueueSizes: async () =>
      note('readQueueSizes', { shards: [{ id: shardBlock, size: 2n ** 48n - 1n }], externalsLimit: 8000 }),
    ...script,
  };
}
