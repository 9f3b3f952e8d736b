import type { CellTable } from '#service/decode/cell-table.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { readBlockExtra } from '#service/decode/tlb/block-extra.ts';
import type { MasterchainBlockDetails, MasterchainBlockExtra } from '#service/decode/tlb/masterchain-block-extra.ts';
import { readMasterchainBlockDetails, readMasterchainBlockExtra } from '#service/decode/tlb/masterchain-block-extra.ts';
import type { MasterchainStateDetails, MasterchainStateExtra } from '#service/decode/tlb/masterchain-state-extra.ts';
import { readMasterchainStateDetails, readMasterchainStateExtra } from '#service/decode/tlb/masterchain-state-extra.ts';
import type { ShardState, ShardStateDetails } from '#service/decode/tlb/shard-state.ts';
import { readShardState, readShardStateDetails } from '#service/decode/tlb/shard-state.ts';

// Visits states and parts of the masterchain as the node does. The node always opens both cells of a value that spans two cells, and so do
// its proofs.

/** A state: its root, and the cell of totals and libraries. */
export function openState(table: CellTable, root: number): ShardState & ShardStateDetails {
  const state = readShardState(table, root);
  return { ...state, ...readShardStateDetails(table, state.details) };
}

/** A masterchain state: the state, its masterchain part, and the cell with the history of blocks. */
export function openMasterchainState(table: CellTable, root: number): MasterchainStateExtra & MasterchainStateDetails {
  const extra = readMasterchainStateExtra(table, openState(table, root).custom!);
  return { ...extra, ...readMasterchainStateDetails(table, extra.details) };
}

/** A masterchain block: root, extra, the masterchain's part of it, and the cell with the previous block's signatures. */
export function openMasterchainBlock(table: CellTable, root: number): MasterchainBlockExtra & MasterchainBlockDetails {
  const custom = readMasterchainBlockExtra(table, readBlockExtra(table, readBlock(table, root).extra).custom!);
  return { ...custom, ...readMasterchainBlockDetails(table, custom.details) };
}
