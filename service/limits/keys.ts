import { hash, timingSafeEqual } from 'node:crypto';

export { revokedSet } from '../config/keyring-row.ts';

/** A key split into its public and secret halves. */
export type ParsedKey = { readonly id: string };

/** A new key: the text for its owner, seen here and nowhere else, and what the keyring keeps of it. */
export type NewKey = {
  /** `ton_<id>_<secret>`. */
  readonly key: string;
  /** Public prefix, safe to log. */
  readonly id: string;
  /** SHA-256 of the whole key text, 32 bytes. */
  readonly sha256: Buffer;
};

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 71 bits: no two of a million keys share an id. */
export const idLength = 12;

/** 62^43 > 2^256: holds every value of 256 bits. */
const secretLength = 43;

const prefix = 'ton_';
const secretAt = prefix.length + idLength + 1;
const keyLength = secretAt + secretLength;

const digits62 = Uint8Array.from({ length: 128 }, (_, code) => Number(BASE62.includes(String.fromCharCode(code))));

/** Whether a character, by its code, is one of an id or a secret. */
export function isDigit62(code: number): boolean {
  return digits62[code] === 1;
}

function isAllDigits62(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (!isDigit62(text.charCodeAt(at))) return false;
  return true;
}

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

/** The id inside a well-formed key; undefined for any other text. Costs next to nothing for text of the wrong length. */
export function parseKey(text: string): ParsedKey | undefined {
  if (text.length !== keyLength || !text.startsWith(prefix) || text[secretAt - 1] !== '_') return undefined;
  if (!isAllDigits62(text, prefix.length, secretAt - 1) || !isAllDigits62(text, secretAt, keyLength)) return undefined;
  return { id: text.slice(prefix.length, secretAt - 1) };
}

/** What is stored of a key. A plain hash is enough: the secret has 256 bits, there is nothing to guess. */
export function keyHash(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** Whether `key` is the key stored as `sha256`; takes the same time wherever they differ. */
export function keyMatches(key: string, sha256: Buffer): boolean {
  // A digest as text takes a third of the time of one as a new Buffer.
  digest.write(hash('sha256', key, 'binary'), 'latin1');
  return timingSafeEqual(digest, sha256);
}

/** Written and read within one call. */
const digest = Buffer.alloc(32);

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
