import type { CellKind, CellTable } from '#service/decode/cell-table.ts';

/**
 * A table that records opened cells. A read through it records exactly the cells that a proof of the value must show. The node makes its
 * proofs the same way (service/liteserver/README.md#duties-of-a-server).
 *
 * A cell is opened when its data position is requested. Its kind, hashes, depths and references may be read without opening.
 */
export class VisitedCells implements CellTable {
  readonly source: CellTable;
  readonly root: number;
  readonly #opened = new Set<number>();

  constructor(source: CellTable, root: number) {
    this.source = source;
    this.root = root;
  }

  /** True when the cell's data was asked for. */
  opened(cell: number): boolean {
    return this.#opened.has(cell);
  }

  /** All opened cells. */
  cells(): ReadonlySet<number> {
    return this.#opened;
  }

  /** Opens a cell of any kind without reading it. */
  open(cell: number): void {
    this.#opened.add(cell);
  }

  /** Opens a cell and everything below it. */
  openAll(cell: number): void {
    const seen = new Set([cell]);
    for (const next of seen) {
      this.#opened.add(next);
      for (let position = 0; position < this.source.refCount(next); position++)
        seen.add(this.source.ref(next, position));
    }
  }

  get size(): number {
    return this.source.size;
  }

  get bytes(): Buffer {
    return this.source.bytes;
  }

  dataOffset(cell: number): number {
    this.#opened.add(cell);
    return this.source.dataOffset(cell);
  }

  kind(cell: number): CellKind {
    return this.source.kind(cell);
  }

  bitLength(cell: number): number {
    return this.source.bitLength(cell);
  }

  refCount(cell: number): number {
    return this.source.refCount(cell);
  }

  ref(cell: number, position: number): number {
    return this.source.ref(cell, position);
  }

  levelMask(cell: number): number {
    return this.source.levelMask(cell);
  }

  hash(cell: number, level?: number): Buffer {
    return this.source.hash(cell, level);
  }

  depth(cell: number, level?: number): number {
    return this.source.depth(cell, level);
  }

  hashEquals(cell: number, hash: Uint8Array, level?: number): boolean {
    return this.source.hashEquals(cell, hash, level);
  }

  hashPrefix(cell: number, level?: number): number {
    return this.source.hashPrefix(cell, level);
  }
}
