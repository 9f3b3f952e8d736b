import { readFileSync } from 'node:fs';

import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { readBlockInfo } from '#service/decode/tlb/block-info.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import type { BlockSource, SourceBlock, SourceBlocks } from '#service/indexer/source.ts';
import { recordedBlocks } from '#test/service/indexer/recorded-blocks.ts';
import { fixtureFiles } from '#test/support/fixtures.ts';

/** Masterchain blocks without an end, the same ones over and over. */
export type LocalSource = {
  /** Masterchain blocks of one pass. */
  readonly length: number;
  readonly source: BlockSource;
  /** 0 for the first pass. */
  readonly passOf: (mcSeqno: number) => number;
};

/** Above all seqnos of a pass. */
const seqnosOfPass = 100_000;

/** Masterchain blocks for one of mainnet's blocks of a shard, with 300 to 600 transactions: some 150 for each, as mainnet had in 2025. */
const mainnetEvery = 3;

/** The recorded chain as it is: most of its blocks are all but empty. */
export async function openRecordedChain(): Promise<LocalSource> {
  return repeated(await recordedBlocks());
}

/** Recorded masterchain blocks with blocks of mainnet's shards under some of them; undefined where those are missing. */
export async function openMainnetBlocks(): Promise<LocalSource | undefined> {
  const shards = fixtureFiles(/\/(block|shard)-\d+\.boc$/, 'mainnet-blocks').map(readShardBlock);
  const dense = shards.filter(({ id }) => id.workchain !== MASTERCHAIN);
  if (dense.length === 0) return undefined;
  const recorded = await recordedBlocks();
  return repeated(
    dense.flatMap((shard, index) =>
      recorded
        .slice(index * mainnetEvery, (index + 1) * mainnetEvery)
        .map((group, place) => ({ ...group, shards: place === 0 ? [shard] : [] })),
    ),
  );
}

function readShardBlock(file: string): SourceBlock {
  const boc = readFileSync(file);
  const table = parseBoc(boc);
  const { workchain, shard, seqno } = readBlockInfo(table, readBlock(table, table.roots[0] ?? 0).info);
  const rootHash = table.hash(table.roots[0] ?? 0);
  return { id: { workchain, shard, seqno, rootHash, fileHash: rootHash }, boc };
}

function repeated(groups: readonly SourceBlocks[]): LocalSource {
  const passOf = (mcSeqno: number): number => Math.floor((mcSeqno - 1) / groups.length);
  return {
    length: groups.length,
    passOf,
    source: {
      read(mcSeqno) {
        const group = groups[(mcSeqno - 1) % groups.length];
        if (group === undefined) return Promise.reject(new Error('the recording has no blocks'));
        return Promise.resolve(renumbered(group, mcSeqno, passOf(mcSeqno) * seqnosOfPass));
      },
    },
  };
}

function renumbered(group: SourceBlocks, mcSeqno: number, more: number): SourceBlocks {
  const { masterchain, shards, tops } = group;
  return {
    ...group,
    mcSeqno,
    masterchain: { ...masterchain, id: { ...masterchain.id, seqno: mcSeqno } },
    shards: shards.map((block) => ({ ...block, id: { ...block.id, seqno: block.id.seqno + more } })),
    tops: tops.map((id) => ({ ...id, seqno: id.seqno + more })),
  };
}
