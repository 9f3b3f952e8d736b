import type { BlockId } from '../decode/block-id.ts';
import { blockText } from '../decode/block-id.ts';
import type { BlockFile, LiveBlockFiles } from '../live/blocks/block-files.ts';
import { openBlockFile } from '../live/blocks/block-files.ts';
import { openArchive } from './archive-index.ts';
import { IndexerError } from './errors.ts';
import { questionContext } from './lite-server-source.ts';
import { createSemaphore } from '../runtime/semaphore.ts';
import { createProvedChunks } from './proved-chunks.ts';
import { createShardWalk } from './shard-walk.ts';
import type { BlockSource } from './source.ts';

/** Files read at a time: more reads gain nothing on a disk. */
const READS_MAX = 8;

/**
 * Blocks from a node's archive packages (`db/archive/packages`). Lite servers prove a masterchain block in a hundred; hashes prove the
 * rest. Zerostates come from lite servers, because packages have none. Key blocks come from lite servers when packages lack them.
 * @throws IndexerError `archive_unusable`
 */
export async function createArchiveSource(
  { folder }: { readonly folder: string },
  { files }: { readonly files: Pick<LiveBlockFiles, 'masterchainBlock' | 'readZeroState' | 'readGlobalVersion'> },
): Promise<BlockSource> {
  const archive = await openArchive(folder);
  const places = createSemaphore(READS_MAX);

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

/** The id is proved. A file that differs is a fault of the disk: lite servers have the right block. */
function openKept(block: BlockId, data: Buffer, folder: string): BlockFile {
  try {
    return openBlockFile(block, { id: block, data });
  } catch (error) {
    const text = `The archive packages hold other bytes for block ${blockText(block)}.`;
    throw new IndexerError('wrong_block', text, { block: blockText(block), file: folder }, error);
  }
}
