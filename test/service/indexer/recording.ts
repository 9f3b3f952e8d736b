import { createTimeSlice } from '#service/runtime/time-slice.ts';
import type { Recording, RecordedBlock } from '#service/devchain/chain/recording.ts';
import { openRecording } from '#service/devchain/chain/recording.ts';
import { createBlockFinder } from '#service/live/blocks/block-finder.ts';
import type { LiveBlockFiles } from '#service/live/blocks/block-files.ts';
import { createLiveBlockFiles } from '#service/live/blocks/block-files.ts';
import type { Pool } from '#service/pool/pool.ts';
import type { BlockSource, SourceBlock, SourceBlocks } from '#service/indexer/source.ts';
import { recordingDirs } from '#test/support/fixtures.ts';

/** Every block of the first recorded network, in the order of the recording. */
export async function readRecording(): Promise<readonly RecordedBlock[]> {
  return (await readFirstTape()).blocks;
}

/** What the masterchain and the basechain of the first recorded network begin with. */
export async function readZeroStates(): Promise<readonly SourceBlock[]> {
  const { masterchainZeroState, basechainZeroState } = await readFirstTape();
  return [masterchainZeroState, basechainZeroState].map(({ id, bytes }) => ({ id, boc: bytes }));
}

async function readFirstTape(): Promise<Recording> {
  const [folder] = recordingDirs();
  if (folder === undefined) throw new Error('no recorded network among the fixtures');
  return await openRecording(folder, createTimeSlice(undefined));
}

export function filesOver(pool: Pool): LiveBlockFiles {
  return createLiveBlockFiles({ pool, finder: createBlockFinder({ pool }) });
}

/** Masterchain blocks read at a time. */
const AT_A_TIME = 16;

/** Reads masterchain blocks from first to last, some at a time. */
export async function readAll(source: BlockSource, first: number, last: number): Promise<readonly SourceBlocks[]> {
  const signal = new AbortController().signal;
  const all: SourceBlocks[] = [];
  for (let from = first; from <= last; from += AT_A_TIME) {
    const seqnos = Array.from({ length: Math.min(AT_A_TIME, last - from + 1) }, (_, index) => from + index);
    all.push(...(await Promise.all(seqnos.map((seqno) => source.read(seqno, signal)))));
  }
  return all;
}

/** Blocks by root hash, for comparisons. */
export function shown(blocks: SourceBlocks) {
  return {
    mcSeqno: blocks.mcSeqno,
    utime: blocks.utime,
    masterchain: [blocks.masterchain.id.rootHash.toString('hex'), blocks.masterchain.boc.length],
    shards: blocks.shards.map(({ id, boc }) => [
      id.shard.toString(16),
      id.seqno,
      id.rootHash.toString('hex'),
      boc.length,
    ]),
    zeroStates: blocks.zeroStates.map(({ id, boc }) => [id.workchain, id.rootHash.toString('hex'), boc.length]),
    tops: blocks.tops.map(({ shard, seqno }) => [shard.toString(16), seqno]),
    globalVersion: blocks.globalVersion,
  };
}
