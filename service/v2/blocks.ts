import type { LiveAccounts, LiveMasterchainInfo } from '../live/accounts/accounts.ts';
import type { LiveBlocks } from '../live/blocks/blocks.ts';
import {
  blockHeader,
  consensusBlock,
  masterchainBlockSignatures,
  outMsgQueueSizes,
  shardBlockProof,
  shards,
  viewBlockHeader,
  viewBlockSignatures,
  viewConsensusBlock,
  viewOutMsgQueueSizes,
  viewShardBlockProof,
  viewShards,
} from './block-views.ts';
import { optionalHash } from './hash-parameter.ts';
import {
  optionalLt,
  optionalNonNegative,
  optionalSeqno,
  optionalUtime,
  seqno,
  shard,
  workchain,
} from './integer-parameter.ts';
import { defineOperation, mapAnswer, type Operation } from '../contract/operation.ts';
import { exactlyOne } from '../contract/parameter.ts';
import { hash } from './scalars.ts';
import { constant, named, object, type Infer } from '../contract/shape.ts';
import { blockIdExt, viewBlockId, viewHash } from './views.ts';

const masterchainInfo = named(
  'MasterchainInfo',
  object({
    '@type': constant('blocks.masterchainInfo'),
    last: blockIdExt,
    state_root_hash: hash,
    init: blockIdExt,
  }),
);

/** The zerostate appears as a block with shard and seqno 0 (service/v2/README.md#blocks). */
export function viewMasterchainInfo(info: LiveMasterchainInfo): Infer<typeof masterchainInfo> {
  return {
    '@type': 'blocks.masterchainInfo',
    last: viewBlockId(info.last),
    state_root_hash: viewHash(info.stateRootHash),
    init: viewBlockId({ ...info.init, shard: 0n, seqno: 0 }),
  };
}

const readable = { methods: ['GET', 'POST'], tag: 'blocks' } as const;

/** Operations on blocks (service/v2/README.md#blocks). */
export function blockOperations(accounts: LiveAccounts, blocks: LiveBlocks): readonly Operation[] {
  return [...masterchainOperations(accounts, blocks), ...shardOperations(blocks), ...lookupOperations(blocks)];
}

function masterchainOperations(accounts: LiveAccounts, blocks: LiveBlocks): readonly Operation[] {
  return [
    defineOperation({
      name: 'getMasterchainInfo',
      ...readable,
      summary: 'The newest masterchain block, its state hash and the zerostate.',
      parameters: {},
      result: masterchainInfo,
      handle: async (_values, context) => mapAnswer(await accounts.readMasterchainInfo(context), viewMasterchainInfo),
    }),
    defineOperation({
      name: 'getMasterchainBlockSignatures',
      ...readable,
      summary: 'Signatures of the validators under a masterchain block.',
      parameters: { seqno },
      result: masterchainBlockSignatures,
      handle: async (values, context) =>
        mapAnswer(await blocks.readSignatures(values.seqno, context), viewBlockSignatures),
    }),
    defineOperation({
      name: 'getConsensusBlock',
      ...readable,
      summary: 'Seqno of the newest masterchain block that 60 % of the lite servers have, and since when.',
      parameters: {},
      result: consensusBlock,
      handle: async (_values, context) => mapAnswer(await blocks.readConsensusBlock(context), viewConsensusBlock),
    }),
  ];
}

function shardOperations(blocks: LiveBlocks): readonly Operation[] {
  return [
    defineOperation({
      name: 'getShardBlockProof',
      ...readable,
      summary: 'Proof that a shard block is in the history of a masterchain block.',
      parameters: { workchain, shard, seqno, fromSeqno: optionalNonNegative('from_seqno') },
      result: shardBlockProof,
      handle: async (values, context) =>
        mapAnswer(
          await blocks.readShardBlockProof(values, values.seqno, values.fromSeqno, context),
          viewShardBlockProof,
        ),
    }),
    defineOperation({
      name: 'getShards',
      aliases: ['shards'],
      ...readable,
      summary: 'Newest blocks of all shards as of a masterchain block.',
      parameters: { seqno },
      result: shards,
      handle: async (values, context) => mapAnswer(await blocks.readShards(values.seqno, context), viewShards),
    }),
    defineOperation({
      name: 'getOutMsgQueueSize',
      ...readable,
      summary: 'Messages that wait to leave each shard, as of the newest masterchain block.',
      parameters: {},
      result: outMsgQueueSizes,
      handle: async (_values, context) => mapAnswer(await blocks.readQueueSizes(context), viewOutMsgQueueSizes),
    }),
  ];
}

function lookupOperations(blocks: LiveBlocks): readonly Operation[] {
  const searches = { seqno: optionalSeqno, lt: optionalLt('lt'), utime: optionalUtime('unixtime') };
  return [
    defineOperation({
      name: 'lookupBlock',
      ...readable,
      summary: 'Full id of a block found by seqno, logical time or unix time.',
      parameters: { workchain, shard, ...searches },
      rule: exactlyOne(searches, 'exactly one of seqno, lt, unixtime should be specified'),
      result: blockIdExt,
      handle: async ({ seqno: number, lt, utime, ...place }, context) => {
        const search =
          number !== undefined
            ? ({ by: 'seqno', seqno: number } as const)
            : lt !== undefined
              ? ({ by: 'lt', lt } as const)
              : ({ by: 'utime', utime: utime ?? 0 } as const);
        return mapAnswer(await blocks.findBlock(place, search, context), ({ id }) => viewBlockId(id));
      },
    }),
    defineOperation({
      name: 'getBlockHeader',
      ...readable,
      summary: 'Header of a block.',
      parameters: { workchain, shard, seqno, rootHash: optionalHash('root_hash'), fileHash: optionalHash('file_hash') },
      result: blockHeader,
      handle: async ({ rootHash, fileHash, ...place }, context) =>
        mapAnswer(
          rootHash === undefined || fileHash === undefined
            ? await blocks.findBlock(place, { by: 'seqno', seqno: place.seqno }, context)
            : await blocks.readHeader({ ...place, rootHash, fileHash }, context),
          viewBlockHeader,
        ),
    }),
  ];
}
