import { BitWriter } from '../bit-writer.ts';
import { CellSlice } from '../cell-slice.ts';
import type { CellStore } from '../cell-store.ts';
import type { CellTable } from '../cell-table.ts';
import { readCurrencyCollection, writeCurrencyCollection } from './currency-collection.ts';
import type { CurrencyCollection } from './currency-collection.ts';
import { readExtBlockRef, writeExtBlockRef } from './ext-block-ref.ts';
import type { ExtBlockRef } from './ext-block-ref.ts';
import { readShardIdent, writeShardIdent } from './shard-ident.ts';

/** A shard's state after a block. */
export type ShardState = {
  readonly globalId: number;
  readonly workchain: number;
  readonly shard: bigint;
  readonly seqno: number;
  readonly vertSeqno: number;
  readonly utime: number;
  readonly lt: bigint;
  readonly minRefMasterchainSeqno: number;
  readonly outMsgQueueInfo: number;
  readonly beforeSplit: boolean;
  /** Cell of `ShardAccounts`: see shard-account.ts. */
  readonly accounts: number;
  /** Cell of balances, libraries and the masterchain reference: see `readShardStateDetails`. */
  readonly details: number;
  /** Cell of `McStateExtra` in the masterchain. */
  readonly custom: number | undefined;
};

/**
 * `shard_state#9023afe2 global_id:int32 shard_id:ShardIdent seq_no:uint32 vert_seq_no:# gen_utime:uint32 gen_lt:uint64
 * min_ref_mc_seqno:uint32 out_msg_queue_info:^OutMsgQueueInfo before_split:(## 1) accounts:^ShardAccounts ^[...]
 * custom:(Maybe ^McStateExtra) = ShardStateUnsplit`.
 */
export function readShardState(table: CellTable, cell: number): ShardState {
  const slice = new CellSlice(table, cell);
  slice.expectTag(32, 0x9023afe2, 'ShardStateUnsplit');
  return {
    globalId: slice.int(32),
    ...readShardIdent(slice),
    seqno: slice.uint(32),
    vertSeqno: slice.uint(32),
    utime: slice.uint(32),
    lt: slice.uint64(),
    minRefMasterchainSeqno: slice.uint(32),
    outMsgQueueInfo: slice.ref(),
    beforeSplit: slice.bit(),
    accounts: slice.ref(),
    details: slice.ref(),
    custom: slice.maybeRef(),
  };
}

/** Content of the separate cell of a shard state. */
export type ShardStateDetails = {
  readonly overloadHistory: bigint;
  readonly underloadHistory: bigint;
  readonly totalBalance: CurrencyCollection;
  readonly totalValidatorFees: CurrencyCollection;
  /** Root of `HashmapE 256 LibDescr`: the libraries of a masterchain state. */
  readonly libraries: number | undefined;
  readonly masterRef: ExtBlockRef | undefined;
};

/**
 * `^[ overload_history:uint64 underload_history:uint64 total_balance:CurrencyCollection
 * total_validator_fees:CurrencyCollection libraries:(HashmapE 256 LibDescr) master_ref:(Maybe BlkMasterInfo) ]`.
 */
export function readShardStateDetails(table: CellTable, cell: number): ShardStateDetails {
  const slice = new CellSlice(table, cell);
  return {
    overloadHistory: slice.uint64(),
    underloadHistory: slice.uint64(),
    totalBalance: readCurrencyCollection(slice),
    totalValidatorFees: readCurrencyCollection(slice),
    libraries: slice.maybeRef(),
    masterRef: slice.bit() ? readExtBlockRef(slice) : undefined,
  };
}

const SPLIT_STATE_TAG = 0x5f327da5;

/** The states of two shards, left and right: `split_state#5f327da5 left:^ShardStateUnsplit right:^ShardStateUnsplit`. */
export function readSplitState(table: CellTable, cell: number): { left: number; right: number } {
  const slice = new CellSlice(table, cell);
  slice.expectTag(32, SPLIT_STATE_TAG, 'ShardState');
  return { left: slice.ref(), right: slice.ref() };
}

/** Joins two states in the store. The Merkle update of a block after a merge starts from the result. */
export function addSplitState(store: CellStore, left: number, right: number): number {
  const data = Buffer.alloc(4);
  data.writeUInt32BE(SPLIT_STATE_TAG);
  return store.add({ data, bitLength: 32, refs: [left, right] });
}

/** The reverse of `readShardState`. */
export function storeShardState(store: CellStore, state: ShardState): number {
  const writer = writeShardIdent(new BitWriter().int(0x9023afe2, 32).int(state.globalId, 32), state)
    .uint(state.seqno, 32)
    .uint(state.vertSeqno, 32)
    .uint(state.utime, 32)
    .int(state.lt, 64)
    .uint(state.minRefMasterchainSeqno, 32)
    .ref(state.outMsgQueueInfo)
    .bit(state.beforeSplit);
  return writer.ref(state.accounts).ref(state.details).maybeRef(state.custom).finish(store);
}

/** The reverse of `readShardStateDetails`. */
export function storeShardStateDetails(store: CellStore, details: ShardStateDetails): number {
  const writer = new BitWriter().int(details.overloadHistory, 64).int(details.underloadHistory, 64);
  writeCurrencyCollection(writer, details.totalBalance);
  writeCurrencyCollection(writer, details.totalValidatorFees).maybeRef(details.libraries);
  writer.bit(details.masterRef !== undefined);
  if (details.masterRef !== undefined) writeExtBlockRef(writer, details.masterRef);
  return writer.finish(store);
}
