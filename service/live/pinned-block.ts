import { FULL_SHARD, MASTERCHAIN } from '../decode/block-id.ts';
import type { BlockId } from '../decode/block-id.ts';
import { lookupBlock } from '../liteserver/functions.ts';
import type { Pool } from '../pool/pool.ts';
import { ProofError } from '../proof/errors.ts';
import { checkBlockHeader } from '../proof/header-proof.ts';
import type { LiveAnswer, ReadContext } from '../contract/answer.ts';

/** The masterchain block that a read is pinned to. */
export type PinnedBlock = {
  readonly block: BlockId;
  /** `gen_utime`, unix seconds. */
  readonly utime: number;
  /** Logical time at which the block ends. All shard blocks that it refers to end before. */
  readonly endLt: bigint;
  /** Seqno of the key block whose configuration holds in the block. */
  readonly keyBlockSeqno: number;
  /** The block before; of a served head. */
  readonly previous?: BlockId | undefined;
};

/** Mode of lookupBlock (service/liteserver/README.md#mode-bits). */
const BY_SEQNO = 1;

/**
 * The masterchain block of a seqno, or the served head without one; its id is accepted by the trust chain. The header proof ties
 * seqno, times and key block to the id under every trust setting.
 * Rejects as `Pool.query` does: a seqno that no lite server has is their error 651.
 */
export async function pinBlock(
  pool: Pool,
  seqno: number | undefined,
  context: ReadContext,
): Promise<LiveAnswer<PinnedBlock>> {
  if (seqno === undefined) return { value: await pool.headFor(context), liteServers: [], cached: true };
  const head = pool.head();
  if (head?.block.seqno === seqno) return { value: head, liteServers: [], cached: true };
  const place = { workchain: MASTERCHAIN, shard: FULL_SHARD, seqno };
  const pinned = await pool.query(lookupBlock, { mode: BY_SEQNO, id: place }, context, {
    shareAs: 'pinned block',
    immutable: true,
    check: async (answer, attempt): Promise<PinnedBlock> => {
      const { id } = answer;
      if (id.workchain !== MASTERCHAIN || id.shard !== FULL_SHARD || id.seqno !== seqno) {
        throw new ProofError('wrong_id', {
          subject: 'lookupBlock id',
          expected: `seqno ${seqno}`,
          found: `seqno ${id.seqno}`,
        });
      }
      const { info } = checkBlockHeader({ block: id }, answer);
      await pool.accept(id, attempt);
      const keyBlockSeqno = info.keyBlock ? info.seqno : info.prevKeyBlockSeqno;
      return { block: id, utime: info.utime, endLt: info.endLt, keyBlockSeqno };
    },
  });
  pool.saw(seqno, context);
  return pinned;
}
