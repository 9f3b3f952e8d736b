import type { BlockId } from '../decode/block-id.ts';
import { blockText } from '../decode/block-id.ts';
import { TonplaneError } from '../error.ts';
import type { BlockFile } from '../live/blocks/block-files.ts';
import { IndexerError } from './errors.ts';
import { createPromiseCache } from '../runtime/promise-cache.ts';
import { pause } from '../runtime/retry.ts';
import type { BlockSource } from './source.ts';

/** Reads single blocks from a kind of source. */
export type BlockFileReader = {
  /** Proved to be of the network. */
  readonly masterchainBlock: (seqno: number, signal: AbortSignal) => Promise<BlockId>;
  /**
   * File of a block whose id is proved.
   * @param mcSeqno the masterchain block that includes it
   */
  readonly readFile: (block: BlockId, mcSeqno: number, signal: AbortSignal) => Promise<BlockFile>;
  /** File of a zerostate whose id is proved. */
  readonly readZeroState: (block: BlockId, signal: AbortSignal) => Promise<Buffer>;
  /** Version of the rules that the key block of a seqno set (0: the zerostate). */
  readonly readGlobalVersion: (keyBlockSeqno: number, signal: AbortSignal) => Promise<number>;
};

/**
 * Shard blocks between two masterchain blocks: a few of each shard, after an outage of the masterchain some hundreds. More is no chain but a
 * mistake of ours.
 */
const BLOCKS_MAX = 8_192;

/** Masterchain blocks whose shards are cached: as many as are read ahead, a few hundred bytes a shard. */
const KNOWN_MAX = 256;

/** Key blocks whose version is cached: blocks that are read together mostly share a version. */
const VERSIONS_MAX = 64;

/** A lite server may lack a block for a moment. A version that is not read is absent from rows for good. */
const VERSION_ASKS = 3;

/** Pause before the next ask: longer than the pool caches a refusal (one second). */
const VERSION_PAUSE_MS = 1_500;

/**
 * Reads the blocks of a masterchain block. Walks from its shards back to the shards of the previous masterchain block, along previous
 * blocks. An id that a proved block names is proved.
 */
export function createShardWalk(reader: BlockFileReader): BlockSource {
  /** Shards of masterchain blocks: the previous block is usually cached. */
  const known = createPromiseCache<readonly BlockId[]>({ max: KNOWN_MAX });
  const versions = createPromiseCache<number | undefined>({ max: VERSIONS_MAX });

  async function readMasterchain(seqno: number, signal: AbortSignal): Promise<BlockFile> {
    const file = reader.masterchainBlock(seqno, signal).then((block) => reader.readFile(block, seqno, signal));
    // The next block reads these shards during this read. The reader of the file receives its failure.
    known.get(seqno, signal, () => file.then(({ shards }) => shards)).catch(() => undefined);
    return file;
  }

  /** Empty before the first block, where every way back ends at a zerostate. */
  async function shardsOf(seqno: number, signal: AbortSignal): Promise<readonly BlockId[]> {
    if (seqno === 0) return [];
    return known.get(seqno, signal, async () => {
      const block = await reader.masterchainBlock(seqno, signal);
      return (await reader.readFile(block, seqno, signal)).shards;
    });
  }

  function versionAfter({ globalVersion, keyBlockSeqno }: BlockFile, signal: AbortSignal): Promise<number | undefined> {
    return versions.get(keyBlockSeqno, signal, async () => globalVersion ?? (await readVersion(keyBlockSeqno, signal)));
  }

  /** A key block may be older than all blocks of lite servers. Its version stays unknown after some refusals. */
  async function readVersion(keyBlockSeqno: number, signal: AbortSignal): Promise<number | undefined> {
    for (let asks = 1; ; asks++) {
      try {
        return await reader.readGlobalVersion(keyBlockSeqno, signal);
      } catch (error) {
        if (!(error instanceof TonplaneError) || error.code !== 'pruned') throw error;
        if (asks === VERSION_ASKS) return undefined;
      }
      await pause(VERSION_PAUSE_MS, signal);
    }
  }

  return {
    async read(mcSeqno, signal) {
      // Work started next to a failed part must end.
      const failed = new AbortController();
      const both = AbortSignal.any([signal, failed.signal]);
      try {
        const [masterchain, before] = await Promise.all([readMasterchain(mcSeqno, both), shardsOf(mcSeqno - 1, both)]);
        const [{ files, beginnings }, globalVersion] = await Promise.all([
          walkBack(masterchain, before, (block) => reader.readFile(block, mcSeqno, both)),
          versionAfter(masterchain, both),
        ]);
        const zeroStates = beginnings.map(async (id) => ({ id, boc: await reader.readZeroState(id, both) }));
        return {
          mcSeqno,
          utime: masterchain.utime,
          masterchain: { id: masterchain.id, boc: masterchain.boc },
          shards: files.map(({ id, boc }) => ({ id, boc })),
          zeroStates: await Promise.all(zeroStates),
          tops: masterchain.shards,
          globalVersion,
        };
      } catch (error) {
        failed.abort(error);
        throw error;
      }
    },
  };
}

async function walkBack(
  masterchain: BlockFile,
  before: readonly BlockId[],
  readFile: (block: BlockId) => Promise<BlockFile>,
): Promise<{ readonly files: readonly BlockFile[]; readonly beginnings: readonly BlockId[] }> {
  const seen = new Set(before.map(nameOf));
  const files: BlockFile[] = [];
  const beginnings = masterchain.previous.filter(({ seqno }) => seqno === 0);

  async function visit(block: BlockId): Promise<void> {
    const name = nameOf(block);
    if (seen.has(name)) return;
    seen.add(name);
    if (block.seqno === 0) {
      beginnings.push(block);
      return;
    }
    if (seen.size > before.length + BLOCKS_MAX) {
      const data = { block: blockText(masterchain.id), limit: BLOCKS_MAX };
      throw new IndexerError('chain_broken', 'The shards do not lead back to those of the block before.', data);
    }
    const file = await readFile(block);
    files.push(file);
    await Promise.all(file.previous.map(visit));
  }

  await Promise.all(masterchain.shards.map(visit));
  return {
    files: files.toSorted(({ id: a }, { id: b }) => inOrder(a, b)),
    beginnings: beginnings.toSorted(inOrder),
  };
}

/** Orders blocks of the same height by shard, so that every source has the same order. */
function inOrder(a: BlockId, b: BlockId): number {
  return a.workchain - b.workchain || a.seqno - b.seqno || (a.shard < b.shard ? -1 : 1);
}

function nameOf({ workchain, rootHash }: BlockId): string {
  return `${workchain} ${rootHash.toString('latin1')}`;
}
