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

/** Block header and the state after the block, as far as the proof shows it. */
export type ProvedState = ProvedStateCell & { readonly header: ProvedHeader };

/** State, as far as the proof shows it. */
export type ProvedStateCell = { readonly cell: ProvedCell; readonly state: ShardState };

/**
 * Reads the two roots of most proofs: the block with its state update, and the state (service/proof/README.md#account).
 * @throws ProofError
 */
export function readStateProof(subject: string, proof: Buffer, id: BlockId): ProvedState {
  const [block, state] = openProofs(subject, proof, 2);
  return readState(subject, block!, state!, id);
}

/** Reads the state of a block whose header was proved before. Otherwise like `readStateProof`. */
export function readKnownState(subject: string, proof: Buffer, id: BlockId, stateHash: Buffer): ProvedStateCell {
  return readStateCell(subject, openLastProof(subject, proof, 2), id, stateHash);
}

/** Reads the two roots from separate bags, like `readStateProof`. */
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

/** Reads the masterchain-only part of a state. @throws ProofError `malformed` for the state of another shard */
export function readStateExtra(subject: string, { table, cell }: ProvedCell): MasterchainStateExtra {
  const { custom } = readShardState(table, cell);
  if (custom === undefined) throw new ProofError('malformed', { subject, expected: 'a masterchain state' });
  return readMasterchainStateExtra(table, custom);
}

/**
 * Proves that an earlier masterchain block is in the state's list of blocks, with this key flag.
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
