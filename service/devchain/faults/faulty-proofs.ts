import type { Boc } from '#service/decode/boc.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { createCellStore, type CellStore } from '#service/decode/cell-store.ts';
import { addMerkleProof } from '#service/decode/merkle-builder.ts';
import { merkleProofRoot } from '#service/decode/merkle.ts';
import { VisitedCells } from '../collator/visited-cells.ts';

/**
 * Fault of a Merkle proof.
 * - `wrongHash`: it proves something else, consistently.
 * - `storedHash`: it proves something else, but its stored hash is still the right hash (service/proof/README.md#cells).
 * - `missingCell`: a cell on the way is pruned.
 */
export type ProofFault = 'wrongHash' | 'storedHash' | 'missingCell';

/** Returns the value with its first Merkle proof spoiled; unchanged without a proof. */
export function spoilProof(value: unknown, fault: ProofFault): unknown {
  let done = false;
  const visit = (part: unknown): unknown => {
    if (done) return part;
    if (Buffer.isBuffer(part)) {
      const boc = parseProof(part);
      if (boc === undefined) return part;
      done = true;
      return fault === 'missingCell' ? pruneDeepest(boc) : alter(boc, fault);
    }
    if (Array.isArray(part)) return part.map(visit);
    if (typeof part === 'object' && part !== null) {
      return Object.fromEntries(Object.entries(part).map(([name, field]) => [name, visit(field)]));
    }
    return part;
  };
  return visit(value);
}

/** A bag whose first root is a Merkle proof. */
function parseProof(bytes: Buffer): Boc | undefined {
  try {
    const boc = parseBoc(Buffer.from(bytes));
    return boc.kind(boc.roots[0]!) === 'merkleProof' ? boc : undefined;
  } catch {
    return undefined;
  }
}

/** Changes the last bit of a leaf under the first root. With `wrongHash` the proof's stored hash is adjusted. */
function alter(boc: Boc, fault: 'wrongHash' | 'storedHash'): Buffer {
  const proof = boc.roots[0]!;
  const leaf = below(boc, proof).findLast((cell) => boc.kind(cell) === 'ordinary' && boc.bitLength(cell) > 0)!;
  const bit = boc.dataOffset(leaf) * 8 + boc.bitLength(leaf) - 1;
  boc.bytes[bit >> 3]! ^= 128 >> (bit & 7);
  if (fault === 'wrongHash') boc.hash(boc.ref(proof, 0), 0).copy(boc.bytes, boc.dataOffset(proof) + 1);
  return boc.bytes;
}

/** Prunes the deepest cell under the last root's proof that has anything below it. */
function pruneDeepest(boc: Boc): Buffer {
  const store = createCellStore();
  const last = boc.roots.length - 1;
  return writeBoc(
    store,
    boc.roots.map((proof, position) => {
      if (position !== last) return store.import(boc, proof);
      const root = merkleProofRoot(boc, proof);
      const tree = new VisitedCells(boc, root);
      tree.openAll(root);
      const inner = below(boc, root).filter((cell) => boc.kind(cell) === 'ordinary' && boc.refCount(cell) > 0);
      const missing = inner.at(-1)!;
      return addMerkleProof(store, tree, new Map([[missing, addMissing(store, boc, missing)]]));
    }),
  );
}

/** Adds the branch that an honest proof would have there. Cells pruned below the cell do not show in it. */
function addMissing(store: CellStore, boc: Boc, cell: number): number {
  const data = Buffer.alloc(36);
  data.set([1, 1]);
  boc.hash(cell, 0).copy(data, 2);
  data.writeUInt16BE(boc.depth(cell, 0), 34);
  return store.add({ kind: 'pruned', data, bitLength: data.length * 8, refs: [] });
}

/** A cell and all below it, each once, nearest first. */
function below(boc: Boc, root: number): number[] {
  const seen = new Set([root]);
  for (const cell of seen) {
    for (let position = 0; position < boc.refCount(cell); position++) seen.add(boc.ref(cell, position));
  }
  return [...seen];
}
