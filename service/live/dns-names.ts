/** Bytes of a name that fit a resolver's argument, a slice of whole bytes, with the zero that ends the name. */
export const DOMAIN_BYTES_MAX = 126;

/**
 * A name as resolvers read it: labels in reverse order, each ended by a zero byte (TEP-81). A trailing dot is an empty last label,
 * as the reference client's library has it, so that `ton.` starts with a zero.
 */
export function encodeDomain(name: string): Buffer {
  if (name === '' || name === '.') return Buffer.alloc(1);
  return Buffer.from(`${name.split('.').toReversed().join('\0')}\0`);
}

/** The name of a part of an encoded one; each zero byte was a dot. */
export function decodeDomain(encoded: Buffer): string {
  return encoded.toString().split('\0').toReversed().join('.');
}
