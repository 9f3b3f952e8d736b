import type { BlockId } from '#service/decode/block-id.ts';
import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import { parseProvedBoc } from '#service/decode/boc.ts';
import { previousBlocks } from '#service/decode/tlb/block-info.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { readBlockExtra } from '#service/decode/tlb/block-extra.ts';
import { versionInForce } from '#service/decode/tlb/global-version.ts';
import type { MasterchainBlockExtra } from '#service/decode/tlb/masterchain-block-extra.ts';
import { readMasterchainBlockExtra } from '#service/decode/tlb/masterchain-block-extra.ts';
import { listShards } from '#service/decode/tlb/shard-descr.ts';
import { getBlock, getState } from '#service/liteserver/functions.ts';
import { PoolError } from '#service/pool/errors.ts';
import type { Head } from '#service/pool/head.ts';
import type { Pool } from '#service/pool/pool.ts';
import type { BlockDataAnswer } from '#service/proof/answers.ts';
import { checkBlockFile } from '#service/proof/block-data-proof.ts';
import { ProofError } from '#service/proof/errors.ts';
import { proving } from '#service/proof/proof-cells.ts';
import { readStateExtra } from '#service/proof/state-proof.ts';
import { zeroStateBlock } from '#service/proof/trusted-blocks.ts';
import { checkZeroState } from '#service/proof/zero-state-proof.ts';
import type { ReadContext } from '#service/contract/answer.ts';
import type { BlockFinder } from './block-finder.ts';

/** File of a block with its references to other blocks. */
export type BlockFile = {
  readonly id: BlockId;
  /** Its SHA-256 is the id's file hash, and its header has the seqno, shard and workchain of the id. */
  readonly boc: Buffer;
  /** `gen_utime`, unix seconds. */
  readonly utime: number;
  /** Previous block, or two after a merge. */
  readonly previous: readonly BlockId[];
  /** The newest block of each shard, of a masterchain block; of another: none. */
  readonly shards: readonly BlockId[];
  /** The key block whose configuration is in force after a masterchain block, perhaps itself; 0: the zerostate. */
  readonly keyBlockSeqno: number;
  /** Version of the rules that a key block sets; undefined of another. */
  readonly globalVersion: number | undefined;
};

/** Whole blocks, for who reads all of them. */
export type LiveBlockFiles = {
  /** The served masterchain head; undefined before the first. */
  readonly head: () => { readonly seqno: number; readonly utime: number } | undefined;
  /** Resolves when the head is above the seqno, after `waitMs`, or on abort of the signal. The caller checks which. */
  readonly waitHead: (afterSeqno: number, waitMs: number, signal: AbortSignal) => Promise<void>;
  /** The masterchain block of a seqno at or below the head, proved by the head's history. Rejects as `Pool.query` does. */
  readonly masterchainBlock: (seqno: number, context: ReadContext) => Promise<BlockId>;
  /**
   * File of a block with a proved id, and with it the whole block. It is not cached, because a reader of all blocks reads each once.
   * Rejects as `Pool.query` does.
   */
  readonly readFile: (block: BlockId, context: ReadContext) => Promise<BlockFile>;
  /** The file of a zerostate whose id is proved. Rejects as `Pool.query` does. */
  readonly readZeroState: (block: BlockId, context: ReadContext) => Promise<Buffer>;
  /** Version of the rules that the key block of a seqno set (0: the zerostate). Rejects as `Pool.query` does. */
  readonly readGlobalVersion: (keyBlockSeqno: number, context: ReadContext) => Promise<number>;
};

export function createLiveBlockFiles({ pool, finder }: { pool: Pool; finder: BlockFinder }): LiveBlockFiles {
  function needHead(): Head {
    const head = pool.head();
    if (head === undefined) throw new PoolError('no_lite_server');
    return head;
  }

  async function masterchainBlock(seqno: number, context: ReadContext): Promise<BlockId> {
    const { block } = needHead();
    if (block.seqno === seqno) return block;
    const place = { workchain: MASTERCHAIN, shard: FULL_SHARD };
    const { value } = await finder.findBlock(place, { by: 'seqno', seqno }, context);
    return value.id;
  }

  async function readFile(block: BlockId, context: ReadContext): Promise<BlockFile> {
    const { value } = await pool.query(getBlock, { id: block }, context, {
      shareAs: 'block file',
      check: (answer) => openBlockFile(block, answer),
    });
    return value;
  }

  async function readZeroState(block: BlockId, context: ReadContext): Promise<Buffer> {
    const { value } = await pool.query(getState, { id: block }, context, {
      shareAs: 'zerostate file',
      check(answer) {
        checkZeroState({ block }, answer);
        return answer.data;
      },
    });
    return value;
  }

  return {
    head() {
      const head = pool.head();
      return head && { seqno: head.block.seqno, utime: head.utime };
    },

    waitHead: (afterSeqno, waitMs, signal) => pool.whenServed(afterSeqno + 1, waitMs, signal),
    masterchainBlock,
    readFile,
    readZeroState,

    async readGlobalVersion(keyBlockSeqno, context) {
      if (keyBlockSeqno === 0) return versionOfState(await readZeroState(zeroStateBlock(needHead().init), context));
      const { globalVersion } = await readFile(await masterchainBlock(keyBlockSeqno, context), context);
      if (globalVersion !== undefined) return globalVersion;
      throw new ProofError('malformed', { subject: 'keyBlock', expected: 'a key block' });
    },
  };
}

/** Version of the rules that a masterchain state has. @param file proved */
function versionOfState(file: Buffer): number {
  const table = parseProvedBoc(file);
  const { config } = readStateExtra('zeroState', { table, cell: table.roots[0]! });
  return versionInForce(table, config.root).version;
}

/**
 * Parses a file after checking that it belongs to the block.
 * @throws ProofError
 */
export function openBlockFile(block: BlockId, answer: BlockDataAnswer): BlockFile {
  const { root, info } = checkBlockFile({ block }, answer);
  const { table } = root;
  return proving('blockData', () => {
    const previous = previousBlocks(table, info).map(ownId);
    const extra = masterchainExtra();
    const shards = extra === undefined ? [] : listShards(table, extra.shardHashes).map((shard) => ownId(shard.block));
    const keyBlockSeqno = info.keyBlock ? info.seqno : info.prevKeyBlockSeqno;
    const globalVersion = extra?.config && versionInForce(table, extra.config.root).version;
    return { id: block, boc: answer.data, utime: info.utime, previous, shards, keyBlockSeqno, globalVersion };
  });

  function masterchainExtra(): MasterchainBlockExtra | undefined {
    if (block.workchain !== MASTERCHAIN) return undefined;
    const { custom } = readBlockExtra(table, readBlock(table, root.cell).extra);
    return custom === undefined ? undefined : readMasterchainBlockExtra(table, custom);
  }
}

/** Copies the hashes: decoded hashes are views that hold the whole file in memory. */
function ownId(block: BlockId): BlockId {
  return { ...block, rootHash: Buffer.from(block.rootHash), fileHash: Buffer.from(block.fileHash) };
}
