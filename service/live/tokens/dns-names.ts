/** Bytes of an encoded name that fit a resolver's argument, a slice of whole bytes. */
const ENCODED_BYTES_MAX = 127;

/** Returns the name with the trailing dot with which resolvers are asked. */
export function completeDomain(name: string): string {
  return name.endsWith('.') ? name : `${name}.`;
}

/** Reports whether a resolver can be asked for a name: 125 bytes of UTF-8 and a trailing dot fit. */
export function isAskable(name: string): boolean {
  return encodeDomain(completeDomain(name)).length <= ENCODED_BYTES_MAX;
}

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
