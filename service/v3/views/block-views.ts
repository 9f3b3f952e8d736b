import { list, named, object, type Infer } from '#service/contract/shape.ts';
import type { BlockRow } from '#service/store/tables.ts';
import { flag, hash, integer, intString, orNull, shardText, viewBytes, viewShard } from '../request/scalars.ts';

export const blockId = named('BlockId', object({ workchain: integer, shard: shardText, seqno: integer }));

/** A block (service/v3/README.md#blocks). */
export const block = named(
  'Block',
  object({
    workchain: integer,
    shard: shardText,
    seqno: integer,
    root_hash: hash,
    file_hash: hash,
    global_id: integer,
    version: integer,
    after_merge: flag,
    before_split: flag,
    after_split: flag,
    want_merge: flag,
    want_split: flag,
    key_block: flag,
    vert_seqno_incr: flag,
    flags: integer,
    gen_utime: intString,
    start_lt: intString,
    end_lt: intString,
    validator_list_hash_short: integer,
    gen_catchain_seqno: integer,
    min_ref_mc_seqno: integer,
    prev_key_block_seqno: integer,
    vert_seqno: integer,
    master_ref_seqno: integer,
    rand_seed: hash,
    created_by: hash,
    tx_count: integer,
    masterchain_block_ref: blockId,
    prev_blocks: orNull(list(blockId)),
  }),
);

/** The shard that the masterchain is. */
const wholeShard = 2n ** 63n;

export function viewBlock(row: BlockRow): Infer<typeof block> {
  const { workchain } = row;
  return {
    workchain,
    shard: viewShard(row.shard),
    seqno: row.seqno,
    root_hash: viewBytes(row.root_hash),
    file_hash: viewBytes(row.file_hash),
    global_id: row.global_id,
    version: row.version,
    after_merge: row.after_merge,
    before_split: row.before_split,
    after_split: row.after_split,
    want_merge: row.want_merge,
    want_split: row.want_split,
    key_block: row.key_block,
    vert_seqno_incr: row.vert_seqno_incr,
    flags: row.flags,
    gen_utime: (row.gen_utime >>> 0).toString(),
    start_lt: row.start_lt.toString(),
    end_lt: row.end_lt.toString(),
    validator_list_hash_short: row.validator_list_hash_short,
    gen_catchain_seqno: row.gen_catchain_seqno,
    min_ref_mc_seqno: row.min_ref_mc_seqno,
    prev_key_block_seqno: row.prev_key_block_seqno,
    vert_seqno: row.vert_seqno,
    master_ref_seqno: row.master_ref_seqno,
    rand_seed: viewBytes(row.rand_seed),
    created_by: viewBytes(row.created_by),
    tx_count: row.tx_count,
    masterchain_block_ref: { workchain: -1, shard: viewShard(wholeShard), seqno: row.mc_seqno },
    prev_blocks: viewPrevious(row),
  };
}

/** The previous block; after a merge two blocks. */
function viewPrevious(row: BlockRow): Infer<typeof blockId>[] {
  const { workchain, prev_shard_2: shard, prev_seqno_2: seqno } = row;
  const first = { workchain, shard: viewShard(row.prev_shard), seqno: row.prev_seqno };
  return shard === null || seqno === null ? [first] : [first, { workchain, shard: viewShard(shard), seqno }];
}
