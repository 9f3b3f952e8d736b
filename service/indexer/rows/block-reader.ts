import type { BlockId } from '#service/decode/block-id.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import type { BlockExtra } from '#service/decode/tlb/block-extra.ts';
import type { BlockInfo } from '#service/decode/tlb/block-info.ts';

/** A parsed block. */
export type BlockReader = {
  readonly id: BlockId;
  readonly table: CellTable;
  readonly globalId: number;
  readonly info: BlockInfo;
  readonly extra: BlockExtra;
  /** Version of the rules that made the block; undefined when neither a key block nor the block names it. */
  readonly globalVersion: number | undefined;
  /** Cell of the Merkle update of the shard's state. */
  readonly stateUpdate: number;
  /** The shard in the form of columns. */
  readonly signedShard: bigint;
  /** BoC of a cell of the table with its subtree. */
  readonly writeBoc: (root: number) => Buffer;
};
