import type { CellSlice } from '../cell-slice.ts';
import { DecodeError } from '../errors.ts';
import { SHARD_PREFIX_BITS_MAX, shardFromPrefix } from '../shard.ts';

/** Workchain (signed 32 bits) and shard (unsigned 64 bits). */
export type ShardIdent = { readonly workchain: number; readonly shard: bigint };

/** `shard_ident$00 shard_pfx_bits:(#<= 60) workchain_id:int32 shard_prefix:uint64 = ShardIdent`. */
export function readShardIdent(slice: CellSlice): ShardIdent {
  slice.expectTag(2, 0, 'ShardIdent');
  const bits = slice.uint(6);
  if (bits > SHARD_PREFIX_BITS_MAX) {
    throw new DecodeError('bad_value', 'A shard prefix is too long.', { found: bits, limit: SHARD_PREFIX_BITS_MAX });
  }
  const workchain = slice.int(32);
  return { workchain, shard: shardFromPrefix(slice.uint64(), bits) };
}
