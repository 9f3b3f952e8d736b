import type { BlockId } from '#service/decode/block-id.ts';
import { sameBlock } from '#service/decode/block-id.ts';
import { getAllShardsInfo, getShardBlockProof } from '#service/liteserver/functions.ts';
import { PoolError } from '#service/pool/errors.ts';
import type { Head } from '#service/pool/head.ts';
import type { Pool } from '#service/pool/pool.ts';
import { checkShardBlockProof } from '#service/proof/shard-links.ts';
import { checkAllShards } from '#service/proof/shards-proof.ts';
import type { SignatureChecker } from '#service/proof/signature-checker.ts';
import { zeroStateBlock } from '#service/proof/trusted-blocks.ts';
import { joinAnswers } from '#service/contract/answer.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';
import { createBlockFinder } from './block-finder.ts';
import { createBlockLinks } from './block-links.ts';
import type { LiveBlocks } from './blocks.ts';
import { LiveError } from '../errors.ts';
import { pinBlock } from '../pinned-block.ts';
import { createExternalsLimit, readQueueSizes } from './queue-sizes.ts';

export type LiveBlocksDependencies = {
  readonly pool: Pool;
  readonly signatures: SignatureChecker;
  /** Unix milliseconds of a moment of the pool's clock. */
  readonly toUnixMs: (poolMs: number) => number;
};

/** Blocks over the pool. Data of a block are proved as far as the trust setting requires for masterchain blocks. */
export function createLiveBlocks({ pool, signatures, toUnixMs }: LiveBlocksDependencies): LiveBlocks {
  const finder = createBlockFinder({ pool });
  const links = createBlockLinks({ pool, signatures });
  const readExternalsLimit = createExternalsLimit({ pool });

  function needHead(): Head {
    const head = pool.head();
    if (head === undefined) throw new PoolError('no_lite_server');
    return head;
  }

  /** The masterchain block of a seqno, 0 being the zerostate. */
  async function masterchainBlock(seqno: number, context: ReadContext): Promise<LiveAnswer<BlockId>> {
    if (seqno === 0) return { value: zeroStateBlock(needHead().init), liteServers: [], cached: true };
    const pinned = await pinBlock(pool, seqno, context);
    return { ...pinned, value: pinned.value.block };
  }

  function readShardLinks(block: BlockId, context: ReadContext) {
    return pool.query(getShardBlockProof, { id: block }, context, {
      shareAs: 'shard links',
      immutable: true,
      check: async (answer, attempt) => {
        await pool.accept(checkShardBlockProof({ block }, answer), attempt);
        return answer;
      },
    });
  }

  function listShards(block: BlockId, context: ReadContext): Promise<LiveAnswer<readonly BlockId[]>> {
    return pool.query(getAllShardsInfo, { id: block }, context, {
      shareAs: 'shards',
      immutable: true,
      check: (answer) => checkAllShards({ block }, answer).map((shard) => shard.block),
    });
  }

  return {
    ...finder,

    async readShards(seqno, context) {
      const pinned = await pinBlock(pool, seqno, context);
      const shards = await listShards(pinned.value.block, context);
      return joinAnswers(shards.value, [pinned, shards]);
    },

    async readSignatures(seqno, context) {
      const [target, known] = await Promise.all([
        masterchainBlock(seqno, context),
        masterchainBlock(seqno - 1, context),
      ]);
      const zeroState = zeroStateBlock(needHead().init);
      const link = await links.readForwardLink({ known: known.value, target: target.value, zeroState }, context);
      const value = { id: target.value, signatures: link.value.signatures };
      return joinAnswers(value, [known, target, link]);
    },

    async readShardBlockProof(place, seqno, fromSeqno, context) {
      const head = needHead();
      const found = await finder.findBlock(place, { by: 'seqno', seqno }, context);
      const shardLinks = await readShardLinks(found.value.id, context);
      const { masterchainId: target } = shardLinks.value;
      const from = await masterchainBlock(fromSeqno ?? head.block.seqno, context);
      if (from.value.seqno < target.seqno) {
        const data = { limit: from.value.seqno, found: target.seqno };
        throw new LiveError('from_too_old', 'from mc block is too old', data);
      }
      const value = { from: from.value, masterchainBlock: target, links: shardLinks.value.links };
      const answers = [found, shardLinks, from];
      if (sameBlock(from.value, target)) return joinAnswers({ ...value, masterchainLink: undefined }, answers);
      const pair = { known: from.value, target, zeroState: zeroStateBlock(head.init) };
      const link = await links.readBackLink(pair, context);
      return joinAnswers({ ...value, masterchainLink: link.value }, [...answers, link]);
    },

    async readConsensusBlock(context) {
      const consensus = await pool.consensusFor(context);
      const sinceUtime = Math.floor(toUnixMs(consensus.sinceMs) / 1_000);
      return { value: { seqno: consensus.seqno, sinceUtime }, liteServers: [], cached: false };
    },

    async readQueueSizes(context) {
      const { block } = needHead();
      const [shards, limit] = await Promise.all([listShards(block, context), readExternalsLimit(block, context)]);
      const sizes = await readQueueSizes(pool, [block, ...shards.value], context);
      return joinAnswers({ shards: sizes.value, externalsLimit: limit.value }, [shards, limit, sizes]);
    },
  };
}
