import { assembleTraces } from '#service/indexer/traces/assembly.ts';
import { hashKey } from '#service/store/hash-key.ts';
import type { BlockRows, OpenEdgeRow, TraceAccountRow, TraceRow, TransactionRow } from '#service/store/tables.ts';
import type { JoinedEdge } from '#service/store/trace-plan.ts';
import { planTraces } from '#service/store/trace-plan.ts';
import type { TraceRows } from '#service/store/trace-rows.ts';

/** Tables of traces in memory, which do what `hintTraces` and `joinTraces` do in Postgres. */
export type StoredTraces = {
  /** Stores the transactions; call the result to join their traces. */
  begin(blocks: readonly BlockRows[]): () => void;
  tables(): TraceTables;
};

/** All rows in one order, as text: equal for equal tables. */
export type TraceTables = Readonly<Record<keyof TraceRows, readonly string[]>>;

export function createStoredTraces(): StoredTraces {
  const transactions: TransactionRow[] = [];
  const traces = new Map<string, TraceRow>();
  let accounts: TraceAccountRow[] = [];
  const open = new Map<string, OpenEdgeRow>();

  function join(rows: TraceRows, labels: ReadonlyMap<string, Uint8Array>): void {
    const met: JoinedEdge[] = [];
    for (const edge of rows.openEdges) {
      const known = open.get(hashKey(edge.msg_hash));
      if (known === undefined || known.produced === edge.produced) continue;
      met.push(known);
      open.delete(hashKey(edge.msg_hash));
    }
    const stored = [...new Set(met.map(({ trace_id }) => hashKey(trace_id)))].map((key) => traces.get(key)!);
    const plan = planTraces(rows, met, stored, labels);
    for (const { from, into } of plan.absorbed) rename(hashKey(from), into);
    for (const row of [...plan.fresh.traces, ...plan.joined.traces]) traces.set(hashKey(row.trace_id), row);
    accounts.push(...plan.fresh.accounts, ...plan.joined.accounts);
    accounts = accounts.map((row) => {
      const { end_lt, end_utime } = traces.get(hashKey(row.trace_id))!;
      return { ...row, end_lt, end_utime };
    });
    for (const edge of plan.openEdges) open.set(hashKey(edge.msg_hash), edge);
  }

  function rename(from: string, into: Uint8Array): void {
    const renamed = <R extends { readonly trace_id: Uint8Array }>(row: R): R =>
      hashKey(row.trace_id) === from ? { ...row, trace_id: into } : row;
    transactions.splice(0, transactions.length, ...transactions.map(renamed));
    accounts = accounts.map(renamed);
    for (const [key, edge] of open) open.set(key, renamed(edge));
    traces.delete(from);
  }

  return {
    begin(blocks) {
      const rows = assembleTraces(blocks);
      const labels = new Map<string, Uint8Array>();
      for (const { msg_hash, trace_id, produced } of rows.openEdges) {
        const sent = open.get(hashKey(msg_hash));
        if (!produced && sent?.produced === true) labels.set(hashKey(trace_id), sent.trace_id);
      }
      const labelled = rows.transactions.map((row) => ({
        ...row,
        trace_id: labels.get(hashKey(row.trace_id)) ?? row.trace_id,
      }));
      return () => {
        transactions.push(...labelled);
        join(rows, labels);
      };
    },
    tables: () =>
      tablesOf({ transactions, traces: [...traces.values()], traceAccounts: accounts, openEdges: [...open.values()] }),
  };
}

export function tablesOf({ transactions, traces, traceAccounts, openEdges }: TraceRows): TraceTables {
  return {
    transactions: sorted(transactions.map(({ hash, trace_id }) => ({ hash, trace_id }))),
    traces: sorted(traces),
    traceAccounts: sorted(traceAccounts),
    openEdges: sorted(openEdges),
  };
}

/** Equal rows once: they have the same key. */
function sorted(rows: readonly object[]): string[] {
  const texts = rows.map((row) => JSON.stringify(row, (_, value: unknown) => plain(value)));
  return [...new Set(texts)].toSorted();
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}`;
  const isBuffer = typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer';
  return isBuffer ? Buffer.from((value as unknown as { data: number[] }).data).toString('hex') : value;
}
