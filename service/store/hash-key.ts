/** A hash as a key of maps and sets: a character a byte. */
export function hashKey(hash: Uint8Array): string {
  const bytes = Buffer.isBuffer(hash) ? hash : Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength);
  return bytes.toString('latin1');
}
