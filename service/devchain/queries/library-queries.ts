import type { CellSlice } from '#service/decode/cell-slice.ts';
import { lookupHashmap, walkHashmap } from '#service/decode/hashmap.ts';
import type { ArgsOf } from '#service/liteserver/functions.ts';
import type { getLibraries, getLibrariesWithProof } from '#service/liteserver/functions.ts';
import type { LibraryResult, LibraryResultWithProof } from '#service/liteserver/tl/lite-api.ts';
import { visitHeaderAndState } from '../chain/header-proof.ts';
import { answerBoc } from '../chain/proof-builder.ts';
import type { ChainView } from '../chain/chain-view.ts';
import { needMasterchainBlock, tipBlock, visitState } from '../chain/chain-view.ts';
import type { VisitedCells } from '../collator/visited-cells.ts';
import { openState } from '../chain/open-as-node.ts';
import type { QueryHandlers } from './query-handlers.ts';

/** Hashes of one request that are read; further hashes are ignored. */
const LIBRARIES_MAX = 16;

/** Publishers of a library that a proof shows at most. */
const PUBLISHERS_MAX = 16;

/** Sorted, each once, as the node answers them. */
function wantedHashes(list: readonly Buffer[]): Buffer[] {
  const sorted = list.slice(0, LIBRARIES_MAX).toSorted((one, other) => Buffer.compare(one, other));
  return sorted.filter((hash, position) => position === 0 || !hash.equals(sorted[position - 1]!));
}

/** `shared_lib_descr$00 lib:^Cell publishers:(Hashmap 256 True)`: the library's cell, and the slice at its publishers. */
type Library = { readonly hash: Buffer; readonly cell: number; readonly publishers: CellSlice };

function findLibraries(tree: VisitedCells, hashes: readonly Buffer[]): Library[] {
  const { libraries } = openState(tree, tree.root);
  if (libraries === undefined) return [];
  return hashes.flatMap((hash) => {
    const value = lookupHashmap(tree, libraries, 256, hash);
    if (value === undefined || value.uint(2) !== 0) return [];
    return [{ hash, cell: value.ref(), publishers: value }];
  });
}

function answerLibraries(view: ChainView, { libraryList }: ArgsOf<typeof getLibraries>): LibraryResult {
  const found = findLibraries(visitState(view, tipBlock(view)), wantedHashes(libraryList));
  const { states } = view.chain;
  return { result: found.map(({ hash, cell }) => ({ hash, data: answerBoc({ table: states, cell }) })) };
}

/** Mode bits: 1 shows publishers, 2 leaves the libraries' data out. */
function answerLibrariesWithProof(
  view: ChainView,
  { id, mode, libraryList }: ArgsOf<typeof getLibrariesWithProof>,
): LibraryResultWithProof {
  const block = needMasterchainBlock(view, id);
  const state = visitState(view, block);
  const found = findLibraries(state, wantedHashes(libraryList));
  if ((mode & 1) !== 0) for (const { publishers } of found) visitPublishers(publishers);
  const { states } = view.chain;
  return {
    id: block.id,
    mode,
    result: found.map(({ hash, cell }) => ({
      hash,
      data: (mode & 2) !== 0 ? Buffer.alloc(0) : answerBoc({ table: states, cell }),
    })),
    stateProof: answerBoc(visitHeaderAndState(view, block)),
    dataProof: answerBoc(state),
  };
}

function visitPublishers(publishers: CellSlice): void {
  let seen = 0;
  walkHashmap(publishers.table, publishers, 256, () => ++seen < PUBLISHERS_MAX);
}

/** Handlers of libraries. */
export const libraryQueries = {
  getLibraries: answerLibraries,
  getLibrariesWithProof: answerLibrariesWithProof,
} satisfies Partial<QueryHandlers>;
