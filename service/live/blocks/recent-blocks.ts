import { FULL_SHARD, MASTERCHAIN, sameBlock } from '#service/decode/block-id.ts';
import type { BlockId } from '#service/decode/block-id.ts';
import type { ExtBlockRef } from '#service/decode/tlb/ext-block-ref.ts';
import { versionInForce } from '#service/decode/tlb/global-version.ts';
import { readMasterchainStateDetails } from '#service/decode/tlb/masterchain-state-extra.ts';
import { findOldMasterchainBlock } from '#service/decode/tlb/old-masterchain-blocks.ts';
import { getConfigParams } from '#service/liteserver/functions.ts';
import type { Pool } from '#service/pool/pool.ts';
import type { ConfigInfoAnswer } from '#service/proof/answers.ts';
import { ProofError } from '#service/proof/errors.ts';
import { requireBlock } from '#service/proof/header-proof.ts';
import { proving } from '#service/proof/proof-cells.ts';
import { readSplitStateProof, readStateExtra } from '#service/proof/state-proof.ts';
import type { PreviousBlocks } from '#service/tvm/previous-blocks.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';
import type { PinnedBlock } from '../pinned-block.ts';

/** Bit of getConfigParams' mode: prove the previous blocks that contracts may read (service/liteserver/README.md#mode-bits). */
const WITH_PREVIOUS_BLOCKS = 128;

/** Blocks of each of the two lists, as the node hands them to contracts. */
const LIST_LENGTH = 16;

/** From this version of the rules on contracts see the blocks of every hundredth seqno. */
const HUNDREDS_VERSION_MIN = 9;

const SUBJECT = 'previousBlocks';

/** The masterchain blocks that a contract sees when it runs at a pinned block. */
export type RecentBlocks = {
  /**
   * Proved by the block's state in one upstream query. If the head follows the block before, its header proves them without a query.
   * Rejects as `Pool.query` does.
   */
  recentAt(pinned: PinnedBlock, context: ReadContext): Promise<LiveAnswer<PreviousBlocks>>;
};

export function createRecentBlocks({ pool }: { pool: Pool }): RecentBlocks {
  let newest: PreviousBlocks | undefined;

  return {
    async recentAt(pinned, context) {
      const { block } = pinned;
      const known = newest && followTo(pinned, newest);
      if (known !== undefined) {
        newest = known;
        return { value: known, liteServers: [], cached: true };
      }
      const args = { mode: WITH_PREVIOUS_BLOCKS, id: block, paramList: [] };
      const answer = await pool.query(getConfigParams, args, context, {
        shareAs: 'recent blocks',
        immutable: true,
        check: (info) => proving(SUBJECT, () => readPreviousBlocks(block, info)),
      });
      if (block.seqno > (newest?.last[0]?.seqno ?? 0)) newest = answer.value;
      return answer;
    },
  };
}

/** Recent blocks derived from the proof for this block or for the block before; undefined when there is none. */
export function followTo(
  { block, previous, keyBlockSeqno }: PinnedBlock,
  before: PreviousBlocks,
): PreviousBlocks | undefined {
  const [last] = before.last;
  if (last === undefined) return undefined;
  if (sameBlock(last, block)) return before;
  if (previous === undefined || !sameBlock(last, previous)) return undefined;
  const lastKeyBlock = keyBlockSeqno === block.seqno ? block : before.lastKeyBlock;
  if (lastKeyBlock.seqno !== keyBlockSeqno) return undefined;
  const hundreds = before.lastHundreds;
  // A key block may set the version from which on these blocks are seen.
  if (hundreds === undefined)
    return lastKeyBlock === block ? undefined : { last: nextLast(block, before), lastKeyBlock };
  return {
    last: nextLast(block, before),
    lastKeyBlock,
    lastHundreds: block.seqno % 100 === 0 ? [block, ...hundreds].slice(0, LIST_LENGTH) : hundreds,
  };
}

function nextLast(block: BlockId, { last }: PreviousBlocks): readonly BlockId[] {
  return [block, ...last].slice(0, LIST_LENGTH);
}

function readPreviousBlocks(block: BlockId, answer: ConfigInfoAnswer): PreviousBlocks {
  requireBlock(SUBJECT, block, answer.id);
  const { cell } = readSplitStateProof(SUBJECT, answer.stateProof, answer.configProof, block);
  const { table } = cell;
  const extra = readStateExtra(SUBJECT, cell);
  const details = readMasterchainStateDetails(table, extra.details);
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
    // Before this version of the rules a contract does not see them, and the node does not show them.
    ...(versionInForce(table, extra.config.root).version >= HUNDREDS_VERSION_MIN && {
      lastHundreds: countDown(block.seqno - (block.seqno % 100), 100),
    }),
  };
}

function masterchainBlock({
  seqno,
  rootHash,
  fileHash,
}: Pick<ExtBlockRef, 'seqno' | 'rootHash' | 'fileHash'>): BlockId {
  return { workchain: MASTERCHAIN, shard: FULL_SHARD, seqno, rootHash, fileHash };
}
