import type { CellStore } from '../cell-store.ts';
import { BitWriter } from '../bit-writer.ts';
import { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';

/** Content of a block, as cells. */
export type BlockExtra = {
  readonly inMsgDescr: number;
  readonly outMsgDescr: number;
  /** `ShardAccountBlocks`: see account-blocks.ts. */
  readonly accountBlocks: number;
  readonly randSeed: Buffer;
  /** Public key of the validator that made the block. */
  readonly createdBy: Buffer;
  /** `McBlockExtra` of a masterchain block. */
  readonly custom: number | undefined;
};

/**
 * `block_extra#4a33f6fd in_msg_descr:^InMsgDescr out_msg_descr:^OutMsgDescr account_blocks:^ShardAccountBlocks
 * rand_seed:bits256 created_by:bits256 custom:(Maybe ^McBlockExtra)`.
 */
export function readBlockExtra(table: CellTable, cell: number): BlockExtra {
  const slice = new CellSlice(table, cell);
  slice.expectTag(32, 0x4a33f6fd, 'BlockExtra');
  return {
    inMsgDescr: slice.ref(),
    outMsgDescr: slice.ref(),
    accountBlocks: slice.ref(),
    randSeed: slice.hash(),
    createdBy: slice.hash(),
    custom: slice.maybeRef(),
  };
}

/** The reverse of `readBlockExtra`. */
export function storeBlockExtra(store: CellStore, extra: BlockExtra): number {
  const writer = new BitWriter().int(0x4a33f6fd, 32);
  writer.ref(extra.inMsgDescr).ref(extra.outMsgDescr).ref(extra.accountBlocks);
  return writer.bytes(extra.randSeed).bytes(extra.createdBy).maybeRef(extra.custom).finish(store);
}
