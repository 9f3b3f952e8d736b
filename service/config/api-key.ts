import { hash } from 'node:crypto';

/** New key: the text for its owner, visible only here, and the hash for the keyring. */
export type NewKey = {
  /** `ton_<id>_<secret>`. */
  readonly key: string;
  /** Public prefix, safe to log. */
  readonly id: string;
  /** SHA-256 of the whole key text, 32 bytes. */
  readonly sha256: Buffer;
};

/** Alphabet of an id and a secret. */
export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Digits of an id: 71 bits, so no two of a million keys share an id. */
export const idLength = 12;

/** Digits of a secret. 62^43 > 2^256, so every value of 256 bits fits. */
export const SECRET_LENGTH = 43;

/**
 * Makes a key of 256 random bits.
 *
 * @param randomBytes source of randomness, `crypto.randomBytes`
 */
export function makeKey(randomBytes: (length: number) => Buffer): NewKey {
  // An id needs no even distribution, only rare collisions: 9 bytes are 72 bits for 12 digits.
  const id = base62(randomBytes(9), idLength);
  const key = `ton_${id}_${base62(randomBytes(32), SECRET_LENGTH)}`;
  return { key, id, sha256: keyHash(key) };
}

/** Returns the stored hash of a key. A plain hash is enough, because a secret of 256 bits cannot be guessed. */
export function keyHash(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** Returns the lowest `length` base-62 digits of a big-endian number, most significant first. */
function base62(bytes: Buffer, length: number): string {
  let value = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (let digit = 0; digit < length; digit++) {
    text = `${BASE62[Number(value % 62n)]}${text}`;
    value /= 62n;
  }
  return text;
}
