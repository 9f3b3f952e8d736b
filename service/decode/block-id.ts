/** Full name of a block: its position and its hashes (`tonNode.blockIdExt`). */
export type BlockId = {
  /** Workchain, signed 32 bits; -1 is the masterchain. */
  readonly workchain: number;
  /** Shard as unsigned 64 bits: prefix bits, a 1, zeros. The whole workchain is `0x8000000000000000n`. */
  readonly shard: bigint;
  /** Sequence number in its shard, unsigned 32 bits. */
  readonly seqno: number;
  /** Representation hash of the block's root cell, 32 bytes. */
  readonly rootHash: Buffer;
  /** SHA-256 of the block's BoC file, 32 bytes. */
  readonly fileHash: Buffer;
};

/** Workchain of the masterchain. */
export const MASTERCHAIN = -1;

/** Shard that covers a whole workchain. */
export const FULL_SHARD = 0x8000000000000000n;

/** Reports whether all five fields are equal. */
export function sameBlock(a: BlockId, b: BlockId): boolean {
  return (
    a.workchain === b.workchain &&
    a.shard === b.shard &&
    a.seqno === b.seqno &&
    a.rootHash.equals(b.rootHash) &&
    a.fileHash.equals(b.fileHash)
  );
}

/** Short text for logs and errors: `(-1,8000000000000000,1000)`. */
export function blockText(block: Pick<BlockId, 'workchain' | 'shard' | 'seqno'>): string {
  return `(${block.workchain},${block.shard.toString(16).padStart(16, '0')},${block.seqno})`;
}
