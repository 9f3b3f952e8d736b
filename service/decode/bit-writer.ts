import type { CellSlice } from './cell-slice.ts';
import type { CellStore } from './cell-store.ts';
import { DecodeError } from './errors.ts';

/** Bytes for the 1023 bits of the fullest cell. */
const CELL_BYTES_MAX = 128;

/** Collects the bits and references of one cell of a store. Numbers must fit their length; the store checks the cell's bounds. */
export class BitWriter {
  readonly #data = Buffer.alloc(CELL_BYTES_MAX);
  readonly #refs: number[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get refCount(): number {
    return this.#refs.length;
  }

  bit(set: boolean): this {
    if (set) this.#data[this.#length >> 3]! |= 128 >> (this.#length & 7);
    this.#length++;
    return this;
  }

  /** Writes an unsigned number of 0..32 bits; faster than `int`. */
  uint(value: number, bits: number): this {
    for (let left = bits; left > 0;) {
      const room = 8 - (this.#length & 7);
      const count = Math.min(room, left);
      left -= count;
      this.#data[this.#length >> 3]! |= ((value >>> left) & ((1 << count) - 1)) << (room - count);
      this.#length += count;
    }
    return this;
  }

  /** Writes a number, high bit first; negative numbers in two's complement. */
  int(value: bigint | number, bits: number): this {
    if (bits <= 32 && typeof value === 'number') return this.uint(value >>> 0, bits);
    const whole = BigInt.asUintN(bits, BigInt(value));
    if (bits <= 64) {
      if (bits > 32) this.uint(Number(whole >> 32n), bits - 32);
      return this.uint(Number(whole & 0xffff_ffffn), Math.min(bits, 32));
    }
    const digits = (bits + 7) >> 3;
    return this.copy(Buffer.from(whole.toString(16).padStart(digits * 2, '0'), 'hex'), digits * 8 - bits, bits);
  }

  /** Writes `VarUInteger n`: the number of bytes below n, then the bytes. Throws DecodeError `bad_value` below zero. */
  varUint(value: bigint, n: number): this {
    if (value < 0n) throw new DecodeError('bad_value', 'An amount is below zero.', { found: Number(value), limit: 0 });
    const bytes = value === 0n ? 0 : (value.toString(16).length + 1) >> 1;
    return this.uint(bytes, 32 - Math.clz32(n - 1)).int(value, bytes * 8);
  }

  /** Writes `Grams`, which is `VarUInteger 16`, in nanotons. */
  coins(value: bigint): this {
    return this.varUint(value, 16);
  }

  /** Writes whole bytes. */
  bytes(bytes: Uint8Array): this {
    return this.copy(bytes, 0, bytes.length * 8);
  }

  /** Writes `count` bits from bit `start` of the source. */
  copy(source: Uint8Array, start: number, count: number): this {
    if (((start | this.#length | count) & 7) === 0) {
      this.#data.set(source.subarray(start >> 3, (start + count) >> 3), this.#length >> 3);
      this.#length += count;
      return this;
    }
    let at = start;
    for (const end = start + count; at < end;) {
      const taken = Math.min(8 - (at & 7), end - at);
      this.uint((source[at >> 3]! >> (8 - (at & 7) - taken)) & ((1 << taken) - 1), taken);
      at += taken;
    }
    return this;
  }

  /** Writes the rest of a slice; its references must be cells of the store that this cell goes to. */
  rest(slice: CellSlice): this {
    const count = slice.remainingBits;
    this.copy(slice.bits(count), 0, count);
    while (slice.remainingRefs > 0) this.#refs.push(slice.ref());
    return this;
  }

  /** Adds a reference to a cell of the store. */
  ref(cell: number): this {
    this.#refs.push(cell);
    return this;
  }

  /** Writes `Maybe ^X`. */
  maybeRef(cell: number | undefined): this {
    this.bit(cell !== undefined);
    return cell === undefined ? this : this.ref(cell);
  }

  /** Puts the cell into the store. Throws DecodeError `bad_cell` when it exceeds the size of a cell. */
  finish(store: CellStore): number {
    return store.add({ data: this.#data, bitLength: this.#length, refs: this.#refs });
  }
}
