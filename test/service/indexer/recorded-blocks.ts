import type { BlockId } from '#service/decode/block-id.ts';
import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { readBlockExtra } from '#service/decode/tlb/block-extra.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { readMasterchainBlockExtra } from '#service/decode/tlb/masterchain-block-extra.ts';
import { listShards } from '#service/decode/tlb/shard-descr.ts';
import type { SourceBlock, SourceBlocks } from '#service/indexer/source.ts';
import { readRecording, readZeroStates } from './recording.ts';

/** The first recorded network's blocks by masterchain block, as an indexer's source gives them. */
export async function recordedBlocks(): Promise<SourceBlocks[]> {
  const [tape, zeroStates] = await Promise.all([readRecording(), readZeroStates()]);
  const groups = [...Map.groupBy(tape, ({ masterchainSeqno }) => masterchainSeqno)];
  return groups
    .toSorted(([one], [other]) => one - other)
    .map(([mcSeqno, group]) =>
      sourceBlocks(
        mcSeqno,
        group.map(({ id, bytes }) => ({ id, boc: bytes })),
        mcSeqno === 1 ? zeroStates : [],
      ),
    );
}

function sourceBlocks(
  mcSeqno: number,
  blocks: readonly SourceBlock[],
  zeroStates: readonly SourceBlock[],
): SourceBlocks {
  const masterchain = blocks.find(({ id }) => id.workchain === MASTERCHAIN);
  if (masterchain === undefined) throw new Error(`the recording has no masterchain block ${mcSeqno}`);
  const shards = blocks.filter((block) => block !== masterchain);
  return { mcSeqno, utime: 0, masterchain, shards, zeroStates, tops: topsOf(masterchain) };
}

function topsOf({ boc }: SourceBlock): BlockId[] {
  const table = parseBoc(boc);
  const { custom } = readBlockExtra(table, readBlock(table, table.roots[0]!).extra);
  return listShards(table, readMasterchainBlockExtra(table, custom!).shardHashes).map(({ block }) => block);
}
