import { writeBoc } from '#service/decode/boc-writer.ts';
import { getLibrariesWithProof } from '#service/liteserver/functions.ts';
import type { Pool } from '#service/pool/pool.ts';
import { checkLibrariesWithProof } from '#service/proof/library-proof.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';
import type { PinnedBlock } from '../pinned-block.ts';

/** Mode of getLibrariesWithProof: with cells, without publishers (service/liteserver/README.md#mode-bits). */
const WITH_DATA = 0;

/**
 * Public library with this hash as of a masterchain block, proved to exist. Undefined when proved to be absent.
 * Rejects as `Pool.query` does.
 */
export function readPublicLibrary(
  pool: Pool,
  { block }: PinnedBlock,
  hash: Buffer,
  context: ReadContext,
): Promise<LiveAnswer<Buffer | undefined>> {
  const args = { id: block, mode: WITH_DATA, libraryList: [hash] };
  return pool.query(getLibrariesWithProof, args, context, {
    shareAs: 'public library',
    check: (answer): Buffer | undefined => {
      const [library] = checkLibrariesWithProof({ block, mode: WITH_DATA, hashes: [hash] }, answer);
      return library?.root && writeBoc(library.root.table, [library.root.cell], { crc32c: true });
    },
  });
}
