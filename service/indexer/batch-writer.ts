import { StoreError } from '../store/errors.ts';
import type { Writer, WriteTurn } from '../store/writer.ts';
import type { Stream } from './metrics.ts';
import type { Retry } from '../runtime/retry.ts';
import type { Stage } from './stage.ts';
import type { ReadBlocks } from './stream.ts';

/** Writes batches into Postgres, with retries until success. */
export type BatchWriter = {
  /**
   * Resolves when the masterchain blocks are committed, in consecutive order. Rejects with the signal's reason. Rejects with StoreError
   * `lease_lost`, `range_lost`, `out_of_order` when another process took over or Postgres is at another position.
   */
  readonly write: (
    stream: Stream,
    blocks: readonly ReadBlocks[],
    turn: WriteTurn,
    signal: AbortSignal,
  ) => Promise<void>;
};

export type BatchWriterDependencies = {
  /** A writer for each stream. */
  readonly writers: Readonly<Record<Stream, Pick<Writer, 'write'>>>;
  readonly retry: Retry<Stage>;
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

/** A connection that breaks during a commit leaves the result unknown. The next try then finds the turn already moved. */
function unlessDone(last: number): (error: unknown) => void {
  return (error) => {
    const isDone = error instanceof StoreError && error.code === 'out_of_order' && error.data.found === last;
    if (!isDone) throw error;
  };
}

/** True for an error that no further attempt changes. */
export function isTurnOver(error: unknown): boolean {
  const codes: readonly string[] = ['lease_lost', 'range_lost', 'out_of_order'];
  return error instanceof StoreError && codes.includes(error.code);
}
