import type { CellTable } from './cell-table.ts';
import type { CellStore } from './cell-store.ts';
import { DecodeError } from './errors.ts';

/** Two sides of a Merkle update: hashes are of level 0, roots are cells of the same table. */
export type MerkleUpdate = {
  readonly oldHash: Buffer;
  readonly newHash: Buffer;
  readonly oldRoot: number;
  readonly newRoot: number;
};

/**
 * Returns the index of the cell that a Merkle proof stands for. The stored hash and depth are compared with the recomputed ones. The caller compares
 * `hash(result, 0)` with the trusted hash. Throws DecodeError `bad_cell` when the cell is no Merkle proof, `hash_mismatch` when it is a wrong one.
 */
export function merkleProofRoot(table: CellTable, cell: number): number {
  if (table.kind(cell) !== 'merkleProof') {
    throw new DecodeError('bad_cell', 'The cell is no Merkle proof.', { cell, type: 'MerkleProof' });
  }
  // Computing the hash checks the values stored in the proof.
  table.hash(cell);
  return table.ref(cell, 0);
}

/**
 * Returns the sides of a Merkle update. Its stored hashes and depths are compared with the recomputed ones. Throws DecodeError `pruned_branch` when
 * the update itself is pruned, else like `merkleProofRoot`.
 */
export function readMerkleUpdate(table: CellTable, cell: number): MerkleUpdate {
  const kind = table.kind(cell);
  if (kind === 'pruned') throw new DecodeError('pruned_branch', 'The state update is pruned from the proof.', { cell });
  if (kind !== 'merkleUpdate') {
    throw new DecodeError('bad_cell', 'The cell is no Merkle update.', { cell, type: 'MerkleUpdate' });
  }
  table.hash(cell);
  const oldRoot = table.ref(cell, 0);
  const newRoot = table.ref(cell, 1);
  return { oldHash: table.hash(oldRoot, 0), newHash: table.hash(newRoot, 0), oldRoot, newRoot };
}

/**
 * Builds the new side of a Merkle update in the store. Pruned cells of the update are found in the store by their hash. Throws DecodeError
 * `missing_cell` when the store lacks a pruned cell.
 * @param oldRoot when given, must be the root from which the update starts (`hash_mismatch` otherwise)
 * @returns the new root's index; its representation hash is the update's new hash
 */
export function applyMerkleUpdate(store: CellStore, table: CellTable, update: number, oldRoot?: number): number {
  const { oldHash, newHash, newRoot } = readMerkleUpdate(table, update);
  const start = oldRoot ?? store.find(oldHash);
  if (start === undefined)
    throw new DecodeError('missing_cell', 'The store does not hold the old state.', { cell: update });
  if (!store.hashEquals(start, oldHash)) {
    throw new DecodeError('hash_mismatch', 'The update starts from another state.', { cell: update });
  }
  const root = graft(store, table, newRoot);
  if (!store.hashEquals(root, newHash)) {
    throw new DecodeError('hash_mismatch', 'The update gives another state than it says.', { cell: update });
  }
  return root;
}

/** Cell below `nesting` further Merkle cells. Pruned branches above that level belong to the update. */
type Nested = { readonly cell: number; readonly nesting: number };

/** Copies a tree into the store, resolving its pruned branches there. */
function graft(store: CellStore, table: CellTable, root: number): number {
  // No memo is needed: a finished cell is found in the store by its hash.
  const target = ({ cell, nesting }: Nested): number | undefined => store.findSame(table, cell, nesting);
  const stack: Nested[] = [{ cell: root, nesting: 0 }];
  while (stack.length > 0) {
    const { cell, nesting } = stack[stack.length - 1]!;
    const kind = table.kind(cell);
    if (kind === 'pruned' && table.levelMask(cell) >> nesting !== 0) {
      if (target({ cell, nesting }) !== undefined) {
        stack.pop();
        continue;
      }
      throw new DecodeError('missing_cell', 'The store does not hold a cell that the update keeps.', { cell });
    }
    const below = kind === 'merkleProof' || kind === 'merkleUpdate' ? nesting + 1 : nesting;
    const refs: number[] = [];
    const waiting = stack.length;
    for (let position = 0; position < table.refCount(cell); position++) {
      const child = { cell: table.ref(cell, position), nesting: below };
      const at = target(child);
      if (at === undefined) stack.push(child);
      else refs.push(at);
    }
    if (stack.length > waiting) continue;
    store.addLike(table, cell, refs);
    stack.pop();
  }
  return target({ cell: root, nesting: 0 })!;
}
