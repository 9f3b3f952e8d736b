/** Ring of consecutive bytes, of which the last ones stay. A position is the number of bytes written before it. */
export type ByteRing = {
  readonly append: (bytes: Buffer) => void;
  /** Bytes between `begin` and `end`; the result stays unchanged. */
  readonly read: (at: number, bytes: number) => Buffer;
  /** Position of the first byte in the ring. */
  readonly begin: () => number;
  /** Position of the next entry. */
  readonly end: () => number;
};

/** The ring grows by this many bytes: V8 plans its collections by allocated bytes, used or not. */
const CHUNK_BYTES = 1024 * 1024;

/** Allocates memory as it fills. @param bytesMax bytes that stay */
export function createByteRing(bytesMax: number): ByteRing {
  const chunks: Buffer[] = [];
  let end = 0;

  /** The chunk's bytes from a place in the ring to the chunk's end. */
  function from(place: number): Buffer {
    const index = Math.floor(place / CHUNK_BYTES);
    const start = index * CHUNK_BYTES;
    chunks[index] ??= Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, bytesMax - start));
    return chunks[index].subarray(place - start);
  }

  return {
    append(bytes) {
      for (let copied = 0; copied < bytes.length;) {
        const count = bytes.copy(from(end % bytesMax), 0, copied);
        copied += count;
        end += count;
      }
    },
    read(at, bytes) {
      // Copied: the next write may overwrite the bytes.
      const copy = Buffer.allocUnsafe(bytes);
      for (let copied = 0; copied < bytes;) copied += from((at + copied) % bytesMax).copy(copy, copied, 0);
      return copy;
    },
    begin: () => Math.max(0, end - bytesMax),
    end: () => end,
  };
}
