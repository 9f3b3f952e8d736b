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

/** A trace that was just written. */
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

/** @returns undefined for bytes that are no packed trace */
export function unpackTrace(packed: Buffer): Kept<KeptTrace> | undefined {
  try {
    const bytes = zstdDecompressSync(packed, { dictionary, maxOutputLength: PACKED_FROM_BYTES_MAX });
    const textAt = LENGTH_BYTES + bytes.readUInt32BE();
    const names = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, textAt)) as KeptTrace;
    return { text: bytes.subarray(textAt), names };
  } catch {
    return undefined;
  }
}
