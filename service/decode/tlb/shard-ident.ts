import type { BitWriter } from '../bit-writer.ts';
import type { CellSlice } from '../cell-slice.ts';
import { DecodeError } from '../errors.ts';
import { SHARD_PREFIX_BITS_MAX, shardFromPrefix, shardPrefixBits } from '../shard.ts';

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

/** The reverse of `readShardIdent`. */
export function writeShardIdent(writer: BitWriter, { workchain, shard }: ShardIdent): BitWriter {
  const bits = shardPrefixBits(shard);
  return writer
    .uint(0, 2)
    .uint(bits, 6)
    .int(workchain, 32)
    .int(shard ^ (1n << BigInt(63 - bits)), 64);
}
