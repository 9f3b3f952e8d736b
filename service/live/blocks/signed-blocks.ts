import { MASTERCHAIN, type BlockId } from '#service/decode/block-id.ts';
import type { ReadContext } from '#service/contract/answer.ts';
import { LiteServerError } from '#service/liteserver/errors.ts';
import { getBlock, getPendingShardBlocks } from '#service/liteserver/functions.ts';
import type { Pool } from '#service/pool/pool.ts';
import { checkBlockData } from '#service/proof/block-data-proof.ts';
import { openBlockFile, type BlockFile } from './block-files.ts';

/** Shard blocks that their validators signed, and that no masterchain block lists yet. */
export type LiveSignedBlocks = {
  /**
   * Ids of signed blocks, as one lite server says: no proof exists. Undefined when no lite server answers non-final queries. Rejects as `Pool.query`
   * does otherwise.
   */
  readonly list: (context: ReadContext) => Promise<readonly BlockId[] | undefined>;
  /**
   * File of such a block: its root hash and file hash are those of the id. Undefined when lite servers do not have it: another block took its place, or
   * it is on its way to them. Rejects as `Pool.query` does otherwise.
   */
  readonly readFile: (block: BlockId, context: ReadContext) => Promise<BlockFile | undefined>;
};

/** Signed blocks of one answer. A network has some blocks for each of its shards. */
const LISTED_MAX = 128;

export function createLiveSignedBlocks({ pool }: { readonly pool: Pick<Pool, 'query'> }): LiveSignedBlocks {
  return {
    async list(context) {
      try {
        const { value } = await pool.query(getPendingShardBlocks, { mode: 0 }, context);
        return value.signedBlocks
          .filter(({ workchain }) => workchain !== MASTERCHAIN)
          .slice(0, LISTED_MAX)
          .map((id) => ({ ...id, rootHash: Buffer.from(id.rootHash), fileHash: Buffer.from(id.fileHash) }));
      } catch (error) {
        if (error instanceof LiteServerError && error.code === 'unsupported') return undefined;
        throw error;
      }
    },
    async readFile(block, context) {
      try {
        const { value } = await pool.query(getBlock, { id: block }, context, {
          check(answer) {
            checkBlockData({ block }, answer);
            return openBlockFile(block, answer);
          },
        });
        return value;
      } catch (error) {
        if (error instanceof LiteServerError && (error.code === 'pruned' || error.code === 'lagging')) return undefined;
        throw error;
      }
    },
  };
}
