import type { OpenEdgeRow, TraceAccountRow, TraceRow, TransactionRow } from './tables.ts';

/**
 * Traces of some masterchain blocks, assembled without the rest of the index: fragments. A fragment whose root received a message without a
 * sender here is `broken`. `joinTraces` then hangs it below the fragment that sent it, in any order of storing.
 */
export type TraceRows = {
  /** In the order of the blocks; `trace_id` is the fragment's. */
  readonly transactions: readonly TransactionRow[];
  readonly traces: readonly TraceRow[];
  readonly traceAccounts: readonly TraceAccountRow[];
  /** Messages with a single end in these blocks. */
  readonly openEdges: readonly OpenEdgeRow[];
};
