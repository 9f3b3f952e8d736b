import type {
  AccountStateRow,
  BlockRow,
  CodeRow,
  LatestAccountStateRow,
  MessageRow,
  OpenEdgeRow,
  ShardTopRow,
  TraceAccountRow,
  TraceRow,
  TransactionRow,
} from './tables.ts';

/**
 * All that one or more whole masterchain blocks say, with their traces as far as these blocks alone tell them: a pure function of the blocks, in
 * any order of batches. A trace of a batch is a connected set of its transactions under the transaction whose inbound message the batch does not
 * produce; the writer joins it with what the index has, and renames it.
 *
 * Counting, so that joining is addition: a message with one end in the batch is in `openEdges`, counts as one of `pending_edges` and not as one of
 * `edges`. Joining two traces over a message takes two pending edges away and adds one edge.
 */
export type WriteBatch = {
  /** Masterchain blocks of the batch, ascending, none twice. */
  readonly mcSeqnos: readonly number[];
  readonly blocks: readonly BlockRow[];
  readonly shardTops: readonly ShardTopRow[];
  /** `trace_id`: hash of the root transaction inside the batch. */
  readonly transactions: readonly TransactionRow[];
  /** A message may be given more than once. */
  readonly messages: readonly MessageRow[];
  readonly accountStates: readonly AccountStateRow[];
  /** Of one account the greatest `last_trans_lt` counts. */
  readonly latestAccountStates: readonly LatestAccountStateRow[];
  readonly codes: readonly CodeRow[];
  /**
   * One for each root. `state`: 2 when the root's inbound message is an internal one whose producer is not in the batch, else 1 with pending edges,
   * else 0.
   */
  readonly traces: readonly TraceRow[];
  /**
   * One for each account of each trace. `end_lt` and `end_utime` are those of the trace when it is complete, else of the account's own last
   * transaction in it.
   */
  readonly traceAccounts: readonly TraceAccountRow[];
  /** Internal messages of which the batch has one end; `trace_id` is that end's. */
  readonly openEdges: readonly OpenEdgeRow[];
};
