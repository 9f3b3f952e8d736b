import type { SignatureBatch } from './signatures.ts';

/** Batch in the form transferred to a thread: `signers` alternate key and signature. */
export type SignatureJob = {
  readonly message: Uint8Array;
  readonly signers: Uint8Array<ArrayBuffer>;
};

export const KEY_BYTES = 32;
export const SIGNER_BYTES = KEY_BYTES + 64;

/** Packs a batch for the thread into one buffer instead of an object for each signature. */
export function packJob({ message, signers }: SignatureBatch): SignatureJob {
  const packed = new Uint8Array(signers.length * SIGNER_BYTES);
  signers.forEach(({ publicKey, signature }, index) => {
    packed.set(publicKey, index * SIGNER_BYTES);
    packed.set(signature, index * SIGNER_BYTES + KEY_BYTES);
  });
  return { message, signers: packed };
}
