import { hash } from 'node:crypto';

/** A new key: the text for its owner, seen here and nowhere else, and what the keyring keeps of it. */
export type NewKey = {
  /** `ton_<id>_<secret>`. */
  readonly key: string;
  /** Public prefix, safe to log. */
  readonly id: string;
  /** SHA-256 of the whole key text, 32 bytes. */
  readonly sha256: Buffer;
};

/** Digits of an id and a secret. */
export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 71 bits: no two of a million keys share an id. */
export const idLength = 12;

/** 62^43 > 2^256: holds every value of 256 bits. */
export const secretLength = 43;

/**
 * A key of 256 random bits (operator reference 5.4).
 *
 * @param randomBytes source of randomness, `crypto.randomBytes`
 */
export function makeKey(randomBytes: (length: number) => Buffer): NewKey {
  // The id needs no even spread, only rare collisions: 9 bytes are 72 bits for 12 digits.
  const id = base62(randomBytes(9), idLength);
  const key = `ton_${id}_${base62(randomBytes(32), secretLength)}`;
  return { key, id, sha256: keyHash(key) };
}

/** What is stored of a key. A plain hash is enough: the secret has 256 bits, there is nothing to guess. */
export function keyHash(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** Lowest `length` base-62 digits of a big-endian number, most significant first. */
function base62(bytes: Buffer, length: number): string {
  let value = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (let digit = 0; digit < length; digit++) {
    text = `${BASE62[Number(value % 62n)]}${text}`;
    value /= 62n;
  }
  return text;
}
