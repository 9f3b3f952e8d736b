import type { BlockId } from '../decode/block-id.ts';
import { createHash } from 'node:crypto';
import { readShardState } from '../decode/tlb/shard-state.ts';
import type { BlockStateAnswer } from './answers.ts';
import { ProofError } from './errors.ts';
import { requireBlock } from './header-proof.ts';
import type { ProvedCell } from './proof-cells.ts';
import { openRoot, proving, requireField, requireHash } from './proof-cells.ts';

const SUBJECT = 'zeroState';

/**
 * Checks an answer of `getState` for a zero state, the only state with a file. The hashes of file and root must be the id's.
 * @returns the state's root
 * @throws ProofError
 */
export function checkZeroState({ block }: { readonly block: BlockId }, answer: BlockStateAnswer): ProvedCell {
  requireBlock(SUBJECT, block, answer.id);
  const fileHash = createHash('sha256').update(answer.data).digest();
  if (!fileHash.equals(block.fileHash)) {
    const [expected, found] = [block.fileHash.toString('hex'), fileHash.toString('hex')];
    throw new ProofError('hash_mismatch', { subject: `${SUBJECT} file`, expected, found });
  }
  return proving(SUBJECT, () => {
    const root = openRoot(SUBJECT, answer.data);
    requireHash(`${SUBJECT} root`, root, block.rootHash);
    const state = readShardState(root.table, root.cell);
    requireField(`${SUBJECT} seqno`, block.seqno, state.seqno);
    requireField(`${SUBJECT} workchain`, block.workchain, state.workchain);
    requireField(`${SUBJECT} shard`, block.shard, state.shard);
    return root;
  });
}
