import type { BlockId } from '../decode/block-id.ts';
import type { BlockFile } from '../live/blocks/block-files.ts';
import { IndexerError } from './errors.ts';
import { createPromiseCache } from '../runtime/promise-cache.ts';

/** Masterchain blocks per proof: the others follow from it by the previous block that each block names. */
const CHUNK_BLOCKS = 100;

/** Chunks whose ids are cached: the chunks of the range readers. 100 ids are some 20 kB. */
const CHUNKS_MAX = 16;

export type ProvedChunksDependencies = {
  /** The id of a masterchain block, proved by lite servers. */
  readonly prove: (seqno: number, signal: AbortSignal) => Promise<BlockId>;
  /** File of a masterchain block whose id is proved. */
  readonly readFile: (block: BlockId, signal: AbortSignal) => Promise<BlockFile>;
  /** Last masterchain block that can be read together with this block. */
  readonly lastReadable: (seqno: number) => Promise<number>;
};

/** Proved ids of masterchain blocks, for a source that has the blocks without proofs. */
export type ProvedChunks = { readonly idOf: (seqno: number, signal: AbortSignal) => Promise<BlockId> };

/** Undefined for a missing or damaged block of the source. */
function absent(error: unknown): undefined {
  if (error instanceof IndexerError && ABSENT.has(error.code)) return undefined;
  throw error;
}

const ABSENT: ReadonlySet<string> = new Set(['block_missing', 'package_damaged', 'wrong_block']);

export function createProvedChunks({ prove, readFile, lastReadable }: ProvedChunksDependencies): ProvedChunks {
  const chunks = createPromiseCache<ReadonlyMap<number, BlockId>>({ max: CHUNKS_MAX });

  /** Proves the end of a chunk and walks back to its beginning. */
  async function proveChunk(from: number, last: number, signal: AbortSignal): Promise<ReadonlyMap<number, BlockId>> {
    const ids = new Map<number, BlockId>();
    let block = await prove(last, signal);
    ids.set(last, block);
    for (let seqno = last; seqno > from; seqno--) {
      const file = await readFile(block, signal).catch(absent);
      // The packages begin in the middle of the chunk, or are damaged there. Blocks below are proved block by block.
      if (file === undefined) break;
      // A masterchain block has one previous block: its shard is never split.
      block = file.previous[0]!;
      ids.set(block.seqno, block);
    }
    return ids;
  }

  return {
    async idOf(seqno, signal) {
      const number = Math.floor((seqno - 1) / CHUNK_BLOCKS);
      const end = (number + 1) * CHUNK_BLOCKS;
      const from = end - CHUNK_BLOCKS + 1;
      const last = Math.max(seqno, Math.min(end, await lastReadable(seqno)));
      const ids = await chunks.get(number, signal, () => proveChunk(from, last, signal));
      return ids.get(seqno) ?? prove(seqno, signal);
    },
  };
}
