import type { CellTable } from './cell-table.ts';
import { DecodeError } from './errors.ts';
import { ownBytes } from './own-bytes.ts';
import type { ReadBudget } from './read-budget.ts';

/** Two halves to be read as one number. Combining two big integers costs three times as much. */
const halves = new DataView(new ArrayBuffer(8));

/**
 * Reading position in one ordinary cell. Every read beyond the end throws DecodeError `cell_underflow`. Opening a pruned cell throws `pruned_branch`,
 * another exotic one `exotic_cell`.
 */
export class CellSlice {
  readonly table: CellTable;
  readonly cell: number;
  /** Budget that pays a step for each reference. Undefined for data of blocks and states, whose size validators bound. */
  readonly budget: ReadBudget | undefined;
  readonly #bytes: Buffer;
  /** Position in bits from the start of `#bytes`. */
  #at: number;
  readonly #end: number;
  #nextRef = 0;
  readonly #refs: number;

  constructor(table: CellTable, cell: number, budget?: ReadBudget) {
    const kind = table.kind(cell);
    if (kind !== 'ordinary') {
      throw kind === 'pruned'
        ? new DecodeError('pruned_branch', 'A value is pruned from the proof.', { cell })
        : new DecodeError('exotic_cell', `A ${kind} cell stands where a value is wanted.`, { cell });
    }
    this.table = table;
    this.cell = cell;
    this.budget = budget;
    this.#bytes = table.bytes;
    this.#at = table.dataOffset(cell) * 8;
    this.#end = this.#at + table.bitLength(cell);
    this.#refs = table.refCount(cell);
  }

  get remainingBits(): number {
    return this.#end - this.#at;
  }

  get remainingRefs(): number {
    return this.#refs - this.#nextRef;
  }

  /** Bits read so far. */
  get position(): number {
    return this.#at - this.table.dataOffset(this.cell) * 8;
  }

