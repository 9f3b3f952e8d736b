import { kindCode, ORDINARY } from './cell-table.ts';
import type { CellKind, CellTable } from './cell-table.ts';
import { DecodeError } from './errors.ts';
import { FlatCells } from './flat-cells.ts';

/** New cell: refs are indexes in the store; unused low bits of the data's last byte are ignored. */
export type NewCell = {
  readonly kind?: CellKind;
  readonly data: Uint8Array;
  readonly bitLength: number;
  readonly refs: readonly number[];
};

/** Growing table with one index for each hash. Indexes stay valid for the store's life. */
export interface CellStore extends CellTable {
  /** Copies a cell and all cells below it; returns its index here. Throws DecodeError `too_big` when the store is full. */
  import(table: CellTable, cell: number): number;
  /** Adds a cell, checked by the rules of its kind. Throws DecodeError `bad_cell`, `too_big`, `hash_mismatch`. */
  add(cell: NewCell): number;
  /** Returns the index of the cell with this representation hash. */
  find(hash: Uint8Array): number | undefined;
  /** Returns the index of the cell whose representation hash is that of `cell` in `table` at `level`. */
  findSame(table: CellTable, cell: number, level?: number): number | undefined;
  /** Adds a cell with the kind and data of `cell` in `table`, and references in the store. */
  addLike(table: CellTable, cell: number, refs: readonly number[]): number;
}

export type CellStoreOptions = {
  /** Most cells, some 150 bytes each. The default is 4 million: the states of a small private network. */
  readonly cellsMax?: number;
};

/** Creates an empty store. */
export function createCellStore(options: CellStoreOptions = {}): CellStore {
  return new StoredCells(options.cellsMax ?? 4_000_000);
}

const CELLS_AT_START = 128;
/** First capacity in bytes. The data of a cell in real blocks has some 30 bytes on average. */
const BYTES_AT_START = CELLS_AT_START * 32;

class StoredCells extends FlatCells implements CellStore {
  readonly #cellsMax: number;
  #bytesUsed = 0;
  /** Hash table with open addressing by the first 32 bits of the representation hash. An entry is a cell's index plus one. */
  #buckets = new Uint32Array(CELLS_AT_START * 2);

  constructor(cellsMax: number) {
    super(Buffer.alloc(BYTES_AT_START), CELLS_AT_START);
    this.#cellsMax = cellsMax;
  }

  find(hash: Uint8Array): number | undefined {
    const prefix = ((hash[0]! << 24) | (hash[1]! << 16) | (hash[2]! << 8) | hash[3]!) >>> 0;
    const entry = this.#buckets[this.#bucketOf(hash, prefix)]!;
    return entry === 0 ? undefined : entry - 1;
  }

  findSame(table: CellTable, cell: number, level = 3): number | undefined {
    return this.find(table.hash(cell, level));
  }

  add(cell: NewCell): number {
    const { data, bitLength, refs } = cell;
    if (bitLength < 0 || bitLength > 1023 || data.length * 8 < bitLength || refs.length > 4) {
      throw new DecodeError('bad_cell', 'A cell has at most 1023 bits and 4 references.', { found: bitLength });
    }
    const kind = kindCode(cell.kind ?? 'ordinary');
    if (kind !== ORDINARY && (bitLength < 8 || data[0] !== kind)) {
      throw new DecodeError('bad_cell', 'An exotic cell starts with its type.', { found: data[0] ?? 0 });
    }
    for (const ref of refs) {
      if (!(ref >= 0 && ref < this.size))
        throw new DecodeError('bad_cell', 'A reference is not in the store.', { found: ref });
    }
    return this.#append(kind, data, 0, bitLength, refs);
  }

  addLike(table: CellTable, cell: number, refs: readonly number[]): number {
    return this.#append(kindCode(table.kind(cell)), table.bytes, table.dataOffset(cell), table.bitLength(cell), refs);
  }

  import(table: CellTable, root: number): number {
    const known = this.findSame(table, root);
    if (known !== undefined) return known;
    const placed = new Map<number, number>();
    const stack = [root];
    while (stack.length > 0) {
      const cell = stack[stack.length - 1]!;
      const waiting = stack.length;
      const refs: number[] = [];
      for (let position = 0; position < table.refCount(cell); position++) {
        const child = table.ref(cell, position);
        const at = placed.get(child) ?? this.findSame(table, child);
        if (at === undefined) stack.push(child);
        else refs.push(at);
      }
      if (stack.length > waiting) continue;
      stack.pop();
      if (!placed.has(cell)) placed.set(cell, this.addLike(table, cell, refs));
    }
    return placed.get(root)!;
  }

  /** Adds the cell after the last one. If an equal one exists or the cell is bad, the cell is removed again. */
  #append(kind: number, source: Uint8Array, offset: number, bits: number, refs: readonly number[]): number {
    this.#reserve();
    const cell = this.size;
    const length = (bits + 7) >> 3;
    const at = this.#bytesUsed;
    this.bytes.set(source.subarray(offset, offset + length), at);
    // The completion tag is a 1 after the last bit, then zeros.
    if ((bits & 7) !== 0) {
      const tag = 128 >> (bits & 7);
      this.bytes[at + length - 1] = (this.bytes[at + length - 1]! & -tag) | tag;
    }
    const mark = this.slotMark;
    try {
      this.place(cell, kind, at, bits, refs.length);
      refs.forEach((ref, position) => this.setRef(cell, position, ref));
      this.settle(cell);
      const hash = this.hash(cell);
      const bucket = this.#bucketOf(hash, hash.readUInt32BE(0));
      const entry = this.#buckets[bucket]!;
      if (entry !== 0) return entry - 1;
      this.#buckets[bucket] = cell + 1;
      this.#bytesUsed += length;
      this.size++;
      return cell;
    } finally {
      if (this.size === cell) this.slotMark = mark;
    }
  }

  /** Returns the bucket with the hash, or the free one where it belongs. */
  #bucketOf(hash: Uint8Array, prefix: number): number {
    const mask = this.#buckets.length - 1;
    for (let bucket = prefix & mask; ; bucket = (bucket + 1) & mask) {
      const entry = this.#buckets[bucket]!;
      if (entry === 0 || this.hashEquals(entry - 1, hash)) return bucket;
    }
  }

  #reserve(): void {
    if (this.size >= this.#cellsMax) {
      throw new DecodeError('too_big', 'The cell store is full.', { found: this.size, limit: this.#cellsMax });
    }
    if (this.size + 1 > this.capacity) this.grow(this.capacity * 2);
    if (this.#bytesUsed + 128 > this.bytes.length) {
      const bytes = Buffer.allocUnsafeSlow(this.bytes.length * 2);
      this.bytes.copy(bytes, 0, 0, this.#bytesUsed);
      this.bytes = bytes;
    }
    if (this.size * 2 >= this.#buckets.length) this.#rehash();
  }

  #rehash(): void {
    const old = this.#buckets;
    this.#buckets = new Uint32Array(old.length * 2);
    const mask = this.#buckets.length - 1;
    for (const entry of old) {
      if (entry === 0) continue;
      let bucket = this.hashPrefix(entry - 1) & mask;
      while (this.#buckets[bucket] !== 0) bucket = (bucket + 1) & mask;
      this.#buckets[bucket] = entry;
    }
  }
}
