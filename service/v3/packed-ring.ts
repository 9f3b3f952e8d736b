import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

import { createTextRing, type TextRing } from './text-ring.ts';

/** Packed at once, in some tenth of a millisecond: in smaller blocks there is less to be found again, and of larger ones more is unpacked for a single text. */
const BLOCK_BYTES = 64 * 1024;

/** Of those levels that take some twentieth of what it takes to write the text; the next better ones pack a quarter more, at twice the time. */
const params = { [constants.ZSTD_c_compressionLevel]: -3 };

/** A byte more than a block has: zstd asks for room once more when all of it was used. */
const unpacking = { chunkSize: BLOCK_BYTES + 1 };

/** A ring for texts that resemble each other, as JSON of one shape does: four to seven times as much of them in the same memory. @param bytesMax of packed blocks */
export function createPackedRing(bytesMax: number): TextRing {
  const packed = createTextRing(bytesMax);
  /** All blocks that are full, and the number of the first of them. */
  const blocks: Block[] = [];
  let first = 0;
  let open = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  let filled = 0;
  /** Texts that were written together are read together. */
  let unpacked: { readonly place: number; readonly bytes: Buffer } | undefined;

  function close(): void {
    const bytes = zstdCompressSync(open, { params });
    blocks.push({ at: packed.end(), bytes: bytes.length });
    packed.append(bytes);
    while (blocks[0] !== undefined && blocks[0].at < packed.begin()) {
      blocks.shift();
      first++;
    }
    // Not written over: what was read of it may still be in use.
    open = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    filled = 0;
  }

  function blockAt(place: number): Buffer {
    const block = blocks[place - first];
    if (block === undefined) return open;
    if (unpacked?.place !== place) {
      unpacked = { place, bytes: zstdDecompressSync(packed.read(block.at, block.bytes), unpacking) };
    }
    return unpacked.bytes;
  }

  return {
    append(bytes) {
      for (let from = 0; from < bytes.length;) {
        const copied = bytes.copy(open, filled, from);
        from += copied;
        filled += copied;
        if (filled === BLOCK_BYTES) close();
      }
    },
    read(at, bytes) {
      const parts: Buffer[] = [];
      for (let from = at; from < at + bytes;) {
        const start = from % BLOCK_BYTES;
        const part = blockAt(Math.floor(from / BLOCK_BYTES)).subarray(start, start + at + bytes - from);
        parts.push(part);
        from += part.length;
      }
      return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    },
    begin: () => first * BLOCK_BYTES,
    end: () => (first + blocks.length) * BLOCK_BYTES + filled,
    held: () => packed.held() + filled,
  };
}

/** Where it is among the packed ones. */
type Block = { readonly at: number; readonly bytes: number };
