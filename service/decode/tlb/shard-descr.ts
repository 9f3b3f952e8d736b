import type { CurrencyCollection } from './currency-collection.ts';
import { readCurrencyCollection, writeCurrencyCollection } from './currency-collection.ts';
import { updateHashmap } from '../hashmap-writer.ts';
import type { CellStore } from '../cell-store.ts';
import { BitWriter } from '../bit-writer.ts';
import type { BlockId } from '../block-id.ts';
import { FULL_SHARD } from '../block-id.ts';
import { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';
import { DecodeError } from '../errors.ts';
import { keyUint, lookupHashmap, uintKey, walkHashmap } from '../hashmap.ts';
import { SHARD_PREFIX_BITS_MAX, shardChildren, shardContainsPrefix } from '../shard.ts';

/** Newest block of a shard that a masterchain block refers to, and the shard's plans. */
export type ShardDescr = {
  readonly block: BlockId;
  /** Masterchain block that first included the shard block. */
  readonly regMasterchainSeqno: number;
  readonly startLt: bigint;
  readonly endLt: bigint;
  readonly beforeSplit: boolean;
  readonly beforeMerge: boolean;
  readonly wantSplit: boolean;
  readonly wantMerge: boolean;
  readonly nextCatchainUpdated: boolean;
  readonly nextCatchainSeqno: number;
  readonly nextValidatorShard: bigint;
  readonly minRefMasterchainSeqno: number;
  readonly utime: number;
  readonly splitMergeAt: FutureSplitMerge | undefined;
};

/** Time of a planned split or merge: unix seconds and a length in seconds. */
export type FutureSplitMerge = {
  readonly kind: 'split' | 'merge';
  readonly utime: number;
  readonly intervalSeconds: number;
};

/** Most shards, above those of any workchain (`max_split` is a byte, real networks allow 4). It bounds a walk over shared cells. */
const SHARDS_MAX = 4096;

/**
 * `shard_descr#b seq_no:uint32 reg_mc_seqno:uint32 start_lt:uint64 end_lt:uint64 root_hash:bits256 file_hash:bits256 before_split:Bool
 * before_merge:Bool want_split:Bool want_merge:Bool nx_cc_updated:Bool flags:(## 3) { flags = 0 } next_catchain_seqno:uint32
 * next_validator_shard:uint64 min_ref_mc_seqno:uint32 gen_utime:uint32 split_merge_at:FutureSplitMerge fees_collected:CurrencyCollection
 * funds_created:CurrencyCollection`. `shard_descr_new#a` has the last two in a reference. The two amounts are not read.
 * @param slice at the descriptor, after the tree's leaf bit
 */
export function readShardDescr(slice: CellSlice, workchain: number, shard: bigint): ShardDescr {
  const tag = slice.uint(4);
  if (tag !== 0xa && tag !== 0xb) {
    throw new DecodeError('bad_tag', 'The cell is no ShardDescr.', {
      cell: slice.cell,
      type: 'ShardDescr',
      found: tag,
    });
  }
  const seqno = slice.uint(32);
  const regMasterchainSeqno = slice.uint(32);
  const startLt = slice.uint64();
  const endLt = slice.uint64();
  const block = { workchain, shard, seqno, rootHash: slice.hash(), fileHash: slice.hash() };
  const beforeSplit = slice.bit();
  const beforeMerge = slice.bit();
  const wantSplit = slice.bit();
  const wantMerge = slice.bit();
  const nextCatchainUpdated = slice.bit();
  slice.expectTag(3, 0, 'ShardDescr');
  return {
    block,
    regMasterchainSeqno,
    startLt,
    endLt,
    beforeSplit,
    beforeMerge,
    wantSplit,
    wantMerge,
    nextCatchainUpdated,
    nextCatchainSeqno: slice.uint(32),
    nextValidatorShard: slice.uint64(),
    minRefMasterchainSeqno: slice.uint(32),
    utime: slice.uint(32),
    splitMergeAt: readFutureSplitMerge(slice),
  };
}

/** `fsm_none$0`, `fsm_split$10 split_utime:uint32 interval:uint32`, `fsm_merge$11 merge_utime:uint32 interval:uint32`. */
function readFutureSplitMerge(slice: CellSlice): FutureSplitMerge | undefined {
  if (!slice.bit()) return undefined;
  return { kind: slice.bit() ? 'merge' : 'split', utime: slice.uint(32), intervalSeconds: slice.uint(32) };
}

/**
 * Finds the shard whose prefix covers `prefix` (an account's first 64 bits, or a shard) in `shard_hashes`, `HashmapE 32 ^(BinTree ShardDescr)`.
 * Undefined when the workchain is not listed. If `prefix` is a shard, the leaf may be its ancestor or one of its children: compare `block.shard`.
 */
export function findShard(
  table: CellTable,
  shardHashes: number | undefined,
  workchain: number,
  prefix: bigint,
): ShardDescr | undefined {
  const tree = lookupHashmap(table, shardHashes, 32, uintKey(workchain, 32));
  if (tree === undefined) return undefined;
  let shard = FULL_SHARD;
  let slice = tree.refSlice();
  for (let bits = 0; slice.bit(); bits++) {
    checkDepth(slice, bits);
    const [left, right] = shardChildren(shard);
    const goesLeft = shardContainsPrefix(left, prefix);
    shard = goesLeft ? left : right;
    slice = new CellSlice(table, table.ref(slice.cell, goesLeft ? 0 : 1));
  }
  return readShardDescr(slice, workchain, shard);
}

/** All shards, by workchain and then by prefix. Throws DecodeError `too_big` beyond 4096. */
export function listShards(table: CellTable, shardHashes: number | undefined): ShardDescr[] {
  const shards: ShardDescr[] = [];
  walkHashmap(table, shardHashes, 32, (key, tree) => {
    listTree(shards, tree.refSlice(), keyUint(key, 32) | 0, FULL_SHARD, 0);
  });
  return shards;
}

/** `bt_leaf$0 leaf:X`, `bt_fork$1 left:^(BinTree X) right:^(BinTree X)`; recursion is at most 60 deep. */
function listTree(shards: ShardDescr[], slice: CellSlice, workchain: number, shard: bigint, bits: number): void {
  if (!slice.bit()) {
    if (shards.length === SHARDS_MAX) {
      throw new DecodeError('too_big', 'The block lists too many shards.', { limit: SHARDS_MAX });
    }
    shards.push(readShardDescr(slice, workchain, shard));
    return;
  }
  checkDepth(slice, bits);
  const [left, right] = shardChildren(shard);
  listTree(shards, slice.refSlice(), workchain, left, bits + 1);
  listTree(shards, slice.refSlice(), workchain, right, bits + 1);
}

function checkDepth(slice: CellSlice, bits: number): void {
  if (bits < SHARD_PREFIX_BITS_MAX) return;
  throw new DecodeError('bad_value', 'A tree of shards is too deep.', {
    cell: slice.cell,
    limit: SHARD_PREFIX_BITS_MAX,
  });
}

/** Funds that a shard's new blocks brought to the masterchain. */
export type ShardFunds = { readonly feesCollected: CurrencyCollection; readonly fundsCreated: CurrencyCollection };

/** Shard in a masterchain block's list, with all its parts. */
export type ListedShard = ShardDescr & ShardFunds;

/** Lists shards like `listShards`, with the amounts. */
export function listShardsWithFunds(table: CellTable, shardHashes: number | undefined): ListedShard[] {
  const funds: ShardFunds[] = [];
  walkHashmap(table, shardHashes, 32, (_, tree) => collectFunds(tree.refSlice(), funds));
  return listShards(table, shardHashes).map((shard, index) => ({ ...shard, ...funds[index]! }));
}

function collectFunds(slice: CellSlice, funds: ShardFunds[]): void {
  if (slice.bit()) {
    collectFunds(slice.refSlice(), funds);
    collectFunds(slice.refSlice(), funds);
    return;
  }
  const isApart = slice.peekUint(4) === 0xa;
  readShardDescr(slice, 0, FULL_SHARD);
  const amounts = isApart ? slice.refSlice() : slice;
  funds.push({ feesCollected: readCurrencyCollection(amounts), fundsCreated: readCurrencyCollection(amounts) });
}

/**
 * The reverse of `listShardsWithFunds`: makes the root of `ShardHashes`. The shards of a workchain must fill it and be in the order of their
 * prefixes. Leaves are of the newer kind, with the amounts in a cell of their own.
 */
export function storeShardHashes(store: CellStore, shards: readonly ListedShard[]): number | undefined {
  const trees = [...Map.groupBy(shards, ({ block }) => block.workchain)];
  const changes = trees.map(([workchain, list]) => {
    const tree = storeTree(store, list.values(), FULL_SHARD);
    return { key: uintKey(workchain, 32), write: (writer: BitWriter): void => void writer.ref(tree) };
  });
  return updateHashmap(store, undefined, { bits: 32 }, changes);
}

function storeTree(store: CellStore, shards: Iterator<ListedShard>, place: bigint): number {
  const { value, done } = shards.next();
  if (done === true) throw new Error('the shards of a workchain do not fill it');
  return storeBranch(store, shards, value, place);
}

/** Writes a branch; `first` is its leftmost shard. */
function storeBranch(store: CellStore, shards: Iterator<ListedShard>, first: ListedShard, place: bigint): number {
  if (first.block.shard === place) return storeShardDescr(store, first);
  const [left, right] = shardChildren(place);
  const low = storeBranch(store, shards, first, left);
  return new BitWriter()
    .bit(true)
    .ref(low)
    .ref(storeTree(store, shards, right))
    .finish(store);
}

function storeShardDescr(store: CellStore, shard: ListedShard): number {
  const { block, beforeSplit, beforeMerge, wantSplit, wantMerge, nextCatchainUpdated, splitMergeAt } = shard;
  const writer = new BitWriter()
    .bit(false)
    .uint(0xa, 4)
    .uint(block.seqno, 32)
    .uint(shard.regMasterchainSeqno, 32)
    .int(shard.startLt, 64)
    .int(shard.endLt, 64)
    .bytes(block.rootHash)
    .bytes(block.fileHash);
  for (const flag of [beforeSplit, beforeMerge, wantSplit, wantMerge, nextCatchainUpdated]) writer.bit(flag);
  writer
    .uint(0, 3)
    .uint(shard.nextCatchainSeqno, 32)
    .int(shard.nextValidatorShard, 64)
    .uint(shard.minRefMasterchainSeqno, 32)
    .uint(shard.utime, 32)
    .bit(splitMergeAt !== undefined);
  if (splitMergeAt !== undefined) {
    writer
      .bit(splitMergeAt.kind === 'merge')
      .uint(splitMergeAt.utime, 32)
      .uint(splitMergeAt.intervalSeconds, 32);
  }
  const amounts = writeCurrencyCollection(new BitWriter(), shard.feesCollected);
  return writer.ref(writeCurrencyCollection(amounts, shard.fundsCreated).finish(store)).finish(store);
}
