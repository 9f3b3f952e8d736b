import type { CellStore } from '../cell-store.ts';
import { BitWriter } from '../bit-writer.ts';
import { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';
import { readConfigParams, writeConfigParams } from './config-params.ts';
import type { ConfigParams } from './config-params.ts';
import { skipCurrencyCollection } from './currency-collection.ts';
import { writeAllShardFees } from './shard-fees.ts';

/** Masterchain-only part of a block. */
export type MasterchainBlockExtra = {
  readonly keyBlock: boolean;
  /** Root of the dictionary of shards: see shard-descr.ts. */
  readonly shardHashes: number | undefined;
  /** Root of `HashmapAugE 96 ShardFeeCreated`. */
  readonly shardFees: number | undefined;
  /** Cell of previous block signatures, recover and mint messages: see `readMasterchainBlockDetails`. */
  readonly details: number;
  /** The whole configuration, in key blocks. */
  readonly config: ConfigParams | undefined;
};

/**
 * `masterchain_block_extra#cca5 key_block:(## 1) shard_hashes:ShardHashes shard_fees:ShardFees ^[...]
 * config:key_block?ConfigParams = McBlockExtra`.
 */
export function readMasterchainBlockExtra(table: CellTable, cell: number): MasterchainBlockExtra {
  const slice = new CellSlice(table, cell);
  slice.expectTag(16, 0xcca5, 'McBlockExtra');
  const keyBlock = slice.bit();
  const shardHashes = slice.maybeRef();
  const shardFees = slice.maybeRef();
  // The dictionary's augmentation, fees and created funds, is in this cell even if the dictionary is empty.
  skipCurrencyCollection(slice);
  skipCurrencyCollection(slice);
  return {
    keyBlock,
    shardHashes,
    shardFees,
    details: slice.ref(),
    config: keyBlock ? readConfigParams(slice) : undefined,
  };
}

/** Roots and cells of the separate cell in `McBlockExtra`. */
export type MasterchainBlockDetails = {
  /** Root of `HashmapE 16 CryptoSignaturePair`. */
  readonly prevBlockSignatures: number | undefined;
  /** Cells of `InMsg`: the messages that bring fees and new coins to their accounts. */
  readonly recoverCreateMsg: number | undefined;
  readonly mintMsg: number | undefined;
};

/** `^[ prev_blk_signatures:(HashmapE 16 CryptoSignaturePair) recover_create_msg:(Maybe ^InMsg) mint_msg:(Maybe ^InMsg) ]`. */
export function readMasterchainBlockDetails(table: CellTable, cell: number): MasterchainBlockDetails {
  const slice = new CellSlice(table, cell);
  return { prevBlockSignatures: slice.maybeRef(), recoverCreateMsg: slice.maybeRef(), mintMsg: slice.maybeRef() };
}

/** The reverse of `readMasterchainBlockExtra`. */
export function storeMasterchainBlockExtra(store: CellStore, extra: MasterchainBlockExtra): number {
  const writer = new BitWriter().uint(0xcca5, 16).bit(extra.keyBlock).maybeRef(extra.shardHashes);
  writeAllShardFees(writer, store, extra.shardFees).ref(extra.details);
  if (extra.config !== undefined) writeConfigParams(writer, extra.config);
  return writer.finish(store);
}

/** The reverse of `readMasterchainBlockDetails`. */
export function storeMasterchainBlockDetails(store: CellStore, details: MasterchainBlockDetails): number {
  const { prevBlockSignatures, recoverCreateMsg, mintMsg } = details;
  return new BitWriter().maybeRef(prevBlockSignatures).maybeRef(recoverCreateMsg).maybeRef(mintMsg).finish(store);
}
