import { copyHash, hashRepresentation, isHashAt, representation } from './cell-hash.ts';
import { CELL_KINDS, DEPTH_MAX, LIBRARY, maskBelow, maskCount, MERKLE_PROOF, ORDINARY, PRUNED } from './cell-table.ts';
import type { CellKind, CellTable } from './cell-table.ts';
import { DecodeError } from './errors.ts';
import { ownBytes } from './own-bytes.ts';

function wrongShape(cell: number, kind: number): DecodeError {
  return new DecodeError('bad_cell', `A ${CELL_KINDS[kind]} cell has a wrong shape.`, { cell });
}

/** Bytes of a cell in all arrays but those of depths and hashes. */
const CELL_BYTES = 31;

/**
 * Cells in flat typed arrays over one byte buffer. The owner sets a cell's shape (`place`, `setRef`), then calls `settle` once all its references are
 * settled. From then on the cell is immutable.
 *
 * A cell has one hash and one depth for each significant level: its level mask's bits and one more. They are consecutive from `slot` on. `settle`
 * computes depths; hashes are computed on demand.
 */
export class FlatCells implements CellTable {
  bytes: Buffer;
  size = 0;
  #slots = 0;
  #offset!: Uint32Array;
  #slot!: Uint32Array;
  #ref!: Uint32Array;
  #bits!: Uint16Array;
  #kind!: Uint8Array;
  #mask!: Uint8Array;
  #refCount!: Uint8Array;
  #hashed!: Uint8Array;
  /** 1 when the bag stores the cell's hashes and depths before its data. */
  #stored!: Uint8Array;
  #depths: Uint16Array;
  #hashes: Buffer = Buffer.alloc(0);

  constructor(bytes: Buffer, capacity: number) {
    this.bytes = bytes;
    this.#allocate(capacity);
    this.#depths = new Uint16Array(capacity);
  }