  #advance(bits: number): number {
    const at = this.#at;
    if (at + bits > this.#end) {
      throw new DecodeError('cell_underflow', 'The cell has fewer bits than its type needs.', {
        cell: this.cell,
        found: bits,
      });
    }
    this.#at = at + bits;
    return at;
  }

  bit(): boolean {
    const at = this.#advance(1);
    return (this.#bytes[at >> 3]! & (128 >> (at & 7))) !== 0;
  }

  /** Returns the bit that is `ahead` bits from here, which must be in the cell, without moving. */
  bitAhead(ahead: number): 0 | 1 {
    const at = this.#at + ahead;
    return (this.#bytes[at >> 3]! & (128 >> (at & 7))) === 0 ? 0 : 1;
  }

  /** Returns 1..32 bits that are `ahead` bits from here, which must be in the cell, without moving. */
  uintAhead(ahead: number, bits: number): number {
    return this.#bitsAt(this.#at + ahead, bits);
  }

  /** Unsigned, 0..32 bits. */
  uint(bits: number): number {
    return bits === 0 ? 0 : this.#bitsAt(this.#advance(bits), bits);
  }

  /** Reads like `uint`, without moving. */
  peekUint(bits: number): number {
    const value = this.uint(bits);
    this.#at -= bits;
    return value;
  }

  /** Signed (two's complement), 1..32 bits. */
  int(bits: number): number {
    return (this.uint(bits) << (32 - bits)) >> (32 - bits);
  }

  uint64(): bigint {
    const at = this.#advance(64);
    halves.setUint32(0, this.#bitsAt(at, 32));
    halves.setUint32(4, this.#bitsAt(at + 32, 32));
    return halves.getBigUint64(0);
  }

  int64(): bigint {
    return BigInt.asIntN(64, this.uint64());
  }

  /** Unsigned, any length. */
  uintBig(bits: number): bigint {
    if (bits <= 32) return BigInt(this.uint(bits));
    let at = this.#advance(bits);
    const head = bits & 31;
    let value = head === 0 ? 0n : BigInt(this.#bitsAt(at, head));
    at += head;
    for (let rest = bits - head; rest > 0; rest -= 32, at += 32) value = (value << 32n) | BigInt(this.#bitsAt(at, 32));
    return value;
  }

  /** Signed (two's complement), any length. */
  intBig(bits: number): bigint {
    return BigInt.asIntN(bits, this.uintBig(bits));
  }

  /** `VarUInteger n`: a length below `n` (n: 3, 7, 16 or 32), then as many bytes. */
  varUint(n: number): bigint {
    return this.#uintBytes(this.uint(32 - Math.clz32(n - 1)));
  }

  /** `Grams`, which is `VarUInteger 16`, in nanotons. */
  coins(): bigint {
    return this.#uintBytes(this.uint(4));
  }

  /** `VarUInteger n` with n at most 7, which fits a number: gas, cells, bits. */
  varUintNumber(n: 3 | 7): number {
    const bits = 8 * this.uint(32 - Math.clz32(n - 1));
    if (bits <= 32) return this.uint(bits);
    return this.uint(bits - 32) * 0x1_0000_0000 + this.uint(32);
  }

  /** Skips `VarUInteger n`. */
  skipVarUint(n: number): void {
    this.#advance(8 * this.uint(32 - Math.clz32(n - 1)));
  }

  #uintBytes(bytes: number): bigint {
    if (bytes <= 4) return BigInt(this.uint(bytes * 8));
    // Up to 48 bits fit a number exactly and are cheaper there.
    if (bytes <= 6) {
      const at = this.#advance(bytes * 8);
      const high = bytes * 8 - 32;
      return BigInt(this.#bitsAt(at, high) * 0x1_0000_0000 + this.#bitsAt(at + high, 32));
    }
    return this.uintBig(bytes * 8);
  }

  /** Returns a fresh copy of the next `count` bytes, at any bit position. */
  bytes(count: number): Buffer {
    const target = ownBytes(count);
    this.bytesTo(target, 0, count);
    return target;
  }

  /** Copies the next `count` bytes, at any bit position, to `offset` of the target. */
  bytesTo(target: Buffer, offset: number, count: number): void {
    this.#copyBits(this.#advance(count * 8), target, offset, count);
  }

  /** Returns a fresh 32-byte copy. */
  hash(): Buffer {
    return this.bytes(32);
  }

  /** Returns the next bits as a buffer, high bit first, with zero bits after the last. */
  bits(count: number): Buffer {
    const at = this.#advance(count);
    const target = ownBytes((count + 7) >> 3);
    this.#copyBits(at, target, 0, count >> 3);
    const rest = count & 7;
    if (rest > 0) target[count >> 3] = this.#bitsAt(at + count - rest, rest) << (8 - rest);
    return target;
  }

  skip(bits: number): void {
    this.#advance(bits);
  }

  /** Returns the index of the next reference's cell. Throws DecodeError `too_big` when the slice's budget is spent. */
  ref(): number {
    if (this.#nextRef >= this.#refs) {
      throw new DecodeError('cell_underflow', 'The cell has fewer references than its type needs.', {
        cell: this.cell,
      });
    }
    this.budget?.step();
    return this.table.ref(this.cell, this.#nextRef++);
  }

  /** `Maybe ^X`: the cell's index if the bit is set. */
  maybeRef(): number | undefined {
    return this.bit() ? this.ref() : undefined;
  }

  /** Returns a reader of the next reference's cell, with the same budget. */
  refSlice(): this {
    return new CellSlice(this.table, this.ref(), this.budget) as this;
  }

  /** `Maybe ^X`: a reader of the cell if the bit is set. */
  maybeRefSlice(): this | undefined {
    return this.bit() ? this.refSlice() : undefined;
  }

  /** Returns a copy at the same position, with the same budget. */
  clone(): this {
    return this.#copy(this.budget) as this;
  }

  /** Returns a copy at the same position that takes from another budget. */
  within(budget: ReadBudget): ContractSlice {
    return this.#copy(budget) as ContractSlice;
  }

  #copy(budget: ReadBudget | undefined): CellSlice {
    const copy = new CellSlice(this.table, this.cell, budget);
    copy.#at = this.#at;
    copy.#nextRef = this.#nextRef;
    return copy;
  }

  /** Reads `bits` bits and throws DecodeError `bad_tag` unless they are `tag`. */
  expectTag(bits: number, tag: number, type: string): void {
    const found = this.uint(bits);
    if (found !== tag) throw new DecodeError('bad_tag', `The cell is no ${type}.`, { cell: this.cell, type, found });
  }

  /** Returns 1..32 bits at a bit position that is known to be inside the cell. */
  #bitsAt(at: number, bits: number): number {
    const bytes = this.#bytes;
    const byte = at >> 3;
    const shift = at & 7;
    const window = (bytes[byte]! << 24) | (bytes[byte + 1]! << 16) | (bytes[byte + 2]! << 8) | bytes[byte + 3]!;
    if (shift + bits <= 32) return (window << shift) >>> (32 - bits);
    return ((window << shift) | (bytes[byte + 4]! >> (8 - shift))) >>> (32 - bits);
  }

  #copyBits(at: number, target: Buffer, offset: number, count: number): void {
    const bytes = this.#bytes;
    const shift = at & 7;
    let from = at >> 3;
    const end = offset + count;
    if (shift === 0) {
      // Few bytes are copied individually, because a call costs more.
      if (count > 48) bytes.copy(target, offset, from, from + count);
      else for (let to = offset; to < end; to++, from++) target[to] = bytes[from]!;
      return;
    }
    let here = bytes[from]!;
    for (let to = offset; to < end; to++) {
      const next = bytes[++from]!;
      target[to] = (here << shift) | (next >> (8 - shift));
      here = next;
    }
  }
}

/** Reading position in data of a contract or a caller, with a budget for each step. */
export type ContractSlice = CellSlice & { readonly budget: ReadBudget };
