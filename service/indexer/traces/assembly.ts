import { hashKey } from '#service/store/hash-key.ts';
import type {
  BlockRows,
  OpenEdgeRow,
  TraceAccountRow,
  TraceRow,
  TransactionLinks,
  TransactionRow,
} from '#service/store/tables.ts';
import { TRACE_STATE } from '#service/store/trace-plan.ts';
import type { TraceRows } from '#service/store/trace-rows.ts';

type OpenTransactionRow = BlockRows['transactions'][number];

/** A growing trace; fields as in its row. */
type Fragment = {
  readonly root: OpenTransactionRow;
  readonly externalHashNorm: Uint8Array | null;
  readonly isBroken: boolean;
  mcSeqnoEnd: number;
  endLt: bigint;
  endUtime: number;
  pendingEdges: number;
  edges: number;
  nodes: number;
  readonly accounts: Map<string, Uint8Array>;
};

/**
 * Traces of some masterchain blocks, assembled without the rest of the index (service/indexer/README.md#traces). A message links the
 * transaction that sent it to the transaction that received it. Blocks may come in any order; a message is sent before it is received.
 * Open traces are returned as `pending`. Traces whose root received a message without a sender in these blocks are returned as `broken`.
 */
export function assembleTraces(blocks: readonly BlockRows[]): TraceRows {
  const fragments: Fragment[] = [];
  const transactions: TransactionRow[] = [];
  /** Internal messages without a receiving transaction yet. */
  const open = new Map<string, { readonly hash: Uint8Array; readonly fragment: Fragment }>();
  const openEdges: OpenEdgeRow[] = [];

  function fragmentOf(row: OpenTransactionRow, links: TransactionLinks): Fragment {
    if (links.cause === 'internal') {
      const key = hashKey(row.in_msg_hash!);
      const sent = open.get(key);
      if (sent !== undefined) {
        open.delete(key);
        sent.fragment.edges++;
        sent.fragment.pendingEdges--;
        return sent.fragment;
      }
      openEdges.push({ msg_hash: row.in_msg_hash!, trace_id: row.hash, produced: false });
    }
    const fragment = startFragment(row, links);
    fragments.push(fragment);
    return fragment;
  }

  for (const { transactions: rows, links } of blocks.toSorted((one, other) => one.mcSeqno - other.mcSeqno)) {
    rows.forEach((row, index) => {
      const link = links[index]!;
      const fragment = fragmentOf(row, link);
      extend(fragment, row, link);
      for (const hash of link.sent) open.set(hashKey(hash), { hash, fragment });
      transactions.push(withTrace(row, fragment.root.hash));
    });
  }
  for (const { hash, fragment } of open.values()) {
    openEdges.push({ msg_hash: hash, trace_id: fragment.root.hash, produced: true });
  }
  return {
    transactions,
    traces: fragments.map(traceRow),
    traceAccounts: fragments.flatMap(accountRows),
    openEdges,
  };
}

function startFragment(root: OpenTransactionRow, { cause, externalHashNorm }: TransactionLinks): Fragment {
  return {
    root,
    externalHashNorm,
    isBroken: cause === 'internal',
    mcSeqnoEnd: root.mc_seqno,
    endLt: root.lt,
    endUtime: root.utime,
    // A broken root waits for the sender of its message.
    pendingEdges: cause === 'internal' ? 1 : 0,
    edges: cause === 'external' || cause === 'system' ? 1 : 0,
    nodes: 0,
    accounts: new Map(),
  };
}

function extend(fragment: Fragment, row: OpenTransactionRow, { sent, logs }: TransactionLinks): void {
  fragment.nodes++;
  fragment.edges += logs;
  fragment.pendingEdges += sent.length;
  if (row.mc_seqno > fragment.mcSeqnoEnd) fragment.mcSeqnoEnd = row.mc_seqno;
  if (row.lt > fragment.endLt) fragment.endLt = row.lt;
  if (row.utime >>> 0 > fragment.endUtime >>> 0) fragment.endUtime = row.utime;
  fragment.accounts.set(hashKey(row.account), row.account);
}

function withTrace(row: OpenTransactionRow, traceId: Uint8Array): TransactionRow {
  return {
    hash: row.hash,
    lt: row.lt,
    account: row.account,
    utime: row.utime,
    mc_seqno: row.mc_seqno,
    workchain: row.workchain,
    shard: row.shard,
    seqno: row.seqno,
    trace_id: traceId,
    in_msg_hash: row.in_msg_hash,
    in_opcode: row.in_opcode,
    in_body_hash: row.in_body_hash,
    boc: row.boc,
  };
}

function traceRow({ root, externalHashNorm, isBroken, ...grown }: Fragment): TraceRow {
  return {
    trace_id: root.hash,
    external_hash: root.in_msg_hash,
    external_hash_norm: externalHashNorm,
    mc_seqno_start: root.mc_seqno,
    mc_seqno_end: grown.mcSeqnoEnd,
    start_lt: root.lt,
    start_utime: root.utime,
    end_lt: grown.endLt,
    end_utime: grown.endUtime,
    state: isBroken ? TRACE_STATE.broken : grown.pendingEdges > 0 ? TRACE_STATE.pending : TRACE_STATE.complete,
    pending_edges: grown.pendingEdges,
    edges: grown.edges,
    nodes: grown.nodes,
  };
}

function accountRows({ root, accounts, endLt, endUtime }: Fragment): TraceAccountRow[] {
  return [...accounts.values()].map((account) => ({
    account,
    trace_id: root.hash,
    end_lt: endLt,
    end_utime: endUtime,
  }));
}
