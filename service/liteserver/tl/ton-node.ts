import type { BlockId } from '#service/decode/block-id.ts';
import type { Carried } from './codec.ts';
import type { TlRecord } from './record.ts';
import { int, int256, uint, ulong } from './codec.ts';
import { record } from './record.ts';

/** Block by position only (`tonNode.blockId`, service/liteserver/README.md#block-ids). */
export const blockPlace = record('tonNode.blockId', 'tonNode.BlockId', { workchain: int, shard: ulong, seqno: uint });

export type BlockPlace = Carried<typeof blockPlace>;

/** Full name of a block (`tonNode.blockIdExt`). */
export const blockId: TlRecord<BlockId> = record('tonNode.blockIdExt', 'tonNode.BlockIdExt', {
  workchain: int,
  shard: ulong,
  seqno: uint,
  rootHash: int256,
  fileHash: int256,
});

export const zeroStateId = record('tonNode.zeroStateIdExt', 'tonNode.ZeroStateIdExt', {
  workchain: int,
  rootHash: int256,
  fileHash: int256,
});
