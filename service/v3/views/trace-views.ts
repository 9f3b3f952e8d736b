import { writeEntries, type RawJson } from '#service/contract/json-stream.ts';
import {
  list,
  map,
  named,
  object,
  oneOfStrings,
  optional,
  referenceTo,
  type Infer,
  type Shape,
} from '#service/contract/shape.ts';
import type { FoundTrace } from '#service/store/queries/traces.ts';
import { action, type ActionView } from './action-views.ts';
import {
  anyText,
  flag,
  hash,
  integer,
  intString,
  orNull,
  uintString,
  viewBytes,
  viewBytesOrNull,
} from '../request/scalars.ts';
import { growTree, type RenderedTransaction, type TraceNode } from './trace-tree.ts';
import { transaction, type TransactionView } from './transaction-views.ts';

const nodeItself: Shape<TraceNode> = { schema: { $ref: referenceTo('TraceNode') }, definitions: new Map() };

/** Node of a trace's tree. */
export const traceNode: Shape<TraceNode | RawJson<TraceNode>> = named(
  'TraceNode',
  object({ tx_hash: hash, in_msg_hash: optional(hash), children: list(nodeItself) }),
);

type TransactionsByHash = Readonly<Record<string, Infer<typeof transaction>>>;

const hashesInOrder: Shape<readonly string[] | RawJson<readonly string[]>> = list(hash);

/** Transactions of a trace by hash. */
export const transactionsByHash: Shape<TransactionsByHash | RawJson<Record<string, TransactionView>>> = map(
  transaction,
  hash,
);

const states = ['complete', 'pending', 'broken'] as const;

/** Results of classification by stored number; `unclassified` without a number. */
const classifications = ['unclassified', 'failed', 'ok', 'broken'] as const;

/** A trace (service/v3/README.md#traces). */
export const trace = named(
  'Trace',
  object({
    trace_id: orNull(hash),
    external_hash: orNull(hash),
    mc_seqno_start: uintString,
    mc_seqno_end: uintString,
    start_lt: intString,
    start_utime: integer,
    end_lt: orNull(intString),
    end_utime: orNull(integer),
    trace_info: named(
      'TraceMeta',
      object({
        trace_state: oneOfStrings(states),
        messages: integer,
        transactions: integer,
        pending_messages: integer,
        classification_state: oneOfStrings(classifications),
      }),
    ),
    is_incomplete: flag,
    warning: optional(anyText),
    actions: optional(list(action)),
    trace: optional(traceNode),
    transactions_order: optional(hashesInOrder),
    transactions: optional(transactionsByHash),
  }),
);

export type TraceView = Infer<typeof trace>;

/** Reasons for a trace without its transactions. */
export type Withheld = 'trace is too large' | 'too many transactions in one answer';

/**
 * Renders a trace.
 * @param content contents of the trace, or the reason for their absence
 * @param actions undefined without a request for them
 */
export function viewTrace(
  row: FoundTrace,
  content: TraceContent | Withheld,
  actions: readonly ActionView[] | undefined,
): TraceView {
  const { warning, ...transactions } = typeof content === 'string' ? { warning: content } : content;
  return {
    trace_id: viewBytes(row.trace_id),
    external_hash: viewBytesOrNull(row.external_hash),
    mc_seqno_start: row.mc_seqno_start.toString(),
    mc_seqno_end: row.mc_seqno_end.toString(),
    start_lt: row.start_lt.toString(),
    start_utime: row.start_utime >>> 0,
    end_lt: row.end_lt.toString(),
    end_utime: row.end_utime >>> 0,
    trace_info: {
      trace_state: states[row.state] ?? 'broken',
      messages: row.edges,
      transactions: row.nodes,
      pending_messages: row.pending_edges,
      classification_state: classifications[row.classification ?? 0] ?? 'unclassified',
    },
    is_incomplete: typeof content === 'string',
    ...(warning !== undefined && { warning }),
    ...(actions && { actions }),
    ...transactions,
  };
}

/** Contents of a trace; empty for a trace without transactions. */
export type TraceContent = Pick<TraceView, 'warning' | 'trace' | 'transactions_order' | 'transactions'>;

/** @param transactions by lt and account */
export function viewContent(traceId: string, transactions: readonly RenderedTransaction[]): TraceContent {
  const tree = growTree(transactions, traceId);
  if (tree === undefined) return {};
  return {
    ...(!tree.whole && { warning: 'missing node in trace found' }),
    trace: tree.root,
    transactions_order: transactions.map((one) => one.hash),
    transactions: writeEntries(transactions.map(({ hash: name, json }) => [name, json])),
  };
}
