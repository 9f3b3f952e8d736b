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

/** Takes memory as it is filled. @param bytesMax what stays */
export function createTextRing(bytesMax: number): TextRing {
  const slab = Buffer.allocUnsafeSlow(bytesMax);
  let end = 0;
  return {
    append(bytes) {
      for (let from = 0; from < bytes.length;) {
        const copied = bytes.copy(slab, end % bytesMax, from);
        from += copied;
        end += copied;
      }
    },
    read(at, bytes) {
      const start = at % bytesMax;
      const behind = slab.subarray(start, start + bytes);
      // Copied: what is written next may come over it.
      return behind.length === bytes
        ? Buffer.from(behind)
        : Buffer.concat([behind, slab.subarray(0, bytes - behind.length)]);
    },
    begin: () => Math.max(0, end - bytesMax),
    end: () => end,
  };
}
