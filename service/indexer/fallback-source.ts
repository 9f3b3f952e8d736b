import { IndexerError } from './errors.ts';
import type { BlockSource } from './source.ts';

/** Reads from archive packages. Reads missing and damaged blocks from lite servers. */
export function createFallbackSource(sources: {
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

/** Errors of archive packages that lite servers may mend. Failed proofs of lite servers are not among them. */
function isOfArchive(error: unknown): boolean {
  return error instanceof IndexerError || (error instanceof Error && 'syscall' in error);
}

/** Wraps a source and calls `onRead` for each read. */
export function countReads(source: BlockSource, onRead: () => void): BlockSource {
  return {
    async read(mcSeqno, signal) {
      const blocks = await source.read(mcSeqno, signal);
      onRead();
      return blocks;
    },
  };
}
