/** Bytes up to which V8 puts a typed array into its heap, which costs no more than a slice of a page. */
const HEAP_BYTES_MAX = 64;

/**
 * Uninitialized bytes for a value that may live long, such as a hash. Up to 64 bytes have memory of their own: a slice of a page of Node's buffer
 * pool keeps the whole page alive for as long as the slice lives.
 */
export function ownBytes(length: number): Buffer {
  return length <= HEAP_BYTES_MAX ? Buffer.allocUnsafeSlow(length) : Buffer.allocUnsafe(length);
}

/** A copy that shares no memory, whatever its length. */
export function ownCopy(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}
