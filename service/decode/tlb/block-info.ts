import type { CellStore } from '../cell-store.ts';
import { BitWriter } from '../bit-writer.ts';
import type { BlockId } from '../block-id.ts';
import { FULL_SHARD, MASTERCHAIN } from '../block-id.ts';
import { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';
import { DecodeError } from '../errors.ts';
import { shardChildren, shardParent } from '../shard.ts';
import { readExtBlockRef, writeExtBlockRef } from './ext-block-ref.ts';
import type { ExtBlockRef } from './ext-block-ref.ts';
import type { GlobalVersion } from './global-version.ts';
import { readGlobalVersion } from './global-version.ts';
import { readShardIdent, writeShardIdent } from './shard-ident.ts';

/** A block's header; seqnos, utimes and the list hash are unsigned 32 bits. */
export type BlockInfo = {
  readonly version: number;
  readonly notMaster: boolean;
  readonly afterMerge: boolean;
  readonly beforeSplit: boolean;
  readonly afterSplit: boolean;
  readonly wantSplit: boolean;
  readonly wantMerge: boolean;
  readonly keyBlock: boolean;
  readonly vertSeqnoIncrement: boolean;
  /** 8 bits; bit 0 is set when `software` is present. */
  readonly flags: number;
  readonly seqno: number;
  readonly vertSeqno: number;
  readonly workchain: number;
  readonly shard: bigint;
  readonly utime: number;
  readonly startLt: bigint;
  readonly endLt: bigint;
  readonly validatorListHashShort: number;
  readonly catchainSeqno: number;
  readonly minRefMasterchainSeqno: number;
  readonly prevKeyBlockSeqno: number;
  /** Version of the node that made the block, and its capability bits. */
  readonly software: GlobalVersion | undefined;
  /** Cell of `BlkMasterInfo`: the masterchain block that a shard block refers to. */
  readonly masterRef: number | undefined;
  /** Cell of `BlkPrevInfo`: see `previousBlocks`. */
  readonly prevRef: number;
  readonly prevVertRef: number | undefined;
};

/**
 * `block_info#9bc7a987 version:uint32 not_master:(## 1) after_merge:(## 1) before_split:(## 1) after_split:(## 1)
 * want_split:Bool want_merge:Bool key_block:Bool vert_seqno_incr:(## 1) flags:(## 8) { flags <= 1 } seq_no:# vert_seq_no:#
 * shard:ShardIdent gen_utime:uint32 start_lt:uint64 end_lt:uint64 gen_validator_list_hash_short:uint32
 * gen_catchain_seqno:uint32 min_ref_mc_seqno:uint32 prev_key_block_seqno:uint32 gen_software:flags.0?GlobalVersion
 * master_ref:not_master?^BlkMasterInfo prev_ref:^(BlkPrevInfo after_merge) prev_vert_ref:vert_seqno_incr?^(BlkPrevInfo 0)`.
 */
export function readBlockInfo(table: CellTable, cell: number): BlockInfo {
  const slice = new CellSlice(table, cell);
  slice.expectTag(32, 0x9bc7a987, 'BlockInfo');
  const version = slice.uint(32);
  const notMaster = slice.bit();
  const afterMerge = slice.bit();
  const beforeSplit = slice.bit();
  const afterSplit = slice.bit();
  const wantSplit = slice.bit();
  const wantMerge = slice.bit();
  const keyBlock = slice.bit();
  const vertSeqnoIncrement = slice.bit();
  const flags = slice.uint(8);
  if (flags > 1)
    throw new DecodeError('bad_value', 'A block header has unknown flags.', { cell, found: flags, limit: 1 });
  return {
    version,
    notMaster,
    afterMerge,
    beforeSplit,
    afterSplit,
    wantSplit,
    wantMerge,
    keyBlock,
    vertSeqnoIncrement,
    flags,
    seqno: positiveSeqno(slice, cell),
    vertSeqno: slice.uint(32),
    ...readShardIdent(slice),
    utime: slice.uint(32),
    startLt: slice.uint64(),
    endLt: slice.uint64(),
    validatorListHashShort: slice.uint(32),
    catchainSeqno: slice.uint(32),
    minRefMasterchainSeqno: slice.uint(32),
    prevKeyBlockSeqno: slice.uint(32),
    software: (flags & 1) === 0 ? undefined : readGlobalVersion(slice),
    masterRef: notMaster ? slice.ref() : undefined,
    prevRef: slice.ref(),
    prevVertRef: vertSeqnoIncrement ? slice.ref() : undefined,
  };
}

function positiveSeqno(slice: CellSlice, cell: number): number {
  const seqno = slice.uint(32);
  if (seqno === 0) throw new DecodeError('bad_value', 'A block has the seqno of a zerostate.', { cell, found: 0 });
  return seqno;
}

/**
 * Returns the one or two previous blocks: `prev_blk_info$_ prev:ExtBlkRef`, or after a merge `prev_blks_info$_ prev1:^ExtBlkRef prev2:^ExtBlkRef`.
 * After a split the previous block is the parent shard's.
 */
export function previousBlocks(table: CellTable, info: BlockInfo): BlockId[] {
  const { workchain, shard } = info;
  const slice = new CellSlice(table, info.prevRef);
  if (!info.afterMerge) {
    return [blockId(workchain, info.afterSplit ? shardParent(shard) : shard, readExtBlockRef(slice))];
  }
  return shardChildren(shard).map((child) => blockId(workchain, child, readExtBlockRef(slice.refSlice())));
}

/** The masterchain block that a shard block refers to (`master_info$_ master:ExtBlkRef`); undefined in the masterchain. */
export function masterBlock(table: CellTable, info: BlockInfo): BlockId | undefined {
  if (info.masterRef === undefined) return undefined;
  return blockId(MASTERCHAIN, FULL_SHARD, readExtBlockRef(new CellSlice(table, info.masterRef)));
}

function blockId(workchain: number, shard: bigint, { seqno, rootHash, fileHash }: ExtBlockRef): BlockId {
  return { workchain, shard, seqno, rootHash, fileHash };
}

/** The reverse of `readBlockInfo`: makes the header's cell. */
export function storeBlockInfo(store: CellStore, info: BlockInfo): number {
  const writer = new BitWriter().int(0x9bc7a987, 32).uint(info.version, 32);
  const { afterMerge, beforeSplit, afterSplit, wantSplit, wantMerge, keyBlock, vertSeqnoIncrement } = info;
  const flags = [
    info.notMaster,
    afterMerge,
    beforeSplit,
    afterSplit,
    wantSplit,
    wantMerge,
    keyBlock,
    vertSeqnoIncrement,
  ];
  for (const flag of flags) writer.bit(flag);
  writeShardIdent(writer.uint(info.flags, 8).uint(info.seqno, 32).uint(info.vertSeqno, 32), info)
    .uint(info.utime, 32)
    .int(info.startLt, 64)
    .int(info.endLt, 64)
    .uint(info.validatorListHashShort, 32)
    .uint(info.catchainSeqno, 32)
    .uint(info.minRefMasterchainSeqno, 32)
    .uint(info.prevKeyBlockSeqno, 32);
  if (info.software !== undefined) {
    writer.uint(0xc4, 8).uint(info.software.version, 32).int(info.software.capabilities, 64);
  }
  if (info.masterRef !== undefined) writer.ref(info.masterRef);
  writer.ref(info.prevRef);
  if (info.prevVertRef !== undefined) writer.ref(info.prevVertRef);
  return writer.finish(store);
}

/** A cell of `BlkMasterInfo`, or of `BlkPrevInfo` for one block. */
export function storeBlockRef(store: CellStore, ref: ExtBlockRef): number {
  return writeExtBlockRef(new BitWriter(), ref).finish(store);
}

/** A cell of `BlkPrevInfo`: one block, or after a merge the left and the right one. */
export function storePreviousBlocks(store: CellStore, previous: readonly ExtBlockRef[]): number {
  const refs = previous.map((one) => storeBlockRef(store, one));
  if (refs.length === 1) return refs[0]!;
  return new BitWriter().ref(refs[0]!).ref(refs[1]!).finish(store);
}
