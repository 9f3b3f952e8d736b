import type { CellTable } from '#service/decode/cell-table.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { createCellStore } from '#service/decode/cell-store.ts';

/** Returns numbers in [0, n) from a seed, so that every run makes the same mutations. */
export function seeded(seed: number): (n: number) => number {
  let state = seed >>> 0;
  return (n) => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % n;
  };
}

/** Returns the bytes with one bit flipped. */
export function flipBit(bytes: Buffer, bit: number): Buffer {
  const flipped = Buffer.from(bytes);
  flipped[bit >> 3]! ^= 128 >> (bit & 7);
  return flipped;
}

/** Returns true when two bags have the same roots, hash by hash, in any layout: the mutation changed nothing. */
export function sameRoots(a: Buffer, b: Buffer): boolean {
  const [first, second] = [parseBoc(a), parseBoc(b)];
  return (
    first.roots.length === second.roots.length &&
    first.roots.every((root, index) => first.hashEquals(root, second.hash(second.roots[index]!)))
  );
}

type Tree = { kind: ReturnType<CellTable['kind']>; data: Buffer; bitLength: number; refs: Tree[] };

/**
 * Flips one data bit of a cell below a Merkle root and writes the bag again. Every stored hash and depth of the Merkle cells above fits, as from a
 * forger who knows the format.
 */
export function forgeBit(bytes: Buffer, random: (n: number) => number): Buffer | undefined {
  return rewrite(bytes, (cells) => {
    const cell = pick(
      cells.filter(({ kind, bitLength }) => kind === 'ordinary' && bitLength > 0),
      random,
    );
    if (cell === undefined) return false;
    cell.data = flipBit(cell.data, random(cell.bitLength));
    return true;
  });
}

/** Flips one bit of a pruned cell's hash, and makes the cells above fit. */
export function forgePruned(bytes: Buffer, random: (n: number) => number): Buffer | undefined {
  return rewrite(bytes, (cells) => {
    const cell = pick(
      cells.filter(({ kind }) => kind === 'pruned'),
      random,
    );
    if (cell === undefined) return false;
    cell.data = flipBit(cell.data, 16 + random(256));
    return true;
  });
}

/** Replaces one ordinary cell below a Merkle proof by a pruned branch; all hashes still fit. */
export function pruneOne(bytes: Buffer, random: (n: number) => number): Buffer | undefined {
  const chosen = pick(ordinaryBelowProofs(parseBoc(bytes)), random);
  return chosen === undefined ? undefined : pruneCell(bytes, chosen);
}

/** Prunes the cell of this index in the bag, like `pruneOne`. */
export function pruneCell(bytes: Buffer, chosen: number): Buffer {
  const source = parseBoc(bytes);
  const build = (cell: number): Tree => {
    if (cell === chosen) return prunedOf(source, cell);
    return treeCell(source, cell, refsOf(source, cell).map(build));
  };
  return writeTrees(source.roots.map(build));
}

/** Returns the same roots in another layout. */
export function relayout(bytes: Buffer): Buffer {
  const boc = parseBoc(bytes);
  return writeBoc(boc, boc.roots, { crc32c: (bytes[4]! & 0x40) === 0 });
}

/** Returns cells with references that are reached from the proofs' roots without passing another exotic cell. */
function ordinaryBelowProofs(table: CellTable & { readonly roots: readonly number[] }): number[] {
  const found = new Set<number>();
  const visit = (cell: number): void => {
    if (table.kind(cell) !== 'ordinary' || found.has(cell)) return;
    found.add(cell);
    refsOf(table, cell).forEach(visit);
  };
  for (const root of table.roots) {
    if (table.kind(root) === 'merkleProof') visit(table.ref(root, 0));
  }
  return [...found].filter((cell) => (table.levelMask(cell) & ~1) === 0);
}

/** Returns the pruned branch of a cell. */
export function prunedOf(table: CellTable, cell: number): Tree {
  const data = Buffer.alloc(36);
  data[0] = 1;
  data[1] = 1;
  table.hash(cell, 0).copy(data, 2);
  data.writeUInt16BE(table.depth(cell, 0), 34);
  return { kind: 'pruned', data, bitLength: 288, refs: [] };
}

/** Writes a bag again after a change of its cells, which have the order of the table. Returns undefined when the change returns false. */
export function rewrite(bytes: Buffer, change: (cells: Tree[]) => boolean): Buffer | undefined {
  const table = parseBoc(bytes);
  const cells = Array.from({ length: table.size }, (_, cell) => treeCell(table, cell, []));
  cells.forEach((tree, cell) => (tree.refs = refsOf(table, cell).map((ref) => cells[ref]!)));
  return change(cells) ? writeTrees(table.roots.map((root) => cells[root]!)) : undefined;
}

/** Writes trees as a bag. Merkle cells get the hashes and depths of the cells that are below them now. */
function writeTrees(roots: readonly Tree[]): Buffer {
  const store = createCellStore();
  const placed = new Map<Tree, number>();
  const place = (tree: Tree): number => {
    const known = placed.get(tree);
    if (known !== undefined) return known;
    const refs = tree.refs.map(place);
    const data = Buffer.from(tree.data);
    if (tree.kind === 'merkleProof' || tree.kind === 'merkleUpdate') {
      refs.forEach((ref, index) => {
        store.hash(ref, 0).copy(data, 1 + 32 * index);
        data.writeUInt16BE(store.depth(ref, 0), 1 + 32 * refs.length + 2 * index);
      });
    }
    const cell = store.add({ kind: tree.kind, data, bitLength: tree.bitLength, refs });
    placed.set(tree, cell);
    return cell;
  };
  return writeBoc(store, roots.map(place));
}

function treeCell(table: CellTable, cell: number, refs: Tree[]): Tree {
  const bitLength = table.bitLength(cell);
  const offset = table.dataOffset(cell);
  return {
    kind: table.kind(cell),
    data: table.bytes.subarray(offset, offset + ((bitLength + 7) >> 3)),
    bitLength,
    refs,
  };
}

function refsOf(table: CellTable, cell: number): number[] {
  return Array.from({ length: table.refCount(cell) }, (_, position) => table.ref(cell, position));
}

function pick<T>(items: readonly T[], random: (n: number) => number): T | undefined {
  return items.length === 0 ? undefined : items[random(items.length)];
}
