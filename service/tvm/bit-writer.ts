import type { CellStore } from '../decode/cell-store.ts';

/** Most bits of a cell. */
const CELL_BITS_MAX = 1023;

/** Gathers the bits and references of one cell of a store. Numbers must fit their length; the cell's bounds are checked by the store. */
export class BitWriter {
  readonly #data = Buffer.alloc((CELL_BITS_MAX + 7) >> 3);
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

  /** High bit first; negative numbers in two's complement. */
  int(value: bigint | number, bits: number): this {
    const digits = (bits + 7) >> 3;
    const hex = BigInt.asUintN(bits, BigInt(value)).toString(16);
    return this.copy(Buffer.from(hex.padStart(digits * 2, '0'), 'hex'), digits * 8 - bits, bits);
  }

  /** `VarUInteger n`: the number of bytes below n, then the bytes. */
  varUint(value: bigint, n: number): this {
    const bytes = value === 0n ? 0 : (value.toString(16).length + 1) >> 1;
    return this.int(bytes, 32 - Math.clz32(n - 1)).int(value, bytes * 8);
  }

  /** Whole bytes. */
  bytes(bytes: Uint8Array): this {
    return this.copy(bytes, 0, bytes.length * 8);
  }

  /** `count` bits from bit `start` of the source. */
  copy(source: Uint8Array, start: number, count: number): this {
    for (let at = start; at < start + count; at++) this.bit((source[at >> 3]! & (128 >> (at & 7))) !== 0);
    return this;
  }

  /** A cell of the store. */
  ref(cell: number): this {
    this.#refs.push(cell);
    return this;
  }

  /** `Maybe ^X`. */
  maybeRef(cell: number | undefined): this {
    this.bit(cell !== undefined);
    return cell === undefined ? this : this.ref(cell);
  }

  /** Puts the cell into the store. Throws DecodeError `bad_cell` when it has more than a cell may. */
  finish(store: CellStore): number {
    return store.add({ data: this.#data, bitLength: this.#length, refs: this.#refs });
  }
}
