import type { CellStore } from '../cell-store.ts';
import { BitWriter } from '../bit-writer.ts';
import { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';

/** The parts of a block, as cells. */
export type Block = {
  /** Signed 32 bits; -239 is mainnet, -3 testnet. */
  readonly globalId: number;
  readonly info: number;
  readonly valueFlow: number;
  /** A Merkle update of the shard state: `readMerkleUpdate`. */
  readonly stateUpdate: number;
  readonly extra: number;
};

/** `block#11ef55aa global_id:int32 info:^BlockInfo value_flow:^ValueFlow state_update:^(MERKLE_UPDATE ShardState) extra:^BlockExtra`. */
export function readBlock(table: CellTable, cell: number): Block {
  const slice = new CellSlice(table, cell);
  slice.expectTag(32, 0x11ef55aa, 'Block');
  return {
    globalId: slice.int(32),
    info: slice.ref(),
    valueFlow: slice.ref(),
    stateUpdate: slice.ref(),
    extra: slice.ref(),
  };
}

/** The reverse of `readBlock`: makes the block's root. */
export function storeBlock(store: CellStore, { globalId, info, valueFlow, stateUpdate, extra }: Block): number {
  const writer = new BitWriter().int(0x11ef55aa, 32).int(globalId, 32);
  return writer.ref(info).ref(valueFlow).ref(stateUpdate).ref(extra).finish(store);
}
