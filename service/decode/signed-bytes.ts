import { createHash } from 'node:crypto';
import type { BlockId } from './block-id.ts';

// Constructor ids as on the wire, low byte first.
const PUB_ED25519 = Buffer.from('c6b41348', 'hex');
const TON_BLOCK_ID = Buffer.from('706e0bc5', 'hex');
const DATA_TO_SIGN = Buffer.from('f83de3a8', 'hex');
const FINALIZE_VOTE = Buffer.from('05e1a740', 'hex');
const CANDIDATE_ID = Buffer.from('3fcd91b6', 'hex');

/** `consensus.candidateHashDataOrdinary` and `…Empty`: the beginning of a candidate, before the id of its block. */
export const CANDIDATE_ORDINARY = Buffer.from('dcbcf9e8', 'hex');
export const CANDIDATE_EMPTY = Buffer.from('33d9b472', 'hex');

/** `node_id_short` of a validator's Ed25519 key: the hash of its boxed `pub.ed25519`. */
export function nodeIdShort(publicKey: Buffer): Buffer {
  return createHash('sha256').update(PUB_ED25519).update(publicKey).digest();
}

/** Returns the signed bytes of a block in an ordinary set: `ton.blockId`. */
export function ordinarySignedBytes({ rootHash, fileHash }: BlockId): Buffer {
  return Buffer.concat([TON_BLOCK_ID, rootHash, fileHash]);
}

/**
 * Returns the signed bytes in a simplex set: `consensus.dataToSign` of the vote for a candidate in a session's slot
 * (service/proof/README.md#signatures).
 */
export function simplexSignedBytes(sessionId: Buffer, slot: number, candidate: Buffer): Buffer {
  const vote = Buffer.concat([FINALIZE_VOTE, candidateId(slot, candidate)]);
  // TL `bytes`: a length byte, the vote's 44 bytes, padding to a multiple of four.
  return Buffer.concat([DATA_TO_SIGN, sessionId, Buffer.of(vote.length), vote, Buffer.alloc(3)]);
}

/** `consensus.candidateId`, boxed. */
export function candidateId(slot: number, candidate: Buffer): Buffer {
  const number = Buffer.alloc(4);
  number.writeUInt32LE(slot);
  return Buffer.concat([CANDIDATE_ID, number, createHash('sha256').update(candidate).digest()]);
}
