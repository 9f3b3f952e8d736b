import { ownCopy } from '#service/decode/own-bytes.ts';
import { TlError } from './errors.ts';

/** Most bytes of a copy. Hashes, ids and signatures are copied, because caches reference them for longer than the answer. */
const COPIED_BYTES_MAX = 64;

/** Cursor over TL bytes. Every read is checked against the end; longer byte strings are views, not copies. */
export class TlReader {
  readonly bytes: Buffer;
  #offset = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get offset(): number {
    return this.#offset;
  }

  get remaining(): number {
    return this.bytes.length - this.#offset;
  }

  int32(): number {
    return this.bytes.readInt32LE(this.#take(4));
  }

  uint32(): number {
    return this.bytes.readUInt32LE(this.#take(4));
  }

  int64(): bigint {
    return this.bytes.readBigInt64LE(this.#take(8));
  }

  uint64(): bigint {
    return this.bytes.readBigUInt64LE(this.#take(8));
  }

  /** Reads `count` bytes without a length prefix. Up to 64 are a copy, which does not reference the whole answer. */
  raw(count: number): Buffer {
    const start = this.#take(count);
    const view = this.bytes.subarray(start, start + count);
    return count <= COPIED_BYTES_MAX ? ownCopy(view) : view;
  }

  /** Reads TL `bytes`: length prefix of 1, 4 or 8 bytes, data, padding to 4 (service/liteserver/README.md#tl-encoding). */
  byteString(): Buffer {
    const prefixStart = this.#take(1);
    const first = this.bytes[prefixStart] ?? 0;
    let length = first;
    if (first === 254) {
      length = this.bytes.readUIntLE(this.#take(3), 3);
    } else if (first === 255) {
      // The low 6 of 7 bytes are a safe integer. Any higher byte is beyond every buffer.
      const start = this.#take(7);
      length = this.bytes[start + 6] === 0 ? this.bytes.readUIntLE(start, 6) : Number.MAX_SAFE_INTEGER;
    }
    const data = this.raw(length);
    const misaligned = (this.#offset - prefixStart) % 4;
    if (misaligned !== 0) this.#take(4 - misaligned);
    return data;
  }

  /** @throws TlError `tl_trailing` when bytes are left */
  end(what: string): void {
    if (this.remaining !== 0) {
      throw new TlError('tl_trailing', `${this.remaining} bytes are left after ${what}`, {
        what,
        offset: this.#offset,
      });
    }
  }

  #take(count: number): number {
    const start = this.#offset;
    if (count > this.bytes.length - start) {
      throw new TlError('tl_truncated', `${count} bytes wanted at ${start}, ${this.remaining} are left`, {
        what: 'bytes',
        offset: start,
      });
    }
    this.#offset = start + count;
    return start;
  }
}
