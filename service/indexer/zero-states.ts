import type { Logger } from 'pino';

import type { LiveBlockFiles } from '../live/blocks/block-files.ts';
import type { BlockRows } from '../store/tables.ts';
import { createLiteServerSource } from './lite-server-source.ts';
import { pause } from '../runtime/retry.ts';
import type { SourceBlocks } from './source.ts';

/** The first block comes with the zerostates. */
const FIRST_SEQNO = 1;

/** Rows of the first masterchain block and of the zerostates that come with it, from lite servers. Rejects as a source does. */
export type ZeroStateReader = (signal: AbortSignal) => Promise<BlockRows>;

export type ZeroStateReaderDependencies = {
  readonly files: LiveBlockFiles;
  readonly toRows: (blocks: SourceBlocks, signal: AbortSignal) => Promise<BlockRows>;
};

export function createZeroStateReader({ files, toRows }: ZeroStateReaderDependencies): ZeroStateReader {
  const source = createLiteServerSource({ stream: 'backfill' }, { files });
  return async (signal) => toRows(await source.read(FIRST_SEQNO, signal), signal);
}

/** A flapping lite server that has the first block is back by the last try. If no server has it, no try helps. */
const TRIES_MAX = 5;

const PAUSE_MS = 5_000;

export type ZeroStateDependencies = {
  /** True when the index has the first block without its zerostates: the index is older than the rows of zerostates. */
  readonly isMissing: () => Promise<boolean>;
  readonly read: ZeroStateReader;
  readonly write: (rows: BlockRows) => Promise<void>;
  /** Between tries; default 5 s. */
  readonly pauseMs?: number;
  readonly signal: AbortSignal;
  readonly logger: Logger;
};

/**
 * Writes the zerostate accounts of a network into an index without them; once in the life of an index. Rejects with the signal's reason, or
 * as `isMissing` does.
 */
export async function addZeroStates(dependencies: ZeroStateDependencies): Promise<void> {
  const { isMissing, read, write, pauseMs = PAUSE_MS, signal, logger } = dependencies;
  if (!(await isMissing())) return;
  for (let tries = 1; ; tries++) {
    try {
      await write(await read(signal));
      logger.info('the accounts of the zerostates are indexed');
      return;
    } catch (error) {
      signal.throwIfAborted();
      logger.warn({ err: error, tries }, 'the accounts of the zerostates are not indexed');
      if (tries === TRIES_MAX) return;
      await pause(pauseMs, signal);
    }
  }
}
