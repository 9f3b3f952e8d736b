import type { BlockId } from '../decode/block-id.ts';
import type { CellTable } from '../decode/cell-table.ts';
import { lookupHashmap } from '../decode/hashmap.ts';
import { readShardStateDetails } from '../decode/tlb/shard-state.ts';
import type { LibrariesWithProofAnswer, LibraryEntry } from './answers.ts';
import { ProofError } from './errors.ts';
import { requireBlock } from './header-proof.ts';
import type { ProvedCell } from './proof-cells.ts';
import { openRoot, proving, requireHash } from './proof-cells.ts';
import { readSplitStateProof } from './state-proof.ts';

/** Library with the hash by which code refers to it. */
export type ProvedLibrary = { readonly hash: Buffer; readonly root: ProvedCell };

/** Most requested hashes that the node looks up. */
const LIBRARIES_MAX = 16;

/** Bit of `getLibrariesWithProof`: leave out the libraries' cells. */
const WITHOUT_DATA = 2;

/**
 * Checks an answer of `getLibraries`: every library has its hash and was requested. That others do not exist is not proved; see {@link
 * checkLibrariesWithProof}.
 * @throws ProofError
 */
export function checkLibraries(
  expected: { readonly hashes: readonly Buffer[] },
  result: readonly LibraryEntry[],
): readonly ProvedLibrary[] {
  return proving('libraries', () => {
    requireAsked(expected.hashes, result);
    return result.map(openLibrary);
  });
}

export type LibrariesExpectation = {
  /** A masterchain block. */
  readonly block: BlockId;
  readonly mode: number;
  readonly hashes: readonly Buffer[];
};

/**
 * Checks an answer of `getLibrariesWithProof`. The first 16 requested libraries exist or not, as in the masterchain state.
 * @returns existing libraries by hash, without cells when the mode leaves them out
 * @throws ProofError
 */
export function checkLibrariesWithProof(
  { block, mode, hashes }: LibrariesExpectation,
  answer: LibrariesWithProofAnswer,
): readonly (ProvedLibrary | { readonly hash: Buffer; readonly root: undefined })[] {
  const subject = 'librariesWithProof';
  requireBlock(subject, block, answer.id);
  return proving(subject, () => {
    requireAsked(hashes, answer.result);
    const { cell, state } = readSplitStateProof(subject, answer.stateProof, answer.dataProof, block);
    const { libraries } = readShardStateDetails(cell.table, state.details);
    const given = new Set(answer.result.map(({ hash }) => hash.toString('hex')));
    for (const hash of hashes.slice(0, LIBRARIES_MAX)) {
      if (isListed(cell.table, libraries, hash) !== given.has(hash.toString('hex'))) {
        throw new ProofError('not_contained', { subject, found: hash.toString('hex') });
      }
    }
    const byHash = answer.result.toSorted((a, b) => Buffer.compare(a.hash, b.hash));
    return byHash.map((entry) => {
      if ((mode & WITHOUT_DATA) === 0) return openLibrary(entry);
      if (entry.data.length > 0) throw new ProofError('not_contained', { subject, expected: 'no data' });
      return { hash: entry.hash, root: undefined };
    });
  });
}

/**
 * `libraries:(HashmapE 256 LibDescr)`, `shared_lib_descr$00 lib:^Cell publishers:(Hashmap 256 True)`. The node skips an entry of another kind, or of
 * a cell with another hash.
 */
function isListed(table: CellTable, libraries: number | undefined, hash: Buffer): boolean {
  const slice = lookupHashmap(table, libraries, 256, hash);
  if (slice === undefined || slice.uint(2) !== 0 || slice.remainingRefs === 0) return false;
  return table.hashEquals(slice.ref(), hash, 0);
}

function openLibrary({ hash, data }: LibraryEntry): ProvedLibrary {
  const root = openRoot('library', data);
  requireHash('library', root, hash);
  return { hash, root };
}

/** Requires that the answer has requested libraries only, each once. */
function requireAsked(hashes: readonly Buffer[], result: readonly LibraryEntry[]): void {
  const left = new Set(hashes.slice(0, LIBRARIES_MAX).map((hash) => hash.toString('hex')));
  for (const { hash } of result) {
    if (!left.delete(hash.toString('hex'))) {
      throw new ProofError('wrong_id', {
        subject: 'libraries',
        expected: 'an asked hash',
        found: hash.toString('hex'),
      });
    }
  }
}
