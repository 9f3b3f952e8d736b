import type { CellTable } from '../decode/cell-table.ts';
import type { Boc } from '../decode/boc.ts';
import { parseBoc } from '../decode/boc.ts';
import { DecodeError } from '../decode/errors.ts';
import { merkleProofRoot } from '../decode/merkle.ts';
import type { ProofErrorCode } from './errors.ts';
import { ProofError } from './errors.ts';

/** A cell in its table. */
export type ProvedCell = { readonly table: CellTable; readonly cell: number };

/**
 * Runs a check on bytes of a lite server. Unreadable bytes refuse the answer, like a broken rule.
 * @param subject name of the checked part, for the error
 */
export function proving<T>(subject: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw refused(subject, error);
  }
}

/** Runs a check like `proving` that rests between its parts. */
export async function provingInSlices<T>(subject: string, check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    throw refused(subject, error);
  }
}

function refused(subject: string, error: unknown): unknown {
  if (!(error instanceof DecodeError)) return error;
  return new ProofError(refusal(error), { subject, found: `${error.code}: ${error.message}` }, error);
}

/**
 * Opens a BoC of Merkle proofs: the cell that each root stands for. Their hashes are computed and compared with the stored ones. The caller must
 * compare them with the expected hashes (service/proof/README.md#cells).
 * @throws ProofError `malformed`, `bad_merkle_proof`
 */
export function openProofs(subject: string, bytes: Buffer, count: number): readonly ProvedCell[] {
  return proving(subject, () => {
    const boc = parseProofs(subject, bytes, count);
    return boc.roots.map((root) => ({ table: boc, cell: merkleProofRoot(boc, root) }));
  });
}

/** Opens the last of `count` roots, like `openProofs`. The other roots are not used and not checked. */
export function openLastProof(subject: string, bytes: Buffer, count: number): ProvedCell {
  return proving(subject, () => {
    const boc = parseProofs(subject, bytes, count);
    return { table: boc, cell: merkleProofRoot(boc, boc.roots[count - 1]!) };
  });
}

function parseProofs(subject: string, bytes: Buffer, count: number): Boc {
  const boc = parseBoc(bytes, { rootsMax: count });
  if (boc.roots.length === count) return boc;
  throw new ProofError('malformed', { subject, expected: `${count} roots`, found: String(boc.roots.length) });
}

/** Opens one root, like `openProofs`. */
export function openProof(subject: string, bytes: Buffer): ProvedCell {
  return openProofs(subject, bytes, 1)[0]!;
}

/** Opens the root of a BoC of plain cells. Nothing of it is pruned, so its hash covers all of it. */
export function openRoot(subject: string, bytes: Buffer): ProvedCell {
  return proving(subject, () => {
    const table = parseBoc(bytes, { rootsMax: 1, rootLevelMax: 0 });
    return { table, cell: table.roots[0]! };
  });
}

/** @throws ProofError `hash_mismatch` unless the proved cell has this hash */
export function requireHash(subject: string, { table, cell }: ProvedCell, hash: Buffer): void {
  if (table.hashEquals(cell, hash, 0)) return;
  const found = table.hash(cell, 0).toString('hex');
  throw new ProofError('hash_mismatch', { subject, expected: hash.toString('hex'), found });
}

/** @throws ProofError `wrong_field` unless both are equal */
export function requireField(subject: string, expected: unknown, found: unknown): void {
  if (expected !== found)
    throw new ProofError('wrong_field', { subject, expected: String(expected), found: String(found) });
}

function refusal({ code, data }: DecodeError): ProofErrorCode {
  if (code === 'pruned_branch') return 'incomplete_proof';
  if (code === 'hash_mismatch' || (code === 'bad_cell' && data.type === 'MerkleProof')) return 'bad_merkle_proof';
  return 'malformed';
}
