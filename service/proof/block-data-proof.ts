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
 * Checks an answer of `getBlock`: the hashes of the file and of the root are the id's (service/proof/README.md#transactions). Every cell is hashed:
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
 * Checks a block like `checkBlockData`, by the file's hash alone. A proved id names file and root together, so the file's bytes have the signed root.
 * Takes some 3 ms for a block of 0.5 MB. Hashing its cells as well would double the time in which the indexer makes rows.
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
