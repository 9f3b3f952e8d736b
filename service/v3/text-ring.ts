/** Bytes one behind the other, of which the last ones stay: each is known by how many were ever written before it. */
export type TextRing = {
  readonly append: (bytes: Buffer) => void;
  /** Of what is between `begin` and `end`; it stays as it is. */
  readonly read: (at: number, bytes: number) => Buffer;
  /** The first byte that is still there. */
  readonly begin: () => number;
  /** Where the next one will be. */
  readonly end: () => number;
};

/** The ring grows by so many bytes as it fills: V8 plans its collections by allocated bytes, used or not. */
const CHUNK_BYTES = 1024 * 1024;

/** Takes memory as it is filled. @param bytesMax what stays */
export function createTextRing(bytesMax: number): TextRing {
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
      // Copied: what is written next may come over it.
      const copy = Buffer.allocUnsafe(bytes);
      for (let copied = 0; copied < bytes;) copied += from((at + copied) % bytesMax).copy(copy, copied, 0);
      return copy;
    },
    begin: () => Math.max(0, end - bytesMax),
    end: () => end,
  };
}
