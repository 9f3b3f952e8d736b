/** Most bytes of a typed array in V8's heap, at the cost of a slice of a page. */
const HEAP_BYTES_MAX = 64;

/**
 * Returns uninitialized bytes for a value that may live long, such as a hash. Up to 64 bytes have memory of their own. A slice of a page of Node's
 * buffer pool would reference the whole page as long as it lives.
 */
export function ownBytes(length: number): Buffer {
  return length <= HEAP_BYTES_MAX ? Buffer.allocUnsafeSlow(length) : Buffer.allocUnsafe(length);
}

/** Returns a copy that shares no memory, whatever its length. */
export function ownCopy(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}
