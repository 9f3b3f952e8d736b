import type { TakeLimits } from './read-ahead.ts';

/** Configuration of the indexer. */
export type IndexerOptions = {
  /** First masterchain block of the index; at least 1. Fixed by the first start on a database. */
  readonly startSeqno: number;
  /** The network's zerostate: a database has only one network. */
  readonly network: { readonly rootHash: Uint8Array; readonly fileHash: Uint8Array };
  /** Name of this process among the writers of an index; in logs and claims. */
  readonly worker: string;
  /** Folder of a node's archive packages, which the past is read from first. */
  readonly archiveFolder?: string | undefined;
  readonly tuning?: Partial<IndexerTuning>;
};

/** Bounds and times. The defaults suit every network; tests shorten them. */
export type IndexerTuning = {
  /** Bytes of rows of a stream that are read and not yet written, for the memory of the process. A larger block comes alone. */
  readonly headBytesMax: number;
  readonly backfillBytesMax: number;
  /** Masterchain blocks to read ahead. */
  readonly headBlocksMax: number;
  readonly backfillBlocksMax: number;
  /** Masterchain blocks in a transaction of the head, when it is behind. */
  readonly headBatch: TakeLimits;
  readonly backfillBatch: TakeLimits;
  /** Largest gap that the head catches up. A larger gap at the start goes to the backfill, so that new blocks appear at once. */
  readonly gapBlocksMax: number;
  /** Between two tries to take the lease of the head. */
  readonly leaseRetryMs: number;
  /** Between two queries for ranges of the past when no range remains. */
  readonly rangesRetryMs: number;
  /** A worker without a heartbeat for this time loses its range. */
  readonly claimMs: number;
  /** Ranges of the past in this process at a time. */
  readonly backfillWorkers: number;
};

const MiB = 1024 * 1024;

export const tuningDefaults: IndexerTuning = {
  headBytesMax: 64 * MiB,
  backfillBytesMax: 64 * MiB,
  // A minute of the network: a stream further behind writes in batches anyway.
  headBlocksMax: 64,
  // Requests to far lite servers take 0.2 s: 128 in progress make 600 blocks a second possible.
  backfillBlocksMax: 128,
  headBatch: { itemsMax: 32, bytesMax: 8 * MiB },
  // Large transactions make COPY worth its cost; a crash loses some seconds of work.
  backfillBatch: { itemsMax: 256, bytesMax: 16 * MiB },
  // Some minutes of the network, caught up in seconds.
  gapBlocksMax: 256,
  leaseRetryMs: 1_000,
  rangesRetryMs: 5_000,
  // A transaction of the past takes seconds; heartbeats come four times as often.
  claimMs: 60_000,
  // A worker's writer and reader use a connection and the threads fully. A second worker hides the round trips of the first.
  backfillWorkers: 2,
};
