import type { CellSlice } from '#service/decode/cell-slice.ts';
import type { Steps } from './steps.ts';

// Input of the classifier. Hashes are base64 of 32 bytes, addresses raw with upper-case hex (`0:AB..`), as in actions.

/** Message of a trace. Its two ends share the object. */
export type EventMessage = {
  readonly hash: string;
  /** Null for messages from outside. */
  readonly source: string | null;
  /** Null for logs. */
  readonly destination: string | null;
  /** Nanotons; null for messages from and to the outside. */
  readonly value: bigint | null;
  /** Amounts by currency id; null where there is no value. */
  readonly extraCurrencies: Readonly<Record<string, string>> | null;
  readonly createdLt: bigint | null;
  /** Unix seconds. */
  readonly createdAt: number | null;
  /** First 32 bits of the body, unsigned. */
  readonly opcode: number | null;
  readonly bounce: boolean;
  /** At its beginning: `openBody` reads a clone. A budget of its own bounds all reads of it. Undefined for an exotic cell. */
  readonly body: CellSlice | undefined;
  readonly init: CellSlice | undefined;
};

export type AccountStatusName = 'uninit' | 'frozen' | 'active' | 'nonexist';

/** Transaction of a trace. */
export type EventTransaction = {
  readonly hash: string;
  readonly account: string;
  readonly lt: bigint;
  readonly utime: number;
  readonly mcSeqno: number;
  /** `ord`, `tick_tock` and the others of service/v3/README.md#values. */
  readonly kind: string;
  readonly aborted: boolean;
  readonly originalStatus: AccountStatusName;
  readonly endStatus: AccountStatusName;
  /** Reason for skipping the compute phase; null when it ran or the reason is unknown. */
  readonly skippedReason: string | null;
  readonly exitCode: number | null;
  readonly inMessage: EventMessage | null;
  /** Ordered by `created_lt`. */
  readonly outMessages: readonly EventMessage[];
};

/** A trace with all that its actions are made from. */
export type ClassifierTrace = {
  readonly traceId: string;
  readonly externalHash: string | null;
  readonly externalHashNorm: string | null;
  readonly endLt: bigint;
  readonly endUtime: number;
  readonly mcSeqnoEnd: number;
  /** Ordered by lt, then account. */
  readonly transactions: readonly EventTransaction[];
};

/** Message or tick-tock transaction in the tree of a trace (service/actions/README.md#tree-of-a-trace). */
export type ClassifierNode = {
  /** Undefined for tick-tock transactions and others that no message began. */
  readonly message: EventMessage | undefined;
  /** Transaction that the message began. For a log, the transaction that wrote it. */
  readonly transaction: EventTransaction;
  readonly parent: ClassifierNode | undefined;
  readonly children: ClassifierNode[];
};

/** True for a message to the outside. */
export function isLog({ message }: ClassifierNode): boolean {
  return message !== undefined && message.destination === null;
}

/** The tree of a trace: the first transaction's node, with the messages of each transaction by `created_lt`. Undefined for an empty trace. */
export function* eventTree(trace: ClassifierTrace): Steps<ClassifierNode | undefined> {
  const [root] = trace.transactions;
  if (root === undefined) return undefined;
  const consumers = new Map<string, EventTransaction>();
  for (const transaction of trace.transactions) {
    yield;
    if (transaction.inMessage !== null) consumers.set(placeOf(transaction.inMessage), transaction);
  }
  const first: ClassifierNode = {
    message: root.inMessage ?? undefined,
    transaction: root,
    parent: undefined,
    children: [],
  };
  // A list and not a recursion: a trace may be thousands of transactions deep.
  const open = [first];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (isLog(node)) continue;
    yield;
    for (const message of node.transaction.outMessages) {
      const transaction = message.destination === null ? node.transaction : consumers.get(placeOf(message));
      if (transaction === undefined) continue;
      const child: ClassifierNode = { message, transaction, parent: node, children: [] };
      node.children.push(child);
      if (!isLog(child)) open.push(child);
    }
  }
  return first;
}

/** Identity of a message: an account sends a single message at a logical time. Messages from outside have no sender in the trace. */
function placeOf({ source, createdLt }: EventMessage): string {
  return `${createdLt} ${source}`;
}

/** Logical time of a node: of the message, or of the transaction if the message came from outside or is missing. */
export function nodeLt({ message, transaction }: ClassifierNode): bigint {
  return message?.createdLt ?? transaction.lt;
}

/** Time of a node as in `nodeLt`, in Unix seconds. */
export function nodeUtime({ message, transaction }: ClassifierNode): number {
  return message?.createdAt ?? transaction.utime;
}
