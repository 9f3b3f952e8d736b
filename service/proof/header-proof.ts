import type { BlockId } from '../decode/block-id.ts';
import type { BlockInfo } from '../decode/tlb/block-info.ts';
import { blockText, MASTERCHAIN, sameBlock } from '../decode/block-id.ts';
import { readMerkleUpdate } from '../decode/merkle.ts';
import { readBlock } from '../decode/tlb/block.ts';
import { previousBlocks, readBlockInfo } from '../decode/tlb/block-info.ts';
import type { BlockHeaderAnswer } from './answers.ts';
import { ProofError } from './errors.ts';
import type { ProvedCell } from './proof-cells.ts';
import { openProof, proving, requireField, requireHash } from './proof-cells.ts';

/** Block header, proved by the hash in the block's id; the cell is the block's. */
export type ProvedHeader = ProvedCell & { readonly id: BlockId; readonly info: BlockInfo };

/**
 * Checks an answer of `getBlockHeader` and, if the block's id is known, of `lookupBlock` (service/proof/README.md#block-header).
 * @throws ProofError
 */
export function checkBlockHeader(expected: { readonly block: BlockId }, answer: BlockHeaderAnswer): ProvedHeader {
  const subject = 'blockHeader';
  requireBlock(subject, expected.block, answer.id);
  return proving(subject, () => {
    const header = readHeader(subject, openProof(subject, answer.headerProof), expected.block);
    readPreviousBlocks(subject, header);
    return header;
  });
}

/** Reads the header of a block proof. The block's hash, seqno, shard and workchain must be those of the id. */
export function readHeader(subject: string, block: ProvedCell, id: BlockId): ProvedHeader {
  requireHash(subject, block, id.rootHash);
  const info = readBlockInfo(block.table, readBlock(block.table, block.cell).info);
  requireField(`${subject} version`, 0, info.version);
  requireField(`${subject} seqno`, id.seqno, info.seqno);
  requireField(`${subject} workchain`, id.workchain, info.workchain);
  requireField(`${subject} shard`, id.shard, info.shard);
  requireField(`${subject} notMaster`, id.workchain !== MASTERCHAIN, info.notMaster);
  return { id, info, table: block.table, cell: block.cell };
}

/** Returns the one or two previous blocks. The block's seqno follows the highest of theirs. */
export function readPreviousBlocks(subject: string, { table, info }: ProvedHeader): readonly BlockId[] {
  const previous = previousBlocks(table, info);
  requireField(`${subject} prevRef`, info.seqno, 1 + Math.max(...previous.map(({ seqno }) => seqno)));
  return previous;
}

/** Returns the hash of the state after the block: the new side of its state update. */
export function readStateHash(subject: string, { table, cell }: ProvedCell): Buffer {
  return proving(`${subject} stateUpdate`, () => readMerkleUpdate(table, readBlock(table, cell).stateUpdate).newHash);
}

/** @throws ProofError `wrong_id` unless the answer is about the requested block */
export function requireBlock(subject: string, asked: BlockId, found: BlockId): void {
  if (sameBlock(asked, found)) return;
  throw new ProofError('wrong_id', { subject: `${subject} id`, expected: blockText(asked), found: blockText(found) });
}
