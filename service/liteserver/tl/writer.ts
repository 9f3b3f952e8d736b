import { TlError } from './errors.ts';

/** First allocation, in bytes: fits every request except those with a message or parameters. */
const INITIAL_BYTES = 256;

/** Growing buffer of TL bytes. A value that does not fit its type throws TlError `tl_value`. */
export class TlWriter {
  #bytes = Buffer.allocUnsafe(INITIAL_BYTES);
  #offset = 0;

  int32(value: number): void {
    this.#checkInteger(value, -0x80000000, 0x7fffffff, 'int');
    const start = this.#grow(4);
    this.#bytes.writeInt32LE(value, start);
  }

  uint32(value: number): void {
    this.#checkInteger(value, 0, 0xffffffff, 'unsigned int');
    const start = this.#grow(4);
    this.#bytes.writeUInt32LE(value, start);
  }

  int64(value: bigint): void {
    if (BigInt.asIntN(64, value) !== value) this.#refuse('long', value);
    const start = this.#grow(8);
    this.#bytes.writeBigInt64LE(value, start);
  }

  uint64(value: bigint): void {
    if (BigInt.asUintN(64, value) !== value) this.#refuse('unsigned long', value);
    const start = this.#grow(8);
    this.#bytes.writeBigUInt64LE(value, start);
  }

  /** Writes `value` unchanged; its length must be `count`. */
  raw(value: Uint8Array, count: number): void {
    if (value.length !== count) this.#refuse(`${count} bytes`, `${value.length} bytes`);
    const start = this.#grow(count);
    this.#bytes.set(value, start);
  }

  /** Writes TL `bytes`: length prefix, data, zero padding to 4 (service/liteserver/README.md#tl-encoding). */
  byteString(value: Uint8Array): void {
    const prefix = value.length < 254 ? 1 : value.length < 0x1000000 ? 4 : 8;
    const total = (prefix + value.length + 3) & ~3;
    const start = this.#grow(total);
    const bytes = this.#bytes;
    if (prefix === 1) {
      bytes[start] = value.length;
    } else {
      bytes[start] = prefix === 4 ? 254 : 255;
      bytes.writeUIntLE(value.length, start + 1, prefix === 4 ? 3 : 6);
      if (prefix === 8) bytes[start + 7] = 0;
    }
    bytes.set(value, start + prefix);
    bytes.fill(0, start + prefix + value.length, start + total);
  }

  /** Returns the bytes written so far. The writer must not be used any more. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#offset);
  }

  /** Makes room for `count` bytes and returns their start; may replace the buffer. */
  #grow(count: number): number {
    const start = this.#offset;
    const end = start + count;
    if (end > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(end + INITIAL_BYTES, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, start);
      this.#bytes = larger;
    }
    this.#offset = end;
    return start;
  }

  #checkInteger(value: number, min: number, max: number, what: string): void {
    if (!Number.isInteger(value) || value < min || value > max) this.#refuse(what, value);
  }

  #refuse(what: string, value: unknown): never {
    throw new TlError('tl_value', `${String(value)} does not fit ${what}`, { what, offset: this.#offset });
  }
}
