import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

import type { Kept } from './kept-texts.ts';
import example from './packed-trace-dictionary.json' with { type: 'json' };

/**
 * How traces are stored, which is how they are shown: a change of that makes it one more, and what was stored before is not shown any more. A step of the
 * schema goes with it that empties `written_traces`.
 */
export const traceForm = 2;

/** What of a written trace is kept beside its text. */
export type KeptTrace = {
  readonly warning: string | undefined;
  readonly accounts: readonly string[];
  /** That its transactions took and sent. */
  readonly messages: number;
  /** Bytes of its tree and of the order of its transactions; the rest are those. */
  readonly treeBytes: number;
  readonly orderBytes: number;
};

/** A trace that was just written; bytes are UTF-8. */
export type NewTrace = { readonly parts: readonly (string | Buffer)[]; readonly names: KeptTrace };

/** Of a trace's text and names, as for those that stay in memory: packed in some 10 ms, unpacked in fewer. */
const PACKED_FROM_BYTES_MAX = 2 * 1024 * 1024;

const LENGTH_BYTES = 4;

/** What was packed with another dictionary is known by its checksum. */
const checked = { [constants.ZSTD_c_checksumFlag]: 1 };

/** A transaction of the recorded network: a trace of a single one takes a third less when its names and numbers are known from here. */
const dictionary = Buffer.from(JSON.stringify(example));

/**
 * One zstd frame with `dictionary`: bytes of the names (32 bits, big-endian), the names as JSON, the text.
 *
 * @returns undefined for a trace that is too large
 */
export function packTrace({ parts, names }: NewTrace): Buffer | undefined {
  const head = Buffer.from(JSON.stringify(names));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(head.length);
  const pieces = [length, head, ...parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))];
  if (pieces.reduce((sum, piece) => sum + piece.length, 0) > PACKED_FROM_BYTES_MAX) return undefined;
  // Not in a thread of libuv: handing over the 26 KB of most takes seven times as long as packing them.
  return zstdCompressSync(Buffer.concat(pieces), { dictionary, params: checked });
}

/** Of the traces of one call of zstd, as long as there are several: a millisecond. */
const UNPACKED_AT_ONCE_BYTES = 768 * 1024;

/** What zstd gives at once: of larger pieces more is left unused, which counts as garbage all the same. */
const UNPACKED_CHUNK_BYTES = 64 * 1024;

/** Packed traces as they are unpacked at once. @param packedOf a trace */
export function* batchesOf<T>(traces: Iterable<T>, packedOf: (trace: T) => Buffer): Generator<readonly T[]> {
  let batch: T[] = [];
  let bytes = 0;
  for (const trace of traces) {
    const length = unpackedBytes(packedOf(trace)) ?? 0;
    if (batch.length > 0 && bytes + length > UNPACKED_AT_ONCE_BYTES) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(trace);
    bytes += length;
  }
  if (batch.length > 0) yield batch;
}

/**
 * Several, or one, by one call: to begin it takes as long as to unpack the trace itself.
 *
 * @returns in their order; undefined when one of them is no packed trace, or together they are more than one may be
 */
export function unpackTraces(batch: readonly Buffer[]): readonly Kept<KeptTrace>[] | undefined {
  try {
    const bytes = zstdDecompressSync(Buffer.concat(batch), {
      dictionary,
      chunkSize: UNPACKED_CHUNK_BYTES,
      maxOutputLength: PACKED_FROM_BYTES_MAX,
    });
    return cut(bytes, batch).map(readUnpacked);
  } catch {
    return undefined;
  }
}

/** @throws Error they are not what was unpacked */
function cut(bytes: Buffer, batch: readonly Buffer[]): Buffer[] {
  let end = 0;
  const parts = batch.map((packed) => bytes.subarray(end, (end += unpackedBytes(packed) ?? 0)));
  if (end !== bytes.length) throw new Error('not the traces that were unpacked');
  return parts;
}

const FRAME_MAGIC = 0xfd2fb528;

/** Bits of a descriptor: a single segment, so that no size of a window stands before that of the content, and no id of a dictionary. */
const DESCRIPTOR = { mask: 0b10_1011, wanted: 0b10_0000 };

/** Bytes of the content's size by its flag, and what is less in them. */
const SIZE_FORMS = [
  { bytes: 1, less: 0 },
  { bytes: 2, less: 256 },
  { bytes: 4, less: 0 },
] as const;

/** What a zstd frame says of its size: magic, descriptor, size, all little-endian (RFC 8878, 3.1.1). @returns undefined where it is not as `packTrace` makes them */
function unpackedBytes(packed: Buffer): number | undefined {
  if (packed.length < 9 || packed.readUInt32LE() !== FRAME_MAGIC) return undefined;
  const descriptor = packed.readUInt8(4);
  const size = SIZE_FORMS[descriptor >> 6];
  if (size === undefined || (descriptor & DESCRIPTOR.mask) !== DESCRIPTOR.wanted) return undefined;
  return packed.readUIntLE(5, size.bytes) + size.less;
}

function readUnpacked(bytes: Buffer): Kept<KeptTrace> {
  const textAt = LENGTH_BYTES + bytes.readUInt32BE();
  const names = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, textAt)) as KeptTrace;
  return { text: bytes.subarray(textAt), names };
}
