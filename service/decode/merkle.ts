import { maskCount } from './cell-table.ts';
import type { CellTable } from './cell-table.ts';
import type { CellStore } from './cell-store.ts';
import { DecodeError } from './errors.ts';

/** The two sides of a Merkle update: hashes are of level 0, roots are cells of the same table. */
export type MerkleUpdate = {
  readonly oldHash: Buffer;
  readonly newHash: Buffer;
  readonly oldRoot: number;
  readonly newRoot: number;
};

/**
 * Index of the cell that a Merkle proof stands for. The hash and depth stored in the proof are compared with the recomputed
 * ones; the caller compares `hash(result, 0)` with the hash it trusts.
 * Throws DecodeError `bad_cell` when the cell is no Merkle proof, `hash_mismatch` when it is a wrong one.
 */
export function merkleProofRoot(table: CellTable, cell: number): number {
  if (table.kind(cell) !== 'merkleProof') {
    throw new DecodeError('bad_cell', 'The cell is no Merkle proof.', { cell, type: 'MerkleProof' });
  }
  // Computing the hash compares what the proof stores.
  table.hash(cell);
  return table.ref(cell, 0);
}

/**
 * The sides of a Merkle update; its stored hashes and depths are compared with the recomputed ones.
 * Throws DecodeError `pruned_branch` when the update itself is pruned, else as `merkleProofRoot`.
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
 * Builds the new side of a Merkle update in the store; cells that the update prunes are taken from the store by their hash.
 * @param oldRoot when given, must be the root that the update starts from (`hash_mismatch` otherwise)
 * @returns the new root's index; its representation hash is the update's new hash
 * Throws DecodeError `missing_cell` when the store lacks a pruned cell.
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

/** A cell below `nesting` further Merkle cells: pruned branches above that level belong to the update. */
type Nested = { readonly cell: number; readonly nesting: number };

/** Copies a tree into the store, resolving its pruned branches there. */
function graft(store: CellStore, table: CellTable, root: number): number {
  // By hash there is nothing to remember: a finished cell is found in the store.
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

/**
 * Builds a Merkle proof of `root` in the store: cells for which `visited` is false become pruned branches.
 * As in the reference node, cells without references are never pruned.
 * @returns index of the Merkle proof cell
 */
export function buildMerkleProof(store: CellStore, root: number, visited: (cell: number) => boolean): number {
  const proof = Buffer.alloc(35);
  proof[0] = 3;
  store.hash(root, 0).copy(proof, 1);
  proof.writeUInt16BE(store.depth(root, 0), 33);
  return store.add({ kind: 'merkleProof', data: proof, bitLength: 280, refs: [pruneTree(store, root, visited)] });
}

function pruneTree(store: CellStore, root: number, visited: (cell: number) => boolean): number {
  // One memo for each nesting of Merkle cells: the level of a pruned branch depends on it.
  const done = [
    new Map<number, number>(),
    new Map<number, number>(),
    new Map<number, number>(),
    new Map<number, number>(),
  ];
  const stack: Nested[] = [{ cell: root, nesting: 0 }];
  while (stack.length > 0) {
    const { cell, nesting } = stack[stack.length - 1]!;
    if (done[nesting]!.has(cell)) {
      stack.pop();
      continue;
    }
    const refCount = store.refCount(cell);
    if (refCount === 0 || !visited(cell)) {
      done[nesting]!.set(cell, refCount === 0 ? cell : prunedBranch(store, cell, nesting));
      stack.pop();
      continue;
    }
    const kind = store.kind(cell);
    const below = kind === 'merkleProof' || kind === 'merkleUpdate' ? nesting + 1 : nesting;
    if (below > 2)
      throw new DecodeError('too_big', 'Merkle cells are nested too deep.', { cell, found: below, limit: 2 });
    const refs: number[] = [];
    const waiting = stack.length;
    for (let position = 0; position < refCount; position++) {
      const child = store.ref(cell, position);
      const at = done[below]!.get(child);
      if (at === undefined) stack.push({ cell: child, nesting: below });
      else refs.push(at);
    }
    if (stack.length > waiting) continue;
    done[nesting]!.set(cell, store.addLike(store, cell, refs));
    stack.pop();
  }
  return done[0]!.get(root)!;
}

/** A pruned branch holds the significant hashes and depths of its cell, and one more level. */
function prunedBranch(store: CellStore, cell: number, nesting: number): number {
  const mask = store.levelMask(cell);
  const newMask = mask | (1 << nesting);
  if (newMask === mask) throw new DecodeError('bad_value', 'A pruned branch of that level is below already.', { cell });
  const levels = [0, 1, 2, 3].filter((level) => level === 0 || (mask & (1 << (level - 1))) !== 0);
  const count = maskCount(newMask);
  const data = Buffer.alloc(2 + 34 * count);
  data[0] = 1;
  data[1] = newMask;
  for (let at = 0; at < count; at++) {
    const level = levels[at]!;
    store.hash(cell, level).copy(data, 2 + 32 * at);
    data.writeUInt16BE(store.depth(cell, level), 2 + 32 * count + 2 * at);
  }
  return store.add({ kind: 'pruned', data, bitLength: data.length * 8, refs: [] });
}
