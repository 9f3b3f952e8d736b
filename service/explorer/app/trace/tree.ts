import { outcomeOfTransaction } from '../exit-codes.ts';
import type { Message, Trace, TraceNode, Transaction } from '../objects.ts';

/**
 * State of a transaction in the picture. `bounced`: the transaction gets back a message that failed elsewhere. `waiting`: the message is
 * known and its transaction is not.
 */
export type NodeState = 'done' | 'failed' | 'bounced' | 'waiting';

/** A transaction with the message that began it, and the transactions that its own messages began. */
export type TraceTree = {
  /** Hash of the transaction, else of the message. */
  readonly id: string;
  readonly transaction: Transaction | undefined;
  readonly message: Message | undefined;
  readonly account: string | null;
  readonly state: NodeState;
  readonly isPending: boolean;
  readonly children: readonly TraceTree[];
};

/** Nodes that a page holds: the largest trace of the API is 4,000 transactions, each with messages that have no transaction yet. */
const NODES_MAX = 16_000;

/**
 * Makes the tree of a trace. A node without a transaction is a message on its way. The walk has no recursion: a trace may be a chain of
 * thousands.
 * @returns undefined for a trace without a root
 */
export function treeOf({ trace, transactions = {} }: Pick<Trace, 'trace' | 'transactions'>): TraceTree | undefined {
  if (trace === null || trace === undefined) return undefined;
  const messages = messagesBySender(Object.values(transactions));
  const place: { children: TraceTree[] } = { children: [] };
  const open: { node: TraceNode; into: TraceTree[] }[] = [{ node: trace, into: place.children }];
  for (let next = open.pop(), count = 0; next !== undefined && count < NODES_MAX; next = open.pop(), count++) {
    const { node, into } = next;
    const children: TraceTree[] = [];
    const transaction = node.tx_hash === null ? undefined : transactions[node.tx_hash];
    const message = transaction?.in_msg ?? messages.get(node.in_msg_hash ?? '');
    into.push({
      id: node.tx_hash ?? node.in_msg_hash ?? '',
      transaction,
      message: message ?? undefined,
      account: transaction?.account ?? message?.destination ?? null,
      state: stateOf(transaction),
      isPending: isPending(transaction),
      children,
    });
    // The stack gives back the last first: the children come in the order of the trace.
    for (const child of (node.children ?? []).toReversed()) open.push({ node: child, into: children });
  }
  return place.children[0];
}

/** Every node, the root first. */
export function nodesOf(root: TraceTree): TraceTree[] {
  const nodes: TraceTree[] = [];
  const open = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    nodes.push(node);
    open.push(...node.children.toReversed());
  }
  return nodes;
}

function stateOf(transaction: Transaction | undefined): NodeState {
  if (transaction === undefined) return 'waiting';
  if (outcomeOfTransaction(transaction.description).isFailed) return 'failed';
  return transaction.in_msg?.bounced === true ? 'bounced' : 'done';
}

/** A transaction that no block has: a run of the contract simulated it. */
function isPending(transaction: Transaction | undefined): boolean {
  return transaction === undefined || transaction.emulated === true;
}

function messagesBySender(transactions: readonly Transaction[]): Map<string, Message> {
  return new Map(transactions.flatMap(({ out_msgs }) => out_msgs.map((message) => [message.hash, message])));
}
