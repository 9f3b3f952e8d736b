import type { BlockId } from '../decode/block-id.ts';
import { createHash } from 'node:crypto';
import { readBlock } from '../decode/tlb/block.ts';
import type { BlockInfo } from '../decode/tlb/block-info.ts';
import { readBlockInfo } from '../decode/tlb/block-info.ts';
import type { BlockDataAnswer } from './answers.ts';
import { ProofError } from './errors.ts';
import { requireBlock } from './header-proof.ts';
import type { ProvedCell } from './proof-cells.ts';
import { openRoot, proving, requireField, requireHash } from './proof-cells.ts';

const SUBJECT = 'blockData';

/**
 * Checks an answer of `getBlock`: the file's hash and the root's hash are the id's (lite server sheet 8.6). Every cell is hashed:
 * some 15 ms for a block of 0.5 MB.
 * @returns the block's root
 * @throws ProofError
 */
export function checkBlockData(expected: { readonly block: BlockId }, answer: BlockDataAnswer): ProvedCell {
  const { root } = checkBlockFile(expected, answer);
  return proving(SUBJECT, () => {
    requireHash(`${SUBJECT} root`, root, expected.block.rootHash);
    return root;
  });
}

/**
 * As `checkBlockData`, by the file's hash alone: an id that is proved names file and root together, so that the file's bytes are those whose root was
 * signed. Some 3 ms for a block of 0.5 MB; to hash its cells as well would double the time in which blocks are made into rows.
 * @throws ProofError
 */
export function checkBlockFile(
  { block }: { readonly block: BlockId },
  answer: BlockDataAnswer,
): { readonly root: ProvedCell; readonly info: BlockInfo } {
  requireBlock(SUBJECT, block, answer.id);
  const fileHash = createHash('sha256').update(answer.data).digest();
  if (!fileHash.equals(block.fileHash)) {
    const found = fileHash.toString('hex');
    throw new ProofError('hash_mismatch', {
      subject: `${SUBJECT} file`,
      expected: block.fileHash.toString('hex'),
      found,
    });
  }
  return proving(SUBJECT, () => {
    const root = openRoot(SUBJECT, answer.data);
    const info = readBlockInfo(root.table, readBlock(root.table, root.cell).info);
    requireField(`${SUBJECT} seqno`, block.seqno, info.seqno);
    requireField(`${SUBJECT} workchain`, block.workchain, info.workchain);
    requireField(`${SUBJECT} shard`, block.shard, info.shard);
    return { root, info };
  });
}
