import type { SignatureBatch } from './signatures.ts';

/** A batch as it crosses the thread border: `signers` alternate key and signature. */
export type SignatureJob = {
  readonly message: Uint8Array;
  readonly signers: Uint8Array<ArrayBuffer>;
};

export const KEY_BYTES = 32;
export const SIGNER_BYTES = KEY_BYTES + 64;

/** Lays a batch out for the thread: one buffer instead of an object for each signature. */
export function packJob({ message, signers }: SignatureBatch): SignatureJob {
  const packed = new Uint8Array(signers.length * SIGNER_BYTES);
  signers.forEach(({ publicKey, signature }, index) => {
    packed.set(publicKey, index * SIGNER_BYTES);
    packed.set(signature, index * SIGNER_BYTES + KEY_BYTES);
  });
  return { message, signers: packed };
}
