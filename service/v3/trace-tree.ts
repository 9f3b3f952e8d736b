/** What of a transaction's view says where it hangs in its trace. */
export type TreeTransaction = {
  readonly hash: string;
  readonly in_msg: { readonly hash: string } | null;
  readonly out_msgs: readonly { readonly hash: string }[];
};

/** One transaction of a trace and those that its messages led to, in lt order (service/v3/README.md#traces). */
export type TraceNode = {
  readonly tx_hash: string;
  /** Absent when the transaction took no message. */
  readonly in_msg_hash?: string;
  readonly children: readonly TraceNode[];
};

export type TraceTree = {
  readonly root: TraceNode;
  /** False when a transaction hangs on a message that no other one of the trace has sent. */
  readonly whole: boolean;
};

type GrowingNode = TraceNode & { readonly children: GrowingNode[] };

/**
 * Hangs every transaction of a trace on the one that sent its message. One that hangs on none is in no tree but its own: the tree given is that of
 * the root.
 * @param transactions by lt, then account: a message is sent before it is taken
 * @param rootHash of the root transaction; the first one is taken where it is not among them
 * @returns undefined when there is no transaction
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
