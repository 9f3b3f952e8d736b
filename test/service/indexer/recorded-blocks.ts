import type { BlockId } from '#service/decode/block-id.ts';
import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { readBlockExtra } from '#service/decode/tlb/block-extra.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { versionInForce } from '#service/decode/tlb/global-version.ts';
import { readMasterchainStateExtra } from '#service/decode/tlb/masterchain-state-extra.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import { readMasterchainBlockExtra } from '#service/decode/tlb/masterchain-block-extra.ts';
import { listShards } from '#service/decode/tlb/shard-descr.ts';
import type { SourceBlock, SourceBlocks } from '#service/indexer/source.ts';
import { readRecording, readZeroStates } from './recording.ts';

/** The first recorded network's blocks by masterchain block, as an indexer's source gives them. */
export async function recordedBlocks(): Promise<SourceBlocks[]> {
  const [tape, zeroStates] = await Promise.all([readRecording(), readZeroStates()]);
  const groups = [...Map.groupBy(tape, ({ masterchainSeqno }) => masterchainSeqno)];
  let globalVersion = versionAtBeginning(zeroStates[0]!);
  return groups
    .toSorted(([one], [other]) => one - other)
    .map(([mcSeqno, group]) => {
      const blocks = group.map(({ id, bytes }) => ({ id, boc: bytes }));
      const masterchain = blocks.find(({ id }) => id.workchain === MASTERCHAIN);
      if (masterchain === undefined) throw new Error(`the recording has no masterchain block ${mcSeqno}`);
      const shards = blocks.filter((block) => block !== masterchain);
      const { tops, newVersion } = readMasterchain(masterchain);
      globalVersion = newVersion ?? globalVersion;
      const zeros = mcSeqno === 1 ? zeroStates : [];
      return { mcSeqno, utime: 0, masterchain, shards, zeroStates: zeros, tops, globalVersion };
    });
}

function versionAtBeginning({ boc }: SourceBlock): number {
  const table = parseBoc(boc);
  const { custom } = readShardState(table, table.roots[0]!);
  return versionInForce(table, readMasterchainStateExtra(table, custom!).config.root).version;
}

/** Its shards, and the version of the rules that a key block sets. */
function readMasterchain({ boc }: SourceBlock): { tops: BlockId[]; newVersion: number | undefined } {
  const table = parseBoc(boc);
  const { custom } = readBlockExtra(table, readBlock(table, table.roots[0]!).extra);
  const { shardHashes, config } = readMasterchainBlockExtra(table, custom!);
  return {
    tops: listShards(table, shardHashes).map(({ block }) => block),
    newVersion: config && versionInForce(table, config.root).version,
  };
}
