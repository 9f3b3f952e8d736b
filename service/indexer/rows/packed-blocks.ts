import type { BlockId } from '#service/decode/block-id.ts';
import type { SourceBlock, SourceBlocks } from '../source.ts';

type BlockPlace = Pick<BlockId, 'workchain' | 'shard' | 'seqno'>;

/** Blocks that cross the thread border: the hashes of each block, and all files in one buffer. */
export type PackedBlocks = {
  readonly mcSeqno: number;
  readonly utime: number;
  /** The masterchain block first, zerostates last. */
  readonly blocks: readonly (BlockPlace & { readonly bocBytes: number })[];
  /** How many of them are zerostates. */
  readonly zeroStates: number;
  readonly tops: readonly BlockPlace[];
  readonly globalVersion: number | undefined;
  readonly bytes: Uint8Array<ArrayBuffer>;
};

const HASHES_BYTES = 64;

export function packBlocks(source: SourceBlocks): PackedBlocks {
  const { mcSeqno, utime, masterchain, shards, zeroStates, tops, globalVersion } = source;
  const all = [masterchain, ...shards, ...zeroStates];
  const bytes = new Uint8Array(all.reduce((sum, { boc }) => sum + HASHES_BYTES + boc.length, 0));
  let at = 0;
  for (const { id, boc } of all) {
    bytes.set(id.rootHash, at);
    bytes.set(id.fileHash, at + 32);
    bytes.set(boc, at + HASHES_BYTES);
    at += HASHES_BYTES + boc.length;
  }
  const blocks = all.map(({ id, boc }) => ({ ...placeOf(id), bocBytes: boc.length }));
  return { mcSeqno, utime, blocks, zeroStates: zeroStates.length, tops: tops.map(placeOf), globalVersion, bytes };
}

function placeOf({ workchain, shard, seqno }: BlockPlace): BlockPlace {
  return { workchain, shard, seqno };
}

/** Reverse of `packBlocks`. Tops have no hashes, because no row needs them. */
export function unpackBlocks(packed: PackedBlocks): SourceBlocks {
  const { mcSeqno, utime, blocks, zeroStates, tops, globalVersion, bytes } = packed;
  const buffer = Buffer.from(bytes.buffer);
  let at = 0;
  const take = (length: number): Buffer => buffer.subarray(at, (at += length));
  const all = blocks.map(({ workchain, shard, seqno, bocBytes }): SourceBlock => {
    const id = { workchain, shard, seqno, rootHash: take(32), fileHash: take(32) };
    return { id, boc: take(bocBytes) };
  });
  const [masterchain, ...others] = all;
  const shards = others.length - zeroStates;
  const none = Buffer.alloc(32);
  return {
    mcSeqno,
    utime,
    masterchain: masterchain!,
    shards: others.slice(0, shards),
    zeroStates: others.slice(shards),
    tops: tops.map((place) => ({ ...place, rootHash: none, fileHash: none })),
    globalVersion,
  };
}
