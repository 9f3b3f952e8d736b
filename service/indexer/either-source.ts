import { IndexerError } from './errors.ts';
import type { BlockSource } from './source.ts';

/** Reads from archive packages, and what those lack or hold damaged from lite servers. */
export function createEitherSource(sources: {
  readonly archive: BlockSource;
  readonly liteServers: BlockSource;
}): BlockSource {
  const { archive, liteServers } = sources;
  return {
    read: (mcSeqno, signal) =>
      archive.read(mcSeqno, signal).catch((error: unknown) => {
        if (signal.aborted || !isOfArchive(error)) throw error;
        return liteServers.read(mcSeqno, signal);
      }),
  };
}

/** What lite servers may do better: not what they failed to prove. */
function isOfArchive(error: unknown): boolean {
  return error instanceof IndexerError || (error instanceof Error && 'syscall' in error);
}

/** As the source, and tells of what was read. */
export function countReads(source: BlockSource, onRead: () => void): BlockSource {
  return {
    async read(mcSeqno, signal) {
      const blocks = await source.read(mcSeqno, signal);
      onRead();
      return blocks;
    },
  };
}
