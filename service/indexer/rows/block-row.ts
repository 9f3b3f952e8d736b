import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { shardToSigned } from '#service/decode/shard.ts';
import { masterBlock, previousBlocks } from '#service/decode/tlb/block-info.ts';
import type { BlockRow } from '#service/store/tables.ts';
import type { BlockReader } from './block-reader.ts';

/** The block's own row (service/v3/README.md#blocks). */
export function blockRow(block: BlockReader, mcSeqno: number, txCount: number): BlockRow {
  const { id, table, globalId, info, extra } = block;
  const [previous, second] = previousBlocks(table, info);
  return {
    workchain: id.workchain,
    shard: block.signedShard,
    seqno: id.seqno,
    mc_seqno: mcSeqno,
    root_hash: id.rootHash,
    file_hash: id.fileHash,
    gen_utime: info.utime | 0,
    start_lt: info.startLt,
    end_lt: info.endLt,
    tx_count: txCount,
    global_id: globalId,
    version: info.version | 0,
    flags: info.flags,
    vert_seqno: info.vertSeqno | 0,
    vert_seqno_incr: info.vertSeqnoIncrement,
    after_merge: info.afterMerge,
    before_split: info.beforeSplit,
    after_split: info.afterSplit,
    want_merge: info.wantMerge,
    want_split: info.wantSplit,
    key_block: info.keyBlock,
    validator_list_hash_short: info.validatorListHashShort | 0,
    gen_catchain_seqno: info.catchainSeqno | 0,
    min_ref_mc_seqno: info.minRefMasterchainSeqno | 0,
    prev_key_block_seqno: info.prevKeyBlockSeqno | 0,
    master_ref_seqno: id.workchain === MASTERCHAIN ? 0 : (masterBlock(table, info)?.seqno ?? 0),
    rand_seed: extra.randSeed,
    created_by: extra.createdBy,
    software_version: info.software === undefined ? null : info.software.version | 0,
    global_version: block.globalVersion === undefined ? null : block.globalVersion | 0,
    prev_shard: shardToSigned(previous!.shard),
    prev_seqno: previous!.seqno,
    prev_shard_2: second === undefined ? null : shardToSigned(second.shard),
    prev_seqno_2: second?.seqno ?? null,
  };
}
