/** Kinds of cells. All except `ordinary` are exotic and start with the type byte 1..4 in this order. */
export type CellKind = 'ordinary' | 'pruned' | 'library' | 'merkleProof' | 'merkleUpdate';

/** Set of cells addressed by index; refs are indexes in the same table. */
export interface CellTable {
  readonly size: number;
  kind(cell: number): CellKind;
  /** 0..1023. */
  bitLength(cell: number): number;
  /** 0..4. */
  refCount(cell: number): number;
  /** Index of the cell's reference at `position`; throws DecodeError `cell_underflow` beyond the last. */
  ref(cell: number, position: number): number;
  /** 0..7: bit n is set when pruned branches of level n + 1 are below. */
  levelMask(cell: number): number;
  /**
   * Returns a fresh 32-byte copy; level 0..3, default 3 = representation hash. Computed on first use. Throws DecodeError `hash_mismatch` when a
   * Merkle cell or a stored hash below does not fit its children.
   */
  hash(cell: number, level?: number): Buffer;
  /** Longest path down to a leaf; level 0..3, default 3. */
  depth(cell: number, level?: number): number;
  /** True when both hashes of level `level` (default 3) are equal; makes no copy. */
  hashEquals(cell: number, hash: Uint8Array, level?: number): boolean;
  /** First 32 bits of a hash of level `level` (default 3): the key of tables over cells; makes no copy. */
  hashPrefix(cell: number, level?: number): number;
  /** Bytes with the data of the cells. */
  readonly bytes: Buffer;
  /** Byte offset of the cell's data in `bytes`; bits start at the high bit. */
  dataOffset(cell: number): number;
}

/** The chain's own bound of a cell's depth (`CellTraits::max_depth`). */
export const DEPTH_MAX = 1024;

/** Kinds by type byte. An ordinary cell has no type byte and comes first. */
export const CELL_KINDS: readonly CellKind[] = ['ordinary', 'pruned', 'library', 'merkleProof', 'merkleUpdate'];
/** Type bytes. */
export const [ORDINARY, PRUNED, LIBRARY, MERKLE_PROOF, MERKLE_UPDATE] = [0, 1, 2, 3, 4] as const;

/** Type byte of an exotic cell's kind; 0 for an ordinary one. */
export function kindCode(kind: CellKind): number {
  return CELL_KINDS.indexOf(kind);
}

/** Number of set bits of a level mask. */
export function maskCount(mask: number): number {
  return (mask & 1) + ((mask >> 1) & 1) + ((mask >> 2) & 1);
}

/** Bits of a mask up to a level: which levels below or at it have a hash of their own. */
export function maskBelow(mask: number, level: number): number {
  return mask & ((1 << level) - 1);
}
