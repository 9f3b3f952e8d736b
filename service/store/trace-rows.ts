import type { OpenEdgeRow, TraceAccountRow, TraceRow, TransactionRow } from './tables.ts';

/**
 * The traces of some masterchain blocks as if nothing else were indexed: fragments. A fragment whose root took a message that nobody here sent is
 * `broken` until `joinTraces` hangs it below the fragment that sent it, whichever of the two was stored first.
 */
export type TraceRows = {
  /** In the order of the blocks; `trace_id` is the fragment's. */
  readonly transactions: readonly TransactionRow[];
  readonly traces: readonly TraceRow[];
  readonly traceAccounts: readonly TraceAccountRow[];
  /** Messages of which only one end is in these blocks. */
  readonly openEdges: readonly OpenEdgeRow[];
};
