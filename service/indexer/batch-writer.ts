import { StoreError } from '../store/errors.ts';
import type { Writer, WriteTurn } from '../store/writer.ts';
import type { Stream } from './metrics.ts';
import type { Retry } from './retry.ts';
import type { ReadBlocks } from './stream.ts';

/** Puts batches into Postgres, however long it takes. */
export type BatchWriter = {
  /**
   * Resolves when the masterchain blocks are committed; they follow one another. Rejects with the signal's reason, or with StoreError
   * `lease_lost`, `range_lost`, `out_of_order`: somebody else goes on, or Postgres is not where this process believed it to be.
   */
  readonly write: (
    stream: Stream,
    blocks: readonly ReadBlocks[],
    turn: WriteTurn,
    signal: AbortSignal,
  ) => Promise<void>;
};

export type BatchWriterDependencies = {
  /** One for each stream. */
  readonly writers: Readonly<Record<Stream, Pick<Writer, 'write'>>>;
  readonly retry: Retry;
  readonly onWritten: (stream: Stream, blocks: number, transactions: number) => void;
};

export function createBatchWriter({ writers, retry, onWritten }: BatchWriterDependencies): BatchWriter {
  return {
    async write(stream, blocks, turn, signal) {
      const rows = blocks.map((block) => block.rows);
      const last = rows.at(-1)?.mcSeqno ?? 0;
      const work = (): Promise<unknown> => writers[stream].write(rows, turn).catch(unlessDone(last));
      await retry.run('write', last, work, signal);
      const transactions = rows.reduce((sum, one) => sum + one.transactions.length, 0);
      onWritten(stream, rows.length, transactions);
    },
  };
}

/** A connection that broke while Postgres committed leaves it open whether it did: the next try finds the turn moved to where it should go. */
function unlessDone(last: number): (error: unknown) => void {
  return (error) => {
    const isDone = error instanceof StoreError && error.code === 'out_of_order' && error.data.found === last;
    if (!isDone) throw error;
  };
}

/** True for what no further attempt changes. */
export function isTurnOver(error: unknown): boolean {
  const codes: readonly string[] = ['lease_lost', 'range_lost', 'out_of_order'];
  return error instanceof StoreError && codes.includes(error.code);
}
