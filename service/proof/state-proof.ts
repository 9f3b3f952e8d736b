import type { BlockId } from '../decode/block-id.ts';
import type { MasterchainStateExtra } from '../decode/tlb/masterchain-state-extra.ts';
import type { ShardState } from '../decode/tlb/shard-state.ts';
import { blockText, FULL_SHARD, MASTERCHAIN, sameBlock } from '../decode/block-id.ts';
import { readMasterchainStateDetails, readMasterchainStateExtra } from '../decode/tlb/masterchain-state-extra.ts';
import { findOldMasterchainBlock } from '../decode/tlb/old-masterchain-blocks.ts';
import { readShardState } from '../decode/tlb/shard-state.ts';
import { ProofError } from './errors.ts';
import type { ProvedHeader } from './header-proof.ts';
import { readHeader, readStateHash } from './header-proof.ts';
import type { ProvedCell } from './proof-cells.ts';
import { openLastProof, openProof, openProofs, requireField, requireHash } from './proof-cells.ts';

/** A block's header and the state after it, as far as the proof shows it. */
export type ProvedState = ProvedStateCell & { readonly header: ProvedHeader };

/** A state, as far as the proof shows it. */
export type ProvedStateCell = { readonly cell: ProvedCell; readonly state: ShardState };

/**
 * The two roots that most proofs have: the block with its state update, and the state (lite server sheet 8.3, 8.4).
 * @throws ProofError
 */
export function readStateProof(subject: string, proof: Buffer, id: BlockId): ProvedState {
  const [block, state] = openProofs(subject, proof, 2);
  return readState(subject, block!, state!, id);
}

/** As `readStateProof` for a block whose header was proved before: only the state is left to be shown. */
export function readKnownState(subject: string, proof: Buffer, id: BlockId, stateHash: Buffer): ProvedStateCell {
  return readStateCell(subject, openLastProof(subject, proof, 2), id, stateHash);
}

/** As `readStateProof`, with the two roots in bags of their own. */
export function readSplitStateProof(subject: string, blockProof: Buffer, stateProof: Buffer, id: BlockId): ProvedState {
  return readState(subject, openProof(`${subject} block`, blockProof), openProof(`${subject} state`, stateProof), id);
}

function readState(subject: string, block: ProvedCell, cell: ProvedCell, id: BlockId): ProvedState {
  const header = readHeader(subject, block, id);
  return { header, ...readStateCell(subject, cell, id, readStateHash(subject, block)) };
}

function readStateCell(subject: string, cell: ProvedCell, id: BlockId, stateHash: Buffer): ProvedStateCell {
  requireHash(`${subject} state`, cell, stateHash);
  const state = readShardState(cell.table, cell.cell);
  requireField(`${subject} state seqno`, id.seqno, state.seqno);
  requireField(`${subject} state workchain`, id.workchain, state.workchain);
  requireField(`${subject} state shard`, id.shard, state.shard);
  return { cell, state };
}

/** What only a masterchain state has. @throws ProofError `malformed` when it is another shard's */
export function readStateExtra(subject: string, { table, cell }: ProvedCell): MasterchainStateExtra {
  const { custom } = readShardState(table, cell);
  if (custom === undefined) throw new ProofError('malformed', { subject, expected: 'a masterchain state' });
  return readMasterchainStateExtra(table, custom);
}

/**
 * An earlier masterchain block stands in the state's list of blocks, with this key flag.
 * @param state a proved masterchain state
 * @throws ProofError `not_contained`, `incomplete_proof`
 */
export function requireListedBlock(subject: string, state: ProvedCell, block: BlockId, keyBlock?: boolean): void {
  const { prevBlocks } = readMasterchainStateDetails(state.table, readStateExtra(subject, state).details);
  const found = findOldMasterchainBlock(state.table, prevBlocks, block.seqno);
  const listed = found !== undefined && sameBlock(block, { ...found, workchain: MASTERCHAIN, shard: FULL_SHARD });
  if (!listed) throw new ProofError('not_contained', { subject, expected: blockText(block) });
  if (keyBlock !== undefined) requireField(`${subject} keyBlock`, found.keyBlock, keyBlock);
}
