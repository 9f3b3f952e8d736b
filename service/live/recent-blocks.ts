import { FULL_SHARD, MASTERCHAIN } from '../decode/block-id.ts';
import type { BlockId } from '../decode/block-id.ts';
import type { ExtBlockRef } from '../decode/tlb/ext-block-ref.ts';
import { readMasterchainStateDetails } from '../decode/tlb/masterchain-state-extra.ts';
import { findOldMasterchainBlock } from '../decode/tlb/old-masterchain-blocks.ts';
import { getConfigParams } from '../liteserver/functions.ts';
import type { Pool } from '../pool/pool.ts';
import type { ConfigInfoAnswer } from '../proof/answers.ts';
import { ProofError } from '../proof/errors.ts';
import { requireBlock } from '../proof/header-proof.ts';
import { proving } from '../proof/proof-cells.ts';
import { readSplitStateProof, readStateExtra } from '../proof/state-proof.ts';
import type { PreviousBlocks } from '../tvm/previous-blocks.ts';
import type { LiveAnswer, ReadContext } from './answer.ts';
import type { PinnedBlock } from './pinned-block.ts';

/** Bit of getConfigParams' mode: show the blocks that a contract may ask for (lite server sheet 5.1). */
const WITH_PREVIOUS_BLOCKS = 128;

/** Blocks of each of the two lists, as the node hands them to contracts. */
const LIST_LENGTH = 16;

const SUBJECT = 'previousBlocks';

/**
 * The masterchain blocks that a contract sees when it runs at a pinned block, proved by the block's state. One upstream query for
 * each block.
 * Rejects as `Pool.query` does.
 */
export async function readRecentBlocks(
  pool: Pool,
  { block }: PinnedBlock,
  context: ReadContext,
): Promise<LiveAnswer<PreviousBlocks>> {
  const args = { mode: WITH_PREVIOUS_BLOCKS, id: block, paramList: [] };
  return pool.query(getConfigParams, args, context, {
    shareAs: 'recent blocks',
    immutable: true,
    masterchainSeqno: block.seqno,
    check: (answer) => proving(SUBJECT, () => readPreviousBlocks(block, answer)),
  });
}

function readPreviousBlocks(block: BlockId, answer: ConfigInfoAnswer): PreviousBlocks {
  requireBlock(SUBJECT, block, answer.id);
  const { cell } = readSplitStateProof(SUBJECT, answer.stateProof, answer.configProof, block);
  const { table } = cell;
  const details = readMasterchainStateDetails(table, readStateExtra(SUBJECT, cell).details);
  const blockAt = (seqno: number): BlockId => {
    if (seqno === block.seqno) return block;
    const found = findOldMasterchainBlock(table, details.prevBlocks, seqno);
    if (found === undefined) throw new ProofError('not_contained', { subject: SUBJECT, expected: `block ${seqno}` });
    return masterchainBlock(found);
  };
  const countDown = (from: number, step: number): BlockId[] =>
    Array.from({ length: Math.min(LIST_LENGTH, Math.floor(from / step) + 1) }, (_, back) =>
      blockAt(from - back * step),
    );
  return {
    last: countDown(block.seqno, 1),
    lastKeyBlock: details.afterKeyBlock ? block : masterchainBlock(details.lastKeyBlock ?? blockAt(0)),
    lastHundreds: countDown(block.seqno - (block.seqno % 100), 100),
  };
}

function masterchainBlock({
  seqno,
  rootHash,
  fileHash,
}: Pick<ExtBlockRef, 'seqno' | 'rootHash' | 'fileHash'>): BlockId {
  return { workchain: MASTERCHAIN, shard: FULL_SHARD, seqno, rootHash, fileHash };
}
