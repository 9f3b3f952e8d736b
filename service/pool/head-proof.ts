import type { BlockId } from '../decode/block-id.ts';
import type { BlockHeaderAnswer } from '../proof/answers.ts';
import { readHeader, readPreviousBlocks, readStateHash, requireBlock } from '../proof/header-proof.ts';
import { openProof, proving } from '../proof/proof-cells.ts';
import type { Head } from './head.ts';

/** Facts about a head in a masterchain block's header. */
export type HeadFacts = Pick<Head, 'block' | 'utime' | 'endLt' | 'stateRootHash' | 'keyBlockSeqno' | 'previous'>;

/**
 * Checks that the header is the block's and reads the head's facts from it (service/proof/README.md#block-header). The answer must be of
 * getBlockHeader with the state update.
 * @throws ProofError
 */
export function checkHeadHeader(block: BlockId, answer: BlockHeaderAnswer): HeadFacts {
  const subject = 'blockHeader';
  requireBlock(subject, block, answer.id);
  return proving(subject, () => {
    const proved = openProof(subject, answer.headerProof);
    const header = readHeader(subject, proved, block);
    const { info } = header;
    const [previous] = readPreviousBlocks(subject, header);
    const stateRootHash = readStateHash(subject, proved);
    const keyBlockSeqno = info.keyBlock ? info.seqno : info.prevKeyBlockSeqno;
    return { block, utime: info.utime, endLt: info.endLt, stateRootHash, keyBlockSeqno, previous };
  });
}
