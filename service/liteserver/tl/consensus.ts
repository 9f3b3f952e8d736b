import { bytes, int256, uint } from './codec.ts';
import { record, union } from './record.ts';
import { blockId } from './ton-node.ts';

// Bytes that validators sign (service/proof/README.md#signatures).

/** Signed by an ordinary signature set: 68 bytes when boxed. */
export const signedBlockId = record('ton.blockId', 'ton.BlockId', { rootCellHash: int256, fileHash: int256 });

export const candidateId = record('consensus.candidateId', 'consensus.CandidateId', { slot: uint, hash: int256 });

/** Vote that finalises a simplex candidate. */
export const finalizeVote = record('consensus.simplex.finalizeVote', 'consensus.simplex.UnsignedVote', {
  id: candidateId.boxed,
});

/** Signed by a simplex signature set; `data` is the boxed vote. */
export const dataToSign = record('consensus.dataToSign', 'consensus.DataToSign', { sessionId: int256, data: bytes });

const candidateParent = record('consensus.candidateParent', 'consensus.CandidateParent', { id: candidateId.boxed });
const candidateWithoutParents = record('consensus.candidateWithoutParents', 'consensus.CandidateParent', {});

/** Data of a candidate's hash; `block` must be the signed block. */
export const candidateHashData = union('consensus.CandidateHashData', {
  ordinary: record('consensus.candidateHashDataOrdinary', 'consensus.CandidateHashData', {
    block: blockId,
    collatedFileHash: int256,
    parent: union('consensus.CandidateParent', { parent: candidateParent, none: candidateWithoutParents }),
  }),
  empty: record('consensus.candidateHashDataEmpty', 'consensus.CandidateHashData', {
    block: blockId,
    parent: candidateId,
  }),
});
