import { hashKey } from '#service/store/hash-key.ts';
import type { FoundTrace } from '#service/store/queries/traces.ts';
import type { TraceCount } from '#service/store/queries/final-blocks.ts';
import type { FoundTransaction } from '#service/store/queries/transactions.ts';
import { TRACE_STATE } from '#service/store/trace-plan.ts';
import type { TraceStage } from '../changes.ts';

// A trace is one change in the block where it ends. A trace that stays open is sent in portions (service/streaming/README.md#finality).
// The plan depends on the transactions up to the block alone, so that a replay makes the same changes.

/** Bounds of an open trace: beyond one of them its transactions are sent in portions. All pods need the same. */
export type OpenBounds = {
  /** Masterchain blocks after the root's. */
  readonly blocks: number;
  readonly transactions: number;
};

export const openBounds: OpenBounds = { blocks: 32, transactions: 1000 };

/** Largest trace that is sent whole after its portions, as in v3. Before its first portion a trace has fewer transactions. */
const WHOLE_TRANSACTIONS_MAX = 4000;

/** Transactions of earlier blocks in the changes of one block: some 40 MB. */
const EARLIER_TRANSACTIONS_MAX = 20_000;

/** Change of a trace in a block. */
export type PlannedTrace = {
  readonly row: FoundTrace;
  /** Absent: the trace ends here, and all of it is one change. */
  readonly stage: TraceStage | undefined;
  /** Its transactions in the block, by lt and account. */
  readonly fresh: readonly FoundTransaction[];
  /** Number of its transactions in earlier blocks that the change has. */
  readonly earlier: number;
  /** False: earlier transactions are left out, because they are too many. */
  readonly isWhole: boolean;
};

/** Rows of a block that decide about the changes of its traces. */
export type TraceRows = {
  readonly mcSeqno: number;
  /** Transactions of the block, by lt and account. */
  readonly transactions: readonly FoundTransaction[];
  /** Traces of the transactions, and traces that reach the bound of blocks here. */
  readonly traces: readonly FoundTrace[];
  /** Counts of the traces that `needsCount` names. */
  readonly counts: readonly TraceCount[];
};

/** True for a trace whose number of transactions up to the block decides its stage. */
export function needsCount(row: FoundTrace, mcSeqno: number, bounds: OpenBounds): boolean {
  const age = mcSeqno - row.mc_seqno_start;
  const isDue = mcSeqno === firstPartOf(row, bounds) && !endsAt(row, mcSeqno);
  return isDue || (age <= bounds.blocks + 1 && row.nodes > bounds.transactions);
}

/** Masterchain block that has the first portion of a trace that passed the bound of blocks before the bound of transactions. */
export function firstPartOf(
  { mc_seqno_start: start }: Pick<FoundTrace, 'mc_seqno_start'>,
  { blocks }: OpenBounds,
): number {
  return start + blocks + 1;
}

/** Changes of traces, by the last transaction in the block; traces without one are last. */
export function planTraces(
  { mcSeqno, transactions, traces, counts }: TraceRows,
  bounds: OpenBounds,
): readonly PlannedTrace[] {
  const freshOf = Map.groupBy(transactions, ({ trace_id: id }) => hashKey(id));
  const countOf = new Map(counts.map((count) => [hashKey(count.trace_id), count]));
  const ordered = traces
    .map((row) => ({ row, fresh: freshOf.get(hashKey(row.trace_id)) ?? [] }))
    .toSorted((one, other) => byEnd(one, other));
  let left = EARLIER_TRANSACTIONS_MAX;
  return ordered.flatMap(({ row, fresh }): PlannedTrace[] => {
    const count = countOf.get(hashKey(row.trace_id));
    const stage = stageOf(row, mcSeqno, count, bounds);
    if (stage === 'passed' || (fresh.length === 0 && stage !== 'first')) return [];
    if (stage === 'open' || stage === 'next') return [{ row, stage, fresh, earlier: 0, isWhole: false }];
    const earlier = stage === 'first' ? (count?.before ?? 0) : row.nodes - fresh.length;
    const isWhole = (stage !== 'last' || row.nodes <= WHOLE_TRANSACTIONS_MAX) && earlier <= left;
    if (isWhole) left -= earlier;
    return [{ row, stage, fresh, earlier: isWhole ? earlier : 0, isWhole }];
  });
}

/** @returns `passed` for a trace that ended before the block */
function stageOf(
  row: FoundTrace,
  mcSeqno: number,
  count: TraceCount | undefined,
  bounds: OpenBounds,
): PlannedTrace['stage'] | 'passed' {
  const age = mcSeqno - row.mc_seqno_start;
  const hadPortion = age > bounds.blocks + 1 || (count !== undefined && count.before > bounds.transactions);
  if (endsAt(row, mcSeqno)) return hadPortion ? 'last' : undefined;
  if (row.state === TRACE_STATE.complete && row.mc_seqno_end < mcSeqno) return 'passed';
  if (hadPortion) return 'next';
  const isDue = age > bounds.blocks || (count !== undefined && count.through > bounds.transactions);
  return isDue ? 'first' : 'open';
}

function endsAt({ state, mc_seqno_end: end }: FoundTrace, mcSeqno: number): boolean {
  return state === TRACE_STATE.complete && end === mcSeqno;
}

type Ended = { readonly row: FoundTrace; readonly fresh: readonly FoundTransaction[] };

function byEnd(one: Ended, other: Ended): number {
  const [first, second] = [one, other].map(({ fresh }) => fresh.at(-1)?.lt ?? LAST_LT) as [bigint, bigint];
  if (first !== second) return first < second ? -1 : 1;
  return Buffer.compare(one.row.trace_id, other.row.trace_id);
}

const LAST_LT = 2n ** 63n;
