import type { BlockId } from '../decode/block-id.ts';
import { createHash } from 'node:crypto';
import { readBlock } from '../decode/tlb/block.ts';
import { readBlockInfo } from '../decode/tlb/block-info.ts';
import type { BlockDataAnswer } from './answers.ts';
import { ProofError } from './errors.ts';
import { requireBlock } from './header-proof.ts';
import type { ProvedCell } from './proof-cells.ts';
import { openRoot, proving, requireField, requireHash } from './proof-cells.ts';

/**
 * Checks an answer of `getBlock`: the file's hash and the root's hash are the id's (lite server sheet 8.6). Every cell is hashed:
 * some 15 ms for a block of 0.5 MB.
 * @returns the block's root
 * @throws ProofError
 */
export function checkBlockData(expected: { readonly block: BlockId }, answer: BlockDataAnswer): ProvedCell {
  const subject = 'blockData';
  const { block } = expected;
  requireBlock(subject, block, answer.id);
  const fileHash = createHash('sha256').update(answer.data).digest();
  if (!fileHash.equals(block.fileHash)) {
    const found = fileHash.toString('hex');
    throw new ProofError('hash_mismatch', {
      subject: `${subject} file`,
      expected: block.fileHash.toString('hex'),
      found,
    });
  }
  return proving(subject, () => {
    const root = openRoot(subject, answer.data);
    requireHash(`${subject} root`, root, block.rootHash);
    const info = readBlockInfo(root.table, readBlock(root.table, root.cell).info);
    requireField(`${subject} seqno`, block.seqno, info.seqno);
    requireField(`${subject} workchain`, block.workchain, info.workchain);
    requireField(`${subject} shard`, block.shard, info.shard);
    return root;
  });
}
