import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

import type { CachedJson } from '#service/runtime/json-cache.ts';
import example from './packed-json-dictionary.json' with { type: 'json' };

/** Rendered JSON with further data; bytes are UTF-8. */
export type Rendered<T> = { readonly parts: readonly (string | Buffer)[]; readonly names: T };

/** Bytes of a text and its data. Packed in some 10 ms, unpacked in less. */
const PACKED_FROM_BYTES_MAX = 2 * 1024 * 1024;

const LENGTH_BYTES = 4;

/** The checksum detects a frame that was packed with another dictionary. */
const checked = { [constants.ZSTD_c_checksumFlag]: 1 };

/** A transaction of the recorded network. A trace of a single transaction takes a third less when its names and numbers come from here. */
const dictionary = Buffer.from(JSON.stringify(example));

/**
 * Packs a text into a zstd frame with `dictionary`. Contents: bytes of the names (32 bits, big-endian), the names as JSON, the text.
 *
 * @returns undefined for a text that is too large
 */
export function packJson<T>({ parts, names }: Rendered<T>): Buffer | undefined {
  const head = Buffer.from(JSON.stringify(names));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(head.length);
  const pieces = [length, head, ...parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))];
  if (pieces.reduce((sum, piece) => sum + piece.length, 0) > PACKED_FROM_BYTES_MAX) return undefined;
  // Not in a thread of libuv: the transfer of a usual 26 KB takes seven times as long as packing.
  return zstdCompressSync(Buffer.concat(pieces), { dictionary, params: checked });
}

/** Uncompressed bytes per zstd call (about 1 ms). A larger text gets a call of its own. */
const UNPACKED_AT_ONCE_BYTES = 768 * 1024;

/** Output buffer of zstd. Larger buffers leave more memory unused, which still counts as garbage. */
const UNPACKED_CHUNK_BYTES = 64 * 1024;

/**
 * Packed texts as they are unpacked at once.
 *
 * @param packedOf the frame of a text
 * @param takeBytes takes the bytes of each text before it is unpacked
 */
export function* batchesOf<T>(
  all: Iterable<T>,
  packedOf: (one: T) => Buffer,
  takeBytes?: (bytes: number) => void,
): Generator<readonly T[]> {
  let batch: T[] = [];
  let bytes = 0;
  for (const one of all) {
    const length = unpackedBytes(packedOf(one)) ?? 0;
    takeBytes?.(length);
    if (batch.length > 0 && bytes + length > UNPACKED_AT_ONCE_BYTES) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(one);
    bytes += length;
  }
  if (batch.length > 0) yield batch;
}

/**
 * Unpacks a batch by a single call: the start of a call takes as long as unpacking a trace of usual size.
 *
 * @returns texts in input order; undefined for a malformed frame, or above the limit of a call
 */
export function unpackJson<T>(batch: readonly Buffer[]): readonly CachedJson<T>[] | undefined {
  try {
    const bytes = zstdDecompressSync(Buffer.concat(batch), {
      dictionary,
      chunkSize: UNPACKED_CHUNK_BYTES,
      maxOutputLength: PACKED_FROM_BYTES_MAX,
    });
    return cut(bytes, batch).map((one) => readUnpacked<T>(one));
  } catch {
    return undefined;
  }
}

/** @throws Error the bytes are not the unpacked batch */
function cut(bytes: Buffer, batch: readonly Buffer[]): Buffer[] {
  let end = 0;
  const parts = batch.map((packed) => bytes.subarray(end, (end += unpackedBytes(packed) ?? 0)));
  if (end !== bytes.length) throw new Error('not the texts that were packed');
  return parts;
}

const FRAME_MAGIC = 0xfd2fb528;

/** Bits of a descriptor: a single segment, so that no window size precedes the content size, and no dictionary id. */
const DESCRIPTOR = { mask: 0b10_1011, wanted: 0b10_0000 };

/** Bytes of the content size by its flag, and its offset. */
const SIZE_FORMS = [
  { bytes: 1, less: 0 },
  { bytes: 2, less: 256 },
  { bytes: 4, less: 0 },
] as const;

/**
 * Uncompressed bytes in a frame's header: magic, descriptor, size, all little-endian (RFC 8878, 3.1.1). @returns undefined for a frame that
 * `packJson` did not make
 */
function unpackedBytes(packed: Buffer): number | undefined {
  if (packed.length < 9 || packed.readUInt32LE() !== FRAME_MAGIC) return undefined;
  const descriptor = packed.readUInt8(4);
  const size = SIZE_FORMS[descriptor >> 6];
  if (size === undefined || (descriptor & DESCRIPTOR.mask) !== DESCRIPTOR.wanted) return undefined;
  return packed.readUIntLE(5, size.bytes) + size.less;
}

function readUnpacked<T>(bytes: Buffer): CachedJson<T> {
  const textAt = LENGTH_BYTES + bytes.readUInt32BE();
  const names = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, textAt)) as T;
  return { text: bytes.subarray(textAt), names };
}
