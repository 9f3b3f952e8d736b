import { createPublicKey, verify } from 'node:crypto';
import { answerJobs } from '../runtime/worker-pool.ts';
import type { SignatureJob } from './signature-job.ts';
import { KEY_BYTES, SIGNER_BYTES } from './signature-job.ts';

// Worker that checks Ed25519 signatures: 0.1 to 0.5 ms each, a hundred for one masterchain block of the main network.

/** SubjectPublicKeyInfo of an Ed25519 key without the key's 32 bytes (RFC 8410). */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

/** Returns the index of the first bad signature; -1 when all are good. */
function firstBad({ message, signers }: SignatureJob): number {
  for (let at = 0; at < signers.length; at += SIGNER_BYTES) {
    const key = Buffer.concat([SPKI_HEAD, signers.subarray(at, at + KEY_BYTES)]);
    const publicKey = createPublicKey({ key, format: 'der', type: 'spki' });
    const signature = signers.subarray(at + KEY_BYTES, at + SIGNER_BYTES);
    if (!verify(null, message, publicKey, signature)) return at / SIGNER_BYTES;
  }
  return -1;
}

answerJobs<SignatureJob, number>((job) => ({ result: firstBad(job) }));
