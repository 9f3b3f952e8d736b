import type { BlockId } from '../decode/block-id.ts';
import { FULL_SHARD, MASTERCHAIN } from '../decode/block-id.ts';
import { previousBlocks } from '../decode/tlb/block-info.ts';
import { readBlock } from '../decode/tlb/block.ts';
import { readBlockExtra } from '../decode/tlb/block-extra.ts';
import { readMasterchainBlockExtra } from '../decode/tlb/masterchain-block-extra.ts';
import { listShards } from '../decode/tlb/shard-descr.ts';
import { getBlock, getState } from '../liteserver/functions.ts';
import { PoolError } from '../pool/errors.ts';
import type { Pool } from '../pool/pool.ts';
import type { BlockDataAnswer } from '../proof/answers.ts';
import { checkBlockFile } from '../proof/block-data-proof.ts';
import { proving } from '../proof/proof-cells.ts';
import { checkZeroState } from '../proof/zero-state-proof.ts';
import type { ReadContext } from './answer.ts';
import type { BlockFinder } from './block-finder.ts';

/** A block's file with what it says of other blocks. */
export type BlockFile = {
  readonly id: BlockId;
  /** Its SHA-256 is the id's file hash, and its header says the seqno, shard and workchain of the id. */
  readonly boc: Buffer;
  /** `gen_utime`, unix seconds. */
  readonly utime: number;
  /** One block, or two after a merge. */
  readonly previous: readonly BlockId[];
  /** The newest block of each shard, of a masterchain block; of another: none. */
  readonly shards: readonly BlockId[];
};

/** Whole blocks, for who reads all of them. */
export type LiveBlockFiles = {
  /** The served masterchain head; undefined before the first. */
  readonly head: () => { readonly seqno: number; readonly utime: number } | undefined;
  /** Resolves when the head is above the seqno, when `waitMs` are over or when the signal is aborted: the caller looks which. */
  readonly waitHead: (afterSeqno: number, waitMs: number, signal: AbortSignal) => Promise<void>;
  /** The masterchain block of a seqno at or below the head, proved by the head's history. Rejects as `Pool.query` does. */
  readonly masterchainBlock: (seqno: number, context: ReadContext) => Promise<BlockId>;
  /**
   * The file of a block whose id is proved, and with it the whole block. It is not kept: who reads all blocks reads each once.
   * Rejects as `Pool.query` does.
   */
  readonly readFile: (block: BlockId, context: ReadContext) => Promise<BlockFile>;
  /** The file of a zerostate whose id is proved. Rejects as `Pool.query` does. */
  readonly readZeroState: (block: BlockId, context: ReadContext) => Promise<Buffer>;
};

export function createLiveBlockFiles({ pool, finder }: { pool: Pool; finder: BlockFinder }): LiveBlockFiles {
  return {
    head() {
      const head = pool.head();
      return head && { seqno: head.block.seqno, utime: head.utime };
    },

    waitHead: (afterSeqno, waitMs, signal) => pool.whenServed(afterSeqno + 1, waitMs, signal),

    async masterchainBlock(seqno, context) {
      const head = pool.head();
      if (head === undefined) throw new PoolError('no_lite_server');
      if (head.block.seqno === seqno) return head.block;
      const place = { workchain: MASTERCHAIN, shard: FULL_SHARD };
      const { value } = await finder.findBlock(place, { by: 'seqno', seqno }, context);
      return value.id;
    },

    async readFile(block, context) {
      const { value } = await pool.query(getBlock, { id: block }, context, {
        shareAs: 'block file',
        check: (answer) => openBlockFile(block, answer),
      });
      return value;
    },

    async readZeroState(block, context) {
      const { value } = await pool.query(getState, { id: block }, context, {
        shareAs: 'zerostate file',
        check(answer) {
          checkZeroState({ block }, answer);
          return answer.data;
        },
      });
      return value;
    },
  };
}

/**
 * What a file says, when it is that of the block.
 * @throws ProofError
 */
export function openBlockFile(block: BlockId, answer: BlockDataAnswer): BlockFile {
  const { root, info } = checkBlockFile({ block }, answer);
  const { table } = root;
  return proving('blockData', () => {
    const previous = previousBlocks(table, info).map(ownId);
    const shards = block.workchain === MASTERCHAIN ? shardsOf().map(ownId) : [];
    return { id: block, boc: answer.data, utime: info.utime, previous, shards };
  });

  function shardsOf(): BlockId[] {
    const { custom } = readBlockExtra(table, readBlock(table, root.cell).extra);
    if (custom === undefined) return [];
    return listShards(table, readMasterchainBlockExtra(table, custom).shardHashes).map((shard) => shard.block);
  }
}

/** With hashes of its own: decoded ones are views that hold the whole file. */
function ownId(block: BlockId): BlockId {
  return { ...block, rootHash: Buffer.from(block.rootHash), fileHash: Buffer.from(block.fileHash) };
}
