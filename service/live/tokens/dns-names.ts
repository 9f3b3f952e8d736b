/** Bytes of a name that fit a resolver's argument: a slice of whole bytes, including the final zero. */
export const DOMAIN_BYTES_MAX = 126;

/**
 * Encodes a name for resolvers: labels in reverse order, each ended by a zero byte (TEP-81).
 * A trailing dot is an empty last label, as in the reference client's library. `ton.` therefore starts with a zero.
 */
export function encodeDomain(name: string): Buffer {
  if (name === '' || name === '.') return Buffer.alloc(1);
  return Buffer.from(`${name.split('.').toReversed().join('\0')}\0`);
}

/** The name of a part of an encoded one; each zero byte was a dot. */
export function decodeDomain(encoded: Buffer): string {
  return encoded.toString().split('\0').toReversed().join('.');
}