  /** Creates the arrays over one block of memory, because a block for each array takes most of the time to read a small bag. */
  #allocate(capacity: number): void {
    const block = new ArrayBuffer(capacity * CELL_BYTES);
    this.#offset = new Uint32Array(block, 0, capacity);
    this.#slot = new Uint32Array(block, capacity * 4, capacity);
    this.#ref = new Uint32Array(block, capacity * 8, capacity * 4);
    this.#bits = new Uint16Array(block, capacity * 24, capacity);
    this.#kind = new Uint8Array(block, capacity * 26, capacity);
    this.#mask = new Uint8Array(block, capacity * 27, capacity);
    this.#refCount = new Uint8Array(block, capacity * 28, capacity);
    this.#hashed = new Uint8Array(block, capacity * 29, capacity);
    this.#stored = new Uint8Array(block, capacity * 30, capacity);
  }

  get capacity(): number {
    return this.#offset.length;
  }

  /** Makes room for `capacity` cells. */
  grow(capacity: number): void {
    const arrays = this.#arrays();
    this.#allocate(capacity);
    for (const [at, array] of this.#arrays().entries()) array.set(arrays[at]!);
  }

  #arrays(): (Uint8Array | Uint16Array | Uint32Array)[] {
    const words = [this.#offset, this.#slot, this.#ref];
    return [...words, this.#bits, this.#kind, this.#mask, this.#refCount, this.#hashed, this.#stored];
  }

  kind(cell: number): CellKind {
    return CELL_KINDS[this.#kind[cell]!]!;
  }

  bitLength(cell: number): number {
    return this.#bits[cell]!;
  }

  refCount(cell: number): number {
    return this.#refCount[cell]!;
  }

  ref(cell: number, position: number): number {
    if (position >= this.#refCount[cell]!) {
      throw new DecodeError('cell_underflow', 'The cell has fewer references.', { cell, found: position });
    }
    return this.#ref[cell * 4 + position]!;
  }

  levelMask(cell: number): number {
    return this.#mask[cell]!;
  }

  dataOffset(cell: number): number {
    return this.#offset[cell]!;
  }

  depth(cell: number, level = 3): number {
    return this.#depths[this.#slotAt(cell, level)]!;
  }

  hash(cell: number, level = 3): Buffer {
    const copy = ownBytes(32);
    if (level === 0 && this.#kind[cell] === PRUNED) {
      // The hash of the cell behind a pruned branch is in the branch's data.
      copyHash(this.bytes, this.#offset[cell]! + 2, copy, 0);
      return copy;
    }
    const at = this.#hashAt(cell, level);
    copyHash(this.#hashes, at, copy, 0);
    return copy;
  }

  hashEquals(cell: number, hash: Uint8Array, level = 3): boolean {
    const at = this.#hashAt(cell, level);
    return isHashAt(this.#hashes, at, hash);
  }

  /** Returns the first 32 bits of a hash: the key of hash tables over cells. */
  hashPrefix(cell: number, level = 3): number {
    const at = this.#hashAt(cell, level);
    return this.#hashes.readUInt32BE(at);
  }

  /** Sets a cell's own shape. `stored`: `bytes` have its hashes and depths right before `offset`. */
  place(cell: number, kind: number, offset: number, bits: number, refs: number, stored = false): void {
    this.#kind[cell] = kind;
    this.#offset[cell] = offset;
    this.#bits[cell] = bits;
    this.#refCount[cell] = refs;
    this.#hashed[cell] = 0;
    this.#stored[cell] = stored ? 1 : 0;
  }

  setRef(cell: number, position: number, target: number): void {
    this.#ref[cell * 4 + position] = target;
  }

  /**
   * Checks the cell by the rules of its kind and computes mask and depths; references must be settled.
   * Throws DecodeError `bad_cell`, `too_big`, and `hash_mismatch` for a stored depth.
   */
  settle(cell: number): void {
    const kind = this.#kind[cell]!;
    const mask = kind === ORDINARY ? this.#childMask(cell) : this.#exoticMask(cell, kind);
    if (kind === ORDINARY && mask === 0 && this.#stored[cell] === 0) {
      this.#settlePlain(cell);
      return;
    }
    this.#mask[cell] = mask;
    const slot = this.#slots;
    this.#slot[cell] = slot;
    this.#slots += maskCount(mask) + 1;
    if (this.#depths.length < this.#slots) this.#growDepths();
    if (kind === PRUNED) this.#settlePrunedDepths(cell, mask, slot);
    else this.#settleDepths(cell, kind, mask, slot);
    if (this.#stored[cell] === 1) this.#checkStoredDepths(cell, mask, slot);
    if (kind >= MERKLE_PROOF) this.#checkMerkleDepths(cell, kind);
  }

  /** Slot for the hashes of the next settled cell. Set it back to remove the last cell. */
  get slotMark(): number {
    return this.#slots;
  }

  set slotMark(slots: number) {
    this.#slots = slots;
  }

  /** Computes the cell's hashes, and those of all cells below without hashes. Uses its own stack, so depth costs no frames. */
  ensureHash(cell: number): void {
    if (this.#hashed[cell] === 1) return;
    this.#growHashes();
    const hashed = this.#hashed;
    const refs = this.#ref;
    const stack = [cell];
    while (stack.length > 0) {
      const top = stack[stack.length - 1]!;
      if (hashed[top] === 1) {
        stack.pop();
        continue;
      }
      const waiting = stack.length;
      for (let position = 0; position < this.#refCount[top]!; position++) {
        const child = refs[top * 4 + position]!;
        if (hashed[child] === 0) stack.push(child);
      }
      if (stack.length > waiting) continue;
      this.#computeHashes(top);
      hashed[top] = 1;
      stack.pop();
    }
  }

  #slotAt(cell: number, level: number): number {
    const mask = this.#mask[cell]!;
    const slot = this.#slot[cell]!;
    return mask === 0 ? slot : slot + maskCount(maskBelow(mask, level));
  }

  /** Returns the offset of a hash. Call it before reading `#hashes`, because it may move hashes to a larger array. */
  #hashAt(cell: number, level: number): number {
    if (this.#hashed[cell] === 0) this.ensureHash(cell);
    return this.#slotAt(cell, level) * 32;
  }

  #childMask(cell: number): number {
    let mask = 0;
    for (let position = 0; position < this.#refCount[cell]!; position++) {
      mask |= this.#mask[this.#ref[cell * 4 + position]!]!;
    }
    return mask;
  }

  /** Checks sizes and masks of exotic cells, by the rules of `DataCell::create`. */
  #exoticMask(cell: number, kind: number): number {
    const bits = this.#bits[cell]!;
    const refs = this.#refCount[cell]!;
    if (kind === PRUNED) {
      const mask = bits >= 16 ? this.bytes[this.#offset[cell]! + 1]! : 0;
      if (refs !== 0 || mask < 1 || mask > 7 || bits !== 8 * (2 + 34 * maskCount(mask))) throw wrongShape(cell, kind);
      return mask;
    }
    if (kind === LIBRARY) {
      if (bits !== 8 + 256) throw wrongShape(cell, kind);
      return 0;
    }
    const children = kind === MERKLE_PROOF ? 1 : 2;
    if (bits !== 8 + children * (256 + 16) || refs !== children) throw wrongShape(cell, kind);
    return this.#childMask(cell) >> 1;
  }

  /** Settles the common case in few steps: no exotic cells below, one depth. */
  #settlePlain(cell: number): void {
    const slot = this.#slots++;
    if (this.#depths.length < this.#slots) this.#growDepths();
    this.#mask[cell] = 0;
    this.#slot[cell] = slot;
    let depth = 0;
    const end = cell * 4 + this.#refCount[cell]!;
    for (let at = cell * 4; at < end; at++) {
      const below = this.#depths[this.#slot[this.#ref[at]!]!]! + 1;
      if (below > depth) depth = below;
    }
    this.#setDepth(cell, slot, depth);
  }

  #settleDepths(cell: number, kind: number, mask: number, slot: number): void {
    const shift = kind >= MERKLE_PROOF ? 1 : 0;
    const refs = this.#refCount[cell]!;
    let at = slot;
    for (let level = 0; level <= 3; level++) {
      if (level > 0 && (mask & (1 << (level - 1))) === 0) continue;
      let depth = 0;
      for (let position = 0; position < refs; position++) {
        const below = this.#depths[this.#slotAt(this.#ref[cell * 4 + position]!, level + shift)]! + 1;
        if (below > depth) depth = below;
      }
      this.#setDepth(cell, at++, depth);
      if (mask === 0) return;
    }
  }

  #settlePrunedDepths(cell: number, mask: number, slot: number): void {
    const count = maskCount(mask);
    const depths = this.#offset[cell]! + 2 + 32 * count;
    for (let at = 0; at < count; at++) this.#setDepth(cell, slot + at, this.bytes.readUInt16BE(depths + 2 * at));
    this.#depths[slot + count] = 0;
  }

  #setDepth(cell: number, slot: number, depth: number): void {
    if (depth > DEPTH_MAX) {
      throw new DecodeError('too_big', 'Cells are nested too deep.', { cell, found: depth, limit: DEPTH_MAX });
    }
    this.#depths[slot] = depth;
  }

  #checkStoredDepths(cell: number, mask: number, slot: number): void {
    const count = maskCount(mask) + 1;
    const stored = this.#offset[cell]! - 2 * count;
    for (let at = 0; at < count; at++) {
      if (this.bytes.readUInt16BE(stored + 2 * at) !== this.#depths[slot + at]) {
        throw new DecodeError('hash_mismatch', 'The bag stores a wrong depth.', { cell });
      }
    }
  }

  #checkMerkleDepths(cell: number, kind: number): void {
    const children = kind - MERKLE_PROOF + 1;
    const depths = this.#offset[cell]! + 1 + 32 * children;
    for (let child = 0; child < children; child++) {
      if (this.bytes.readUInt16BE(depths + 2 * child) !== this.depth(this.#ref[cell * 4 + child]!, 0)) {
        throw new DecodeError('hash_mismatch', 'A Merkle cell stores a wrong depth.', { cell });
      }
    }
  }

  #computeHashes(cell: number): void {
    const kind = this.#kind[cell]!;
    const mask = this.#mask[cell]!;
    const slot = this.#slot[cell]!;
    if (kind >= MERKLE_PROOF) this.#checkMerkleHashes(cell, kind);
    if (mask === 0) {
      hashRepresentation(this.#writeRepresentation(cell, kind, 0, 0, -1), this.#hashes, slot * 32);
    } else if (kind === PRUNED) {
      const count = maskCount(mask);
      const stored = this.#offset[cell]! + 2;
      this.bytes.copy(this.#hashes, slot * 32, stored, stored + 32 * count);
      hashRepresentation(this.#writeRepresentation(cell, kind, mask, 0, -1), this.#hashes, (slot + count) * 32);
    } else {
      this.#computeLevelHashes(cell, kind, mask, slot);
    }
    if (this.#stored[cell] === 1) this.#checkStoredHashes(cell, mask, slot);
  }

  /** Computes hashes of all levels. Each significant level hashes the level below it instead of the data. */
  #computeLevelHashes(cell: number, kind: number, mask: number, slot: number): void {
    let at = slot;
    for (let level = 0; level <= 3; level++) {
      if (level > 0 && (mask & (1 << (level - 1))) === 0) continue;
      const length = this.#writeRepresentation(cell, kind, maskBelow(mask, level), level, at === slot ? -1 : at - 1);
      hashRepresentation(length, this.#hashes, at * 32);
      at++;
    }
  }

  /** Writes descriptors, data (or the hash in slot `below`), then depths and hashes of the references. Returns the length. */
  #writeRepresentation(cell: number, kind: number, mask: number, level: number, below: number): number {
    const refs = this.#refCount[cell]!;
    const bits = this.#bits[cell]!;
    const hashes = this.#hashes;
    const out = representation;
    out[0] = refs + (kind === ORDINARY ? 0 : 8) + 32 * mask;
    out[1] = (bits >> 3) + ((bits + 7) >> 3);
    let at = 2;
    if (below < 0) {
      const offset = this.#offset[cell]!;
      const length = (bits + 7) >> 3;
      const bytes = this.bytes;
      if (length > 24) bytes.copy(out, at, offset, offset + length);
      else for (let index = 0; index < length; index++) out[at + index] = bytes[offset + index]!;
      at += length;
    } else {
      copyHash(hashes, below * 32, out, at);
      at += 32;
    }
    const childLevel = kind >= MERKLE_PROOF ? level + 1 : level;
    let hashAt = at + 2 * refs;
    for (let position = 0; position < refs; position++) {
      const slot = this.#slotAt(this.#ref[cell * 4 + position]!, childLevel);
      const depth = this.#depths[slot]!;
      out[at++] = depth >> 8;
      out[at++] = depth & 255;
      copyHash(hashes, slot * 32, out, hashAt);
      hashAt += 32;
    }
    return hashAt;
  }

  #checkMerkleHashes(cell: number, kind: number): void {
    const offset = this.#offset[cell]! + 1;
    for (let child = 0; child <= kind - MERKLE_PROOF; child++) {
      const at = this.#slotAt(this.#ref[cell * 4 + child]!, 0) * 32;
      const stored = offset + 32 * child;
      if (this.bytes.compare(this.#hashes, at, at + 32, stored, stored + 32) !== 0) {
        throw new DecodeError('hash_mismatch', 'A Merkle cell stores a wrong hash.', { cell });
      }
    }
  }

  #checkStoredHashes(cell: number, mask: number, slot: number): void {
    const count = maskCount(mask) + 1;
    const stored = this.#offset[cell]! - 34 * count;
    if (this.bytes.compare(this.#hashes, slot * 32, (slot + count) * 32, stored, stored + 32 * count) !== 0) {
      throw new DecodeError('hash_mismatch', 'The bag stores a wrong hash.', { cell });
    }
  }

  #growDepths(): void {
    const depths = new Uint16Array(Math.max(this.#slots, this.#offset.length) + (this.#slots >> 1) + 16);
    depths.set(this.#depths);
    this.#depths = depths;
  }

  #growHashes(): void {
    if (this.#hashes.length >= this.#slots * 32) return;
    const hashes = Buffer.allocUnsafeSlow(this.#depths.length * 32);
    this.#hashes.copy(hashes);
    this.#hashes = hashes;
  }
}
