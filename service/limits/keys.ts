import { hash, timingSafeEqual } from 'node:crypto';

import { BASE62, idLength, SECRET_LENGTH } from '../config/api-key.ts';

export { idLength, keyHash, makeKey, type NewKey } from '../config/api-key.ts';

/** A key split into its public and secret halves. */
export type ParsedKey = { readonly id: string };

const prefix = 'ton_';
const secretAt = prefix.length + idLength + 1;
const keyLength = secretAt + SECRET_LENGTH;

const digits62 = Uint8Array.from({ length: 128 }, (_, code) => Number(BASE62.includes(String.fromCharCode(code))));

/** Reports whether a character code is a base-62 digit. */
export function isDigit62(code: number): boolean {
  return digits62[code] === 1;
}

function isAllDigits62(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (!isDigit62(text.charCodeAt(at))) return false;
  return true;
}

/** Returns the id inside a well-formed key; undefined for any other text. Text of the wrong length costs next to nothing. */
export function parseKey(text: string): ParsedKey | undefined {
  if (text.length !== keyLength || !text.startsWith(prefix) || text[secretAt - 1] !== '_') return undefined;
  if (!isAllDigits62(text, prefix.length, secretAt - 1) || !isAllDigits62(text, secretAt, keyLength)) return undefined;
  return { id: text.slice(prefix.length, secretAt - 1) };
}

/** Reports whether `key` is the key with hash `sha256`, in constant time. */
export function keyMatches(key: string, sha256: Buffer): boolean {
  // A digest as text takes a third of the time of a new Buffer.
  digest.write(hash('sha256', key, 'binary'), 'latin1');
  return timingSafeEqual(digest, sha256);
}

/** Buffer that is written and read within one call. */
const digest = Buffer.alloc(32);
