import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

import type { BlockId } from '#service/decode/block-id.ts';
import {
  CANDIDATE_ORDINARY,
  candidateId,
  nodeIdShort,
  ordinarySignedBytes,
  simplexSignedBytes,
} from '#service/decode/signed-bytes.ts';
import type { ValidatorDescr } from '#service/decode/tlb/validator-set.ts';
import type { Session } from '../collator/sessions.ts';
import type { SignatureSet } from './recording.ts';

/** A validator's key pair. */
export type ValidatorKey = {
  /** Ed25519, 32 bytes. */
  readonly publicKey: Buffer;
  readonly privateKey: KeyObject;
};

/** Prefix of the 32 bytes of an Ed25519 seed in PKCS#8, and of a public key in SPKI. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI_HEAD_BYTES = 12;

/** A key pair from its seed of 32 bytes. */
export function validatorKey(seed: Buffer): ValidatorKey {
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return { publicKey: spki.subarray(SPKI_HEAD_BYTES), privateKey };
}

/** Describes a validator for the configuration. */
export function describeValidator({ publicKey }: ValidatorKey, weight: bigint): ValidatorDescr {
  return { publicKey, weight, adnlAddress: nodeIdShort(publicKey) };
}

// `consensus.candidateParent` and its absence, low byte first.
const NO_PARENT = Buffer.from('a9cccb22', 'hex');
const PARENT = Buffer.from('f19a4b1a', 'hex');

/** Consensus of the masterchain's validators: signatures of the block, or votes for its candidate (service/proof/README.md#signatures). */
export type Consensus = 'ordinary' | 'simplex';

/** Signs masterchain blocks in sequence. */
export type Signer = {
  /** All validators of the session sign that are in `keys`. */
  sign(block: BlockId, session: Session): SignatureSet;
};

/** @param keyOf returns a validator's private key by its public key */
export function createSigner(consensus: Consensus, keyOf: (publicKey: Buffer) => KeyObject | undefined): Signer {
  let round: Round | undefined;
  return {
    sign(block, session) {
      const { catchainSeqno, listHash: validatorSetHash } = session;
      const shared = { catchainSeqno, validatorSetHash };
      if (consensus === 'ordinary') {
        return { kind: 'ordinary', ...shared, signatures: signAll(ordinarySignedBytes(block), session, keyOf) };
      }
      round = nextRound(round, block, session);
      const { sessionId, slot, candidate } = round;
      const message = simplexSignedBytes(sessionId, slot, candidate);
      const signatures = signAll(message, session, keyOf);
      return { kind: 'simplex', ...shared, sessionId, slot, candidate, signatures };
    },
  };
}

/** Slot of a session. Its candidate refers to the candidate of the previous slot. */
type Round = {
  readonly catchainSeqno: number;
  readonly sessionId: Buffer;
  readonly slot: number;
  readonly candidate: Buffer;
};

function nextRound(last: Round | undefined, block: BlockId, { catchainSeqno, listHash }: Session): Round {
  const same = last?.catchainSeqno === catchainSeqno ? last : undefined;
  const name = Buffer.alloc(8);
  name.writeUInt32LE(catchainSeqno);
  name.writeUInt32LE(listHash, 4);
  const parent = same === undefined ? NO_PARENT : Buffer.concat([PARENT, candidateId(same.slot, same.candidate)]);
  // Blocks come without collated data, so its file is empty.
  const collated = createHash('sha256').digest();
  return {
    catchainSeqno,
    sessionId: same?.sessionId ?? createHash('sha256').update(name).digest(),
    slot: same === undefined ? 0 : same.slot + 1,
    candidate: Buffer.concat([CANDIDATE_ORDINARY, bareId(block), collated, parent]),
  };
}

/** `tonNode.blockIdExt`, bare. */
function bareId({ workchain, shard, seqno, rootHash, fileHash }: BlockId): Buffer {
  const head = Buffer.alloc(16);
  head.writeInt32LE(workchain);
  head.writeBigUInt64LE(shard, 4);
  head.writeUInt32LE(seqno, 12);
  return Buffer.concat([head, rootHash, fileHash]);
}

function signAll(
  message: Buffer,
  { validators }: Session,
  keyOf: (publicKey: Buffer) => KeyObject | undefined,
): SignatureSet['signatures'] {
  return validators.flatMap(({ publicKey }) => {
    const key = keyOf(publicKey);
    return key === undefined ? [] : [{ nodeIdShort: nodeIdShort(publicKey), signature: sign(undefined, message, key) }];
  });
}
