import type { BlockId } from '../decode/block-id.ts';
import { readOutMsgQueueInfo } from '../decode/tlb/out-msg-queue-info.ts';
import type { QueueSizeAnswer } from './answers.ts';
import { ProofError } from './errors.ts';
import { requireBlock } from './header-proof.ts';
import { proving, requireField } from './proof-cells.ts';
import { readStateProof } from './state-proof.ts';

/**
 * Checks an answer of `getBlockOutMsgQueueSize` with its proof (mode bit 0). It proves the queue length in the state after the block
 * (service/proof/README.md#what-is-proved).
 * @returns messages that wait to leave the shard
 * @throws ProofError
 */
export function checkQueueSize(expected: { readonly block: BlockId }, answer: QueueSizeAnswer): bigint {
  const subject = 'blockOutMsgQueueSize';
  requireBlock(subject, expected.block, answer.id);
  return proving(subject, () => {
    const { cell, state } = readStateProof(`${subject}.proof`, answer.proof ?? Buffer.alloc(0), expected.block);
    const { size } = readOutMsgQueueInfo(cell.table, state.outMsgQueueInfo);
    if (size === undefined) throw new ProofError('wrong_field', { subject, expected: 'a counted queue' });
    requireField(`${subject} size`, size, answer.size);
    return size;
  });
}
