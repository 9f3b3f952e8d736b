import type { CellStore } from '../cell-store.ts';
import { BitWriter } from '../bit-writer.ts';
import { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';
import { DecodeError } from '../errors.ts';
import { readConfigParams, writeConfigParams } from './config-params.ts';
import type { ConfigParams } from './config-params.ts';
import { readCurrencyCollection, writeCurrencyCollection } from './currency-collection.ts';
import type { CurrencyCollection } from './currency-collection.ts';
import { readExtBlockRef, writeExtBlockRef } from './ext-block-ref.ts';
import type { ExtBlockRef } from './ext-block-ref.ts';
import { readKeyMaxLt, writeOldMasterchainBlocks } from './old-masterchain-blocks.ts';

/** Masterchain-only part of a state. */
export type MasterchainStateExtra = {
  /** Root of the dictionary of shards: see shard-descr.ts. */
  readonly shardHashes: number | undefined;
  readonly config: ConfigParams;
  /** Cell of validators, earlier blocks and statistics: see `readMasterchainStateDetails`. */
  readonly details: number;
  /** Total of all coins. */
  readonly globalBalance: CurrencyCollection;
};

/** `masterchain_state_extra#cc26 shard_hashes:ShardHashes config:ConfigParams ^[...] global_balance:CurrencyCollection`. */
export function readMasterchainStateExtra(table: CellTable, cell: number): MasterchainStateExtra {
  const slice = new CellSlice(table, cell);
  slice.expectTag(16, 0xcc26, 'McStateExtra');
  return {
    shardHashes: slice.maybeRef(),
    config: readConfigParams(slice),
    details: slice.ref(),
    globalBalance: readCurrencyCollection(slice),
  };
}

/** Content of the separate cell in `McStateExtra`. */
export type MasterchainStateDetails = {
  /** Flags; bit 0 is set when `blockCreateStats` is present. */
  readonly flags: number;
  readonly validatorListHashShort: number;
  readonly catchainSeqno: number;
  readonly nextCatchainUpdated: boolean;
  /** Root of `prev_blocks`: see old-masterchain-blocks.ts. */
  readonly prevBlocks: number | undefined;
  readonly afterKeyBlock: boolean;
  readonly lastKeyBlock: ExtBlockRef | undefined;
  readonly blockCreateStats: BlockCreateStats | undefined;
};

/** Root of the dictionary (256-bit keys) of `CreatorStats`; `extended` when it has a 32-bit augmentation. */
export type BlockCreateStats = { readonly root: number | undefined; readonly extended: boolean };

/**
 * `^[ flags:(## 16) { flags <= 1 } validator_info:ValidatorInfo prev_blocks:OldMcBlocksInfo after_key_block:Bool
 * last_key_block:(Maybe ExtBlkRef) block_create_stats:(flags . 0)?BlockCreateStats ]`, with
 * `validator_info$_ validator_list_hash_short:uint32 catchain_seqno:uint32 nx_cc_updated:Bool`.
 */
export function readMasterchainStateDetails(table: CellTable, cell: number): MasterchainStateDetails {
  const slice = new CellSlice(table, cell);
  const flags = slice.uint(16);
  if (flags > 1)
    throw new DecodeError('bad_value', 'A masterchain state has unknown flags.', { cell, found: flags, limit: 1 });
  const validatorListHashShort = slice.uint(32);
  const catchainSeqno = slice.uint(32);
  const nextCatchainUpdated = slice.bit();
  const prevBlocks = slice.maybeRef();
  readKeyMaxLt(slice);
  return {
    flags,
    validatorListHashShort,
    catchainSeqno,
    nextCatchainUpdated,
    prevBlocks,
    afterKeyBlock: slice.bit(),
    lastKeyBlock: slice.bit() ? readExtBlockRef(slice) : undefined,
    blockCreateStats: flags === 1 ? readBlockCreateStats(slice) : undefined,
  };
}

/**
 * `block_create_stats#17 counters:(HashmapE 256 CreatorStats)` or
 * `block_create_stats_ext#34 counters:(HashmapAugE 256 CreatorStats uint32)`.
 */
function readBlockCreateStats(slice: CellSlice): BlockCreateStats {
  const tag = slice.uint(8);
  if (tag !== 0x17 && tag !== 0x34) {
    throw new DecodeError('bad_tag', 'The cell is no BlockCreateStats.', { cell: slice.cell, found: tag });
  }
  return { root: slice.maybeRef(), extended: tag === 0x34 };
}

/** The reverse of `readMasterchainStateExtra`. */
export function storeMasterchainStateExtra(store: CellStore, extra: MasterchainStateExtra): number {
  const writer = writeConfigParams(new BitWriter().uint(0xcc26, 16).maybeRef(extra.shardHashes), extra.config);
  return writeCurrencyCollection(writer.ref(extra.details), extra.globalBalance).finish(store);
}

/** The reverse of `readMasterchainStateDetails`. Statistics are written in the form without augmentation. */
export function storeMasterchainStateDetails(store: CellStore, details: MasterchainStateDetails): number {
  const { blockCreateStats, lastKeyBlock } = details;
  const writer = new BitWriter()
    .uint(details.flags, 16)
    .uint(details.validatorListHashShort, 32)
    .uint(details.catchainSeqno, 32)
    .bit(details.nextCatchainUpdated);
  writeOldMasterchainBlocks(writer, store, details.prevBlocks)
    .bit(details.afterKeyBlock)
    .bit(lastKeyBlock !== undefined);
  if (lastKeyBlock !== undefined) writeExtBlockRef(writer, lastKeyBlock);
  if (blockCreateStats !== undefined) writer.uint(0x17, 8).maybeRef(blockCreateStats.root);
  return writer.finish(store);
}
