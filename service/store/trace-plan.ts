import { hashKey } from './hash-key.ts';
import type { OpenEdgeRow, TraceAccountRow, TraceRow } from './tables.ts';
import type { TraceRows } from './trace-rows.ts';

/** `traces.state` of a trace: broken while its root's message has no known sender. */
export const TRACE_STATE = { complete: 0, pending: 1, broken: 2 } as const;

/**
 * Transactions of a stored trace that still becomes the lower part of another. A joining writes the new name to all of them, while no other
 * process joins traces. The past is read backwards, so each batch would write a long trace again.
 */
export const LOWER_NODES_MAX = 16_384;

/** A message with one end in the index and the other end in new rows. */
export type JoinedEdge = {
  readonly msg_hash: Uint8Array;
  /** Trace of the stored end, which sent or received the message. */
  readonly trace_id: Uint8Array;
};

/** A trace that becomes a part of another. */
export type MergedTrace = { readonly from: Uint8Array; readonly into: Uint8Array };

/** Traces and the accounts of their new transactions, with the ends of the whole traces. */
export type TraceSet = { readonly traces: readonly TraceRow[]; readonly accounts: readonly TraceAccountRow[] };

/** Changes of the index after joining new rows with it. */
export type TracePlan = {
  /** Traces that are new to the index. */
  readonly fresh: TraceSet;
  /** Traces that are partly stored: whole rows, which replace the stored rows. */
  readonly joined: TraceSet;
  /** New messages whose other end is still unknown. */
  readonly openEdges: readonly OpenEdgeRow[];
  /** Names under which transactions are stored and which end. */
  readonly absorbed: readonly MergedTrace[];
};

/**
 * Joins the traces of new rows with stored traces at shared messages. Counters are sums, ends are maxima, and a trace has the name of its
 * topmost root. The order of storing does not matter up to `LOWER_NODES_MAX`. A longer lower part stays `broken`, and its upper part
 * `pending`.
 *
 * @param stored rows of the traces that `met` names
 * @param labels trace under which the transactions of a fragment were stored, if it is not the fragment itself
 */
export function planTraces(
  rows: TraceRows,
  met: readonly JoinedEdge[],
  stored: readonly TraceRow[],
  labels: ReadonlyMap<string, Uint8Array>,
): TracePlan {
  const metBy = new Map(met.map((edge) => [hashKey(edge.msg_hash), edge.trace_id]));
  /** A broken trace -> the trace that sent its root's message. */
  const above = new Map<string, Uint8Array>();
  const long = new Set(stored.filter(({ nodes }) => nodes > LOWER_NODES_MAX).map(({ trace_id }) => hashKey(trace_id)));
  const openEdges: OpenEdgeRow[] = [];
  for (const edge of rows.openEdges) {
    const other = metBy.get(hashKey(edge.msg_hash));
    if (other === undefined) openEdges.push(edge);
    else if (edge.produced) {
      if (!long.has(hashKey(other))) above.set(hashKey(other), edge.trace_id);
    } else above.set(hashKey(edge.trace_id), other);
  }
  const topOf = createTops(above);
  const traces = joinRows([...stored, ...rows.traces], topOf);
  const joined = new Set(stored.map(({ trace_id }) => hashKey(topOf(trace_id))));
  const isJoined = ({ trace_id }: { readonly trace_id: Uint8Array }): boolean => joined.has(hashKey(trace_id));
  const isFresh = (row: { readonly trace_id: Uint8Array }): boolean => !isJoined(row);
  const all = [...traces.values()];
  const accounts = joinAccounts(rows.traceAccounts, traces, topOf);
  return {
    fresh: { traces: all.filter(isFresh), accounts: accounts.filter(isFresh) },
    joined: { traces: all.filter(isJoined), accounts: accounts.filter(isJoined) },
    openEdges: openEdges.map((edge) => ({ ...edge, trace_id: topOf(edge.trace_id) })),
    absorbed: listAbsorbed(rows, stored, labels, topOf),
  };
}

type TopOf = (traceId: Uint8Array) => Uint8Array;

function createTops(above: ReadonlyMap<string, Uint8Array>): TopOf {
  const tops = new Map<string, Uint8Array>();
  return (traceId) => {
    const key = hashKey(traceId);
    const known = tops.get(key);
    if (known !== undefined) return known;
    let top = traceId;
    // A message is sent before it is received, so the way up ends. A forged circle must not loop for ever.
    for (let steps = 0; steps <= above.size; steps++) {
      const next = above.get(hashKey(top));
      if (next === undefined) break;
      top = next;
    }
    tops.set(key, top);
    return top;
  };
}

/** Joins rows by the key of the top. */
function joinRows(all: readonly TraceRow[], topOf: TopOf): Map<string, TraceRow> {
  const joined = new Map<string, TraceRow>();
  for (const row of all) {
    const top = topOf(row.trace_id);
    const key = hashKey(top);
    const other = joined.get(key);
    joined.set(key, other === undefined ? row : joinTwo(hashKey(row.trace_id) === key ? [row, other] : [other, row]));
  }
  return joined;
}

/** A lower part met the upper part at a message, which is no longer pending at either end. */
function joinTwo([upper, lower]: readonly [TraceRow, TraceRow]): TraceRow {
  const pending = upper.pending_edges + lower.pending_edges - 2;
  return {
    ...upper,
    mc_seqno_end: Math.max(upper.mc_seqno_end, lower.mc_seqno_end),
    end_lt: upper.end_lt > lower.end_lt ? upper.end_lt : lower.end_lt,
    end_utime: Math.max(upper.end_utime >>> 0, lower.end_utime >>> 0) | 0,
    state: upper.state === TRACE_STATE.broken ? upper.state : pending > 0 ? TRACE_STATE.pending : TRACE_STATE.complete,
    pending_edges: pending,
    edges: upper.edges + lower.edges + 1,
    nodes: upper.nodes + lower.nodes,
  };
}

/** Each account of a trace once. */
function joinAccounts(
  accounts: readonly TraceAccountRow[],
  traces: ReadonlyMap<string, TraceRow>,
  topOf: TopOf,
): TraceAccountRow[] {
  const joined = new Map<string, TraceAccountRow>();
  for (const { account, trace_id } of accounts) {
    const key = hashKey(topOf(trace_id));
    const { trace_id: top, end_lt, end_utime } = traces.get(key)!;
    joined.set(hashKey(account) + key, { account, trace_id: top, end_lt, end_utime });
  }
  return [...joined.values()];
}

function listAbsorbed(
  rows: TraceRows,
  stored: readonly TraceRow[],
  labels: ReadonlyMap<string, Uint8Array>,
  topOf: TopOf,
): MergedTrace[] {
  const absorbed = new Map<string, MergedTrace>();
  const add = (label: Uint8Array, traceId: Uint8Array): void => {
    const into = topOf(traceId);
    const from = hashKey(label);
    if (from !== hashKey(into)) absorbed.set(from, { from: label, into });
  };
  for (const { trace_id } of stored) add(trace_id, trace_id);
  for (const { trace_id } of rows.traces) add(labels.get(hashKey(trace_id)) ?? trace_id, trace_id);
  return [...absorbed.values()];
}
