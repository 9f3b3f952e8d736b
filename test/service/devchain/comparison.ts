import type { Boc } from '#service/decode/boc.ts';
import { parseBoc } from '#service/decode/boc.ts';

/** How an answer agrees with the recorded one; a text says where it does not. */
export type Agreement = 'bytes' | 'cells' | { readonly differs: string };

/**
 * Compares two decoded answers. Fields are equal, or they are bags of cells that show the same; then one difference is
 * allowed: where the recorded proof prunes a cell without references, ours may show it. (The node keeps such cells when it
 * happens to have them in memory, so its own answers differ in this.)
 */
export function compareAnswers(ours: unknown, theirs: unknown, path = ''): Agreement {
  if (Buffer.isBuffer(ours) && Buffer.isBuffer(theirs)) return compareBuffers(ours, theirs, path);
  if (isFields(ours) && isFields(theirs)) {
    const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
    return [...names]
      .map((name) => compareAnswers(ours[name], theirs[name], `${path}.${name}`))
      .reduce<Agreement>(worse, 'bytes');
  }
  return ours === theirs ? 'bytes' : { differs: `${path}: ${String(ours)} is not ${String(theirs)}` };
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function worse(one: Agreement, other: Agreement): Agreement {
  if (typeof one === 'object') return one;
  return other === 'bytes' ? one : other;
}

function compareBuffers(ours: Buffer, theirs: Buffer, path: string): Agreement {
  if (ours.equals(theirs)) return 'bytes';
  const [one, other] = [tryParse(ours), tryParse(theirs)];
  if (one === undefined || other === undefined || one.roots.length !== other.roots.length) {
    return { differs: `${path}: ${ours.length} bytes are not ${theirs.length} others` };
  }
  const agree = one.roots.every((root, position) => showsAsMuch(one, root, other, other.roots[position]!));
  return agree ? 'cells' : { differs: `${path}: shows other cells` };
}

function tryParse(bytes: Buffer): Boc | undefined {
  try {
    return parseBoc(bytes);
  } catch {
    return undefined;
  }
}

/** @param nesting Merkle cells above: below n of them a cell is known by its hash of level n - 1, pruned or not */
function showsAsMuch(ours: Boc, cell: number, theirs: Boc, other: number, nesting = 0): boolean {
  if (nesting > 0 && !ours.hashEquals(cell, theirs.hash(other, nesting - 1), nesting - 1)) return false;
  if (theirs.kind(other) === 'pruned') return ours.kind(cell) === 'pruned' || ours.refCount(cell) === 0;
  const kind = ours.kind(cell);
  if (kind !== theirs.kind(other) || ours.refCount(cell) !== theirs.refCount(other)) return false;
  const inner = kind === 'merkleProof' || kind === 'merkleUpdate' ? nesting + 1 : nesting;
  if (inner === 0 && !ours.hashEquals(cell, theirs.hash(other))) return false;
  for (let position = 0; position < ours.refCount(cell); position++) {
    if (!showsAsMuch(ours, ours.ref(cell, position), theirs, theirs.ref(other, position), inner)) return false;
  }
  return true;
}
