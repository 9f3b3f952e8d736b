import type { RawJson } from '#service/contract/json-stream.ts';
import type { TransactionView } from './transaction-views.ts';

/** Links of a transaction in its trace. */
export type TreeTransaction = {
  readonly hash: string;
  readonly in_msg: { readonly hash: string } | null;
  readonly out_msgs: readonly { readonly hash: string }[];
};

/** A rendered transaction, and its links in the trace. */
export type RenderedTransaction = TreeTransaction & {
  readonly traceId: string | undefined;
  readonly json: RawJson<TransactionView>;
};

/** A transaction of a trace, with the transactions that its messages caused, in lt order (service/v3/README.md#traces). */
export type TraceNode = {
  readonly tx_hash: string;
  /** Absent when the transaction took no message. */
  readonly in_msg_hash?: string;
  readonly children: readonly TraceNode[];
};

export type TraceTree = {
  readonly root: TraceNode;
  /** False when a transaction's message has no sender in the trace. */
  readonly whole: boolean;
};

type GrowingNode = TraceNode & { readonly children: GrowingNode[] };

/**
 * Builds the trace tree: a transaction is a child of the one that sent its message. Returns the root's tree; orphans are left out.
 * @param transactions by lt, then account: a message is sent before it is received
 * @param rootHash hash of the root transaction; the first transaction is the root if this hash is missing
 * @returns undefined without transactions
 */
export function growTree(transactions: readonly TreeTransaction[], rootHash: string): TraceTree | undefined {
  const senders = new Map<string, GrowingNode>();
  const orphans: GrowingNode[] = [];
  for (const { hash, in_msg, out_msgs } of transactions) {
    const node: GrowingNode = { tx_hash: hash, ...(in_msg !== null && { in_msg_hash: in_msg.hash }), children: [] };
    const sender = in_msg === null ? undefined : senders.get(in_msg.hash);
    if (sender === undefined) orphans.push(node);
    else sender.children.push(node);
    for (const message of out_msgs) senders.set(message.hash, node);
  }
  const root = orphans.find((node) => node.tx_hash === rootHash) ?? orphans[0];
  return root && { root, whole: orphans.length === 1 };
}
