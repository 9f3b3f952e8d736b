import type { BlockId } from '../decode/block-id.ts';
import { sameBlock } from '../decode/block-id.ts';
import {
  CANDIDATE_EMPTY,
  CANDIDATE_ORDINARY,
  nodeIdShort,
  ordinarySignedBytes,
  simplexSignedBytes,
} from '../decode/signed-bytes.ts';
import { ProofError } from './errors.ts';
import type { Validator } from '../decode/validator-session.ts';
import { validatorSetHash } from '../decode/validator-session.ts';

/** Signature of a block. */
export type BlockSignature = {
  /** SHA-256 of `pub.ed25519` and the signer's key, 32 bytes. */
  readonly nodeIdShort: Buffer;
  /** Ed25519, 64 bytes. */
  readonly signature: Buffer;
};

/** Signatures of a masterchain block, of either consensus (`liteServer.SignatureSet`). */
export type SignatureSet = OrdinarySignatureSet | SimplexSignatureSet;

export type OrdinarySignatureSet = {
  readonly kind: 'ordinary';
  /** Unsigned 32 bits, like all small numbers here. */
  readonly validatorSetHash: number;
  readonly catchainSeqno: number;
  readonly signatures: readonly BlockSignature[];
};

export type SimplexSignatureSet = {
  readonly kind: 'simplex';
  readonly validatorSetHash: number;
  readonly catchainSeqno: number;
  readonly signatures: readonly BlockSignature[];
  readonly sessionId: Buffer;
  readonly slot: number;
  /** Boxed `consensus.CandidateHashData`. */
  readonly candidate: Buffer;
};

/** Message and its required signers, for the signature thread. */
export type SignatureBatch = {
  readonly message: Buffer;
  readonly signers: readonly { readonly publicKey: Buffer; readonly signature: Buffer }[];
};

/** Session in the signed block's header. */
export type Session = { readonly catchainSeqno: number; readonly validatorSetHash: number };

const SIGNATURE_BYTES = 64;
/** `tonNode.blockIdExt`, bare. */
const BLOCK_ID_BYTES = 80;

/**
 * Checks a signature set by all rules except the signatures themselves, which are returned for checking (service/proof/README.md#signatures). The set
 * must be that of the block's header. No signer may be unknown or appear twice. More than two thirds of the weight must sign.
 * @param validators of the session, in order
 * @throws ProofError `bad_signature_set`, `bad_validator_set`, `unknown_signer`, `duplicate_signer`, `not_enough_weight`
 */
export function checkSignatureSet(
  block: BlockId,
  set: SignatureSet,
  validators: readonly Validator[],
  session: Session,
): SignatureBatch {
  const subject = 'blockProof.signatures';
  requireEqual(
    subject,
    'bad_validator_set',
    session.validatorSetHash,
    validatorSetHash(session.catchainSeqno, validators),
  );
  requireEqual(subject, 'bad_signature_set', session.validatorSetHash, set.validatorSetHash);
  requireEqual(subject, 'bad_signature_set', session.catchainSeqno, set.catchainSeqno);
  const byNodeId = new Map(
    validators.map((validator) => [nodeIdShort(validator.publicKey).toString('hex'), validator]),
  );
  const signed = new Set<string>();
  let signedWeight = 0n;
  const signers = set.signatures.map(({ nodeIdShort: node, signature }) => {
    const key = node.toString('hex');
    const validator = byNodeId.get(key);
    if (validator === undefined) throw new ProofError('unknown_signer', { subject, found: key });
    if (signed.has(key)) throw new ProofError('duplicate_signer', { subject, found: key });
    if (signature.length !== SIGNATURE_BYTES) {
      throw new ProofError('bad_signature_set', { subject, expected: '64 bytes', found: String(signature.length) });
    }
    signed.add(key);
    signedWeight += validator.weight;
    return { publicKey: validator.publicKey, signature };
  });
  const totalWeight = validators.reduce((sum, validator) => sum + validator.weight, 0n);
  if (3n * signedWeight <= 2n * totalWeight) {
    throw new ProofError('not_enough_weight', {
      subject,
      expected: `> 2/3 of ${totalWeight}`,
      found: String(signedWeight),
    });
  }
  return { message: signedBytes(block, set), signers };
}

/**
 * Returns the bytes that the validators signed to make the block final.
 * @throws ProofError `bad_signature_set` when a simplex candidate is for another block, or its slot is no unsigned 32 bits
 */
export function signedBytes(block: BlockId, set: SignatureSet): Buffer {
  if (set.kind === 'ordinary') return ordinarySignedBytes(block);
  requireSlot(set.slot);
  requireCandidateOf(block, set.candidate);
  return simplexSignedBytes(set.sessionId, set.slot, set.candidate);
}

/** Requires 32 bits; a larger slot has no signed form. */
function requireSlot(slot: number): void {
  if (Number.isInteger(slot) && slot >= 0 && slot <= 0xffff_ffff) return;
  throw new ProofError('bad_signature_set', {
    subject: 'blockProof.signatures.slot',
    expected: 'unsigned 32 bits',
    found: String(slot),
  });
}

/** Requires that the candidate is for the block. Both forms of a candidate start with their id and their block. */
function requireCandidateOf(block: BlockId, candidate: Buffer): void {
  const subject = 'blockProof.signatures.candidate';
  const id = candidate.subarray(0, 4);
  const known = id.equals(CANDIDATE_ORDINARY) || id.equals(CANDIDATE_EMPTY);
  if (!known || candidate.length < 4 + BLOCK_ID_BYTES) {
    throw new ProofError('bad_signature_set', {
      subject,
      expected: 'consensus.CandidateHashData',
      found: id.toString('hex'),
    });
  }
  const named: BlockId = {
    workchain: candidate.readInt32LE(4),
    shard: candidate.readBigUInt64LE(8),
    seqno: candidate.readUInt32LE(16),
    rootHash: candidate.subarray(20, 52),
    fileHash: candidate.subarray(52, 84),
  };
  if (!sameBlock(named, block)) throw new ProofError('bad_signature_set', { subject, expected: 'the proved block' });
}

function requireEqual(
  subject: string,
  code: 'bad_validator_set' | 'bad_signature_set',
  expected: number,
  found: number,
): void {
  if (expected !== found) throw new ProofError(code, { subject, expected: String(expected), found: String(found) });
}
