import type { BlockRows } from '../store/tables.ts';
import type { ReadAheadOptions, TakeLimits } from './read-ahead.ts';
import { createReadAhead } from './read-ahead.ts';
import type { Retry } from '../runtime/retry.ts';
import { bytesOfRows } from './rows/row-bytes.ts';
import type { Stage } from './stage.ts';
import type { BlockSource } from './source.ts';
import { bytesOf } from './source.ts';

/** A masterchain block on its way into Postgres. */
export type ReadBlocks = {
  readonly rows: BlockRows;
  /** Unix seconds. */
  readonly utime: number;
  /** Bytes of its rows, or of its blocks' files when these are more: memory use is proportional, before and after. */
  readonly bytes: number;
};

/** A contiguous run of masterchain blocks: read ahead, made into rows, returned in order. */
export type BlockStream = {
  /** The next blocks, at least one. */
  readonly take: (limits: TakeLimits, patient: boolean) => Promise<readonly ReadBlocks[]>;
  readonly bufferedBytes: () => number;
  readonly close: () => void;
};

export type BlockStreamDependencies = {
  readonly source: BlockSource;
  /** In a worker thread. */
  readonly toRows: (blocks: Awaited<ReturnType<BlockSource['read']>>, signal: AbortSignal) => Promise<BlockRows>;
  readonly retry: Retry<Stage>;
  /** The last available masterchain block. */
  readonly last: () => number;
  /** Resolves when a block of this seqno may be available. */
  readonly awaitItem: (seqno: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
};

/** Before any was read: a masterchain block of the main network with its shard blocks. */
const BYTES_GUESS = 1024 * 1024;

export function createBlockStream(
  options: Omit<ReadAheadOptions, 'bytesGuess'>,
  { source, toRows, retry, last, awaitItem, signal }: BlockStreamDependencies,
): BlockStream {
  async function read(seqno: number, ended: AbortSignal): Promise<ReadBlocks> {
    const blocks = await retry.run('read', seqno, () => source.read(seqno, ended), ended);
    const rows = await retry.run('rows', seqno, () => toRows(blocks, ended), ended);
    return { rows, utime: blocks.utime, bytes: Math.max(bytesOf(blocks), bytesOfRows(rows)) };
  }

  return createReadAhead(
    { ...options, bytesGuess: BYTES_GUESS },
    { read, bytesOf: ({ bytes }) => bytes, last, awaitItem, signal },
  );
}
