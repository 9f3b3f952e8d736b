import type { BlockId } from '../decode/block-id.ts';
import { blockText } from '../decode/block-id.ts';
import type { BlockFile, LiveBlockFiles } from '../live/block-files.ts';
import { openBlockFile } from '../live/block-files.ts';
import { openArchive } from './archive-index.ts';
import { IndexerError } from './errors.ts';
import { questionContext } from './lite-server-source.ts';
import { createPlaces } from '../live/places.ts';
import { createProvedChunks } from './proved-chunks.ts';
import { createShardWalk } from './shard-walk.ts';
import type { BlockSource } from './source.ts';

/** Files read at a time: a disk gains nothing by more. */
const READS_MAX = 8;

/**
 * Blocks from a node's archive packages (`db/archive/packages`). Only proofs of some masterchain blocks, one of a hundred, are asked of lite
 * servers, zerostates, which are in no package, and key blocks, which may be in none; everything else follows from those by hashes.
 * @throws IndexerError `archive_unusable`
 */
export async function createArchiveSource(
  { folder }: { readonly folder: string },
  { files }: { readonly files: Pick<LiveBlockFiles, 'masterchainBlock' | 'readZeroState' | 'readGlobalVersion'> },
): Promise<BlockSource> {
  const archive = await openArchive(folder);
  const places = createPlaces(READS_MAX);

  async function readFile(block: BlockId, mcSeqno: number, signal: AbortSignal): Promise<BlockFile> {
    const data = await places.run(signal, () => archive.read(block, mcSeqno));
    return openKept(block, data, folder);
  }

  const chunks = createProvedChunks({
    prove: (seqno, signal) => files.masterchainBlock(seqno, questionContext('backfill', signal)),
    readFile: (block, signal) => readFile(block, block.seqno, signal),
    lastReadable: archive.endOfGroup,
  });
  return createShardWalk({
    masterchainBlock: chunks.idOf,
    readFile,
    readZeroState: (block, signal) => files.readZeroState(block, questionContext('backfill', signal)),
    readGlobalVersion: (seqno, signal) => files.readGlobalVersion(seqno, questionContext('backfill', signal)),
  });
}

/** The id is proved, so that a file which is not its block's is the disk's fault and nobody else's: lite servers have the right one. */
function openKept(block: BlockId, data: Buffer, folder: string): BlockFile {
  try {
    return openBlockFile(block, { id: block, data });
  } catch (error) {
    const text = `The archive packages hold other bytes for block ${blockText(block)}.`;
    throw new IndexerError('wrong_block', text, { block: blockText(block), file: folder }, error);
  }
}
