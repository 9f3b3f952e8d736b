import type { BitWriter } from '../bit-writer.ts';
import type { CellSlice } from '../cell-slice.ts';

/** Reference to a block from another place, which implies its shard. */
export type ExtBlockRef = {
  readonly endLt: bigint;
  readonly seqno: number;
  readonly rootHash: Buffer;
  readonly fileHash: Buffer;
};

/** `ext_blk_ref$_ end_lt:uint64 seq_no:uint32 root_hash:bits256 file_hash:bits256 = ExtBlkRef`. */
export function readExtBlockRef(slice: CellSlice): ExtBlockRef {
  return { endLt: slice.uint64(), seqno: slice.uint(32), rootHash: slice.hash(), fileHash: slice.hash() };
}

/** The reverse of `readExtBlockRef`. */
export function writeExtBlockRef(writer: BitWriter, { endLt, seqno, rootHash, fileHash }: ExtBlockRef): BitWriter {
  return writer.int(endLt, 64).uint(seqno, 32).bytes(rootHash).bytes(fileHash);
}
