import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

import type { Kept } from './kept-texts.ts';
import example from './packed-trace-dictionary.json' with { type: 'json' };

/**
 * How traces are stored, which is how they are shown: a change of that makes it one more, and what was stored before is not shown any more. A step of the
 * schema goes with it that empties `written_traces`.
 */
export const traceForm = 1;

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

/** Stands between traces that are unpacked at once: bytes that no UTF-8 has, nor any length of names. */
const border = Buffer.alloc(4, 0xff);

const packedBorder = zstdCompressSync(border);

/** Of the packed traces of one call of zstd: several times as much unpacked, in a millisecond. */
const PACKED_AT_ONCE_BYTES = 128 * 1024;

/** What zstd gives at once: of larger pieces more is left unused, which counts as garbage all the same. */
const UNPACKED_CHUNK_BYTES = 64 * 1024;

/** Packed traces as they are unpacked at once. @param packedOf a trace */
export function* batchesOf<T>(traces: Iterable<T>, packedOf: (trace: T) => Buffer): Generator<readonly T[]> {
  let batch: T[] = [];
  let bytes = 0;
  for (const trace of traces) {
    const { length } = packedOf(trace);
    if (batch.length > 0 && bytes + length > PACKED_AT_ONCE_BYTES) {
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
    const frames = Buffer.concat(batch.flatMap((packed) => [packed, packedBorder]));
    const bytes = zstdDecompressSync(frames, {
      dictionary,
      chunkSize: UNPACKED_CHUNK_BYTES,
      maxOutputLength: PACKED_FROM_BYTES_MAX + border.length,
    });
    return cut(bytes, batch.length).map(readUnpacked);
  } catch {
    return undefined;
  }
}

/** @throws Error there are not as many */
function cut(bytes: Buffer, count: number): Buffer[] {
  const parts: Buffer[] = [];
  let start = 0;
  for (let end = bytes.indexOf(border); end >= 0; end = bytes.indexOf(border, start)) {
    parts.push(bytes.subarray(start, end));
    start = end + border.length;
  }
  if (parts.length !== count || start !== bytes.length) throw new Error('not as many traces as were unpacked');
  return parts;
}

function readUnpacked(bytes: Buffer): Kept<KeptTrace> {
  const textAt = LENGTH_BYTES + bytes.readUInt32BE();
  const names = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, textAt)) as KeptTrace;
  return { text: bytes.subarray(textAt), names };
}
