import { hash } from './columns.ts';
import { encodeArray } from './field-encoding.ts';
import { hashKey } from './hash-key.ts';
import { insertFrom, type Inserts } from './insert.ts';
import type { Session } from './store.ts';
import { openEdges, traceAccounts, traces, type OpenEdgeRow, type TraceRow, type TransactionRow } from './tables.ts';
import { planTraces, TRACE_STATE, type MergedTrace, type JoinedEdge, type TraceSet } from './trace-plan.ts';
import type { TraceRows } from './trace-rows.ts';

/** Rows under their most likely traces. */
export type HintedTraces = {
  readonly rows: TraceRows;
  /** A fragment -> the trace of its stored transactions. */
  readonly labels: ReadonlyMap<string, Uint8Array>;
  /** Ready to be stored. */
  readonly transactions: readonly TransactionRow[];
};

/**
 * Sets the trace of transactions to the stored trace that sent their messages. The transactions then need no second update. Another writer
 * may join traces at the same time: `joinTraces` decides.
 */
export async function hintTraces(session: Session, rows: TraceRows): Promise<HintedTraces> {
  const taken = rows.openEdges.filter(({ produced }) => !produced);
  const labels = new Map<string, Uint8Array>();
  if (taken.length > 0) {
    const sent = await session.query<JoinedEdge>(
      'SELECT msg_hash, trace_id FROM open_edges WHERE produced AND msg_hash = ANY ($1::bytea[])',
      [hashes(taken.map(({ msg_hash }) => msg_hash))],
    );
    const sentBy = new Map(sent.map(({ msg_hash, trace_id }) => [hashKey(msg_hash), trace_id]));
    for (const { msg_hash, trace_id } of taken) {
      const trace = sentBy.get(hashKey(msg_hash));
      if (trace !== undefined) labels.set(hashKey(trace_id), trace);
    }
  }
  const transactions = rows.transactions.map((row) => {
    const label = labels.get(hashKey(row.trace_id));
    return label === undefined ? row : { ...row, trace_id: label };
  });
  return { rows, labels, transactions };
}

/**
 * Joins the traces of new transactions with traces of the index, and stores them with their accounts and open messages. Call it late in a
 * READ COMMITTED transaction: until the end no other transaction joins traces.
 *
 * A complete trace has no open message, and so never changes. A stored trace that ends here as a part of another was never classified.
 *
 * @returns masterchain blocks at the ends of stored traces that became complete
 */
export async function joinTraces(
  session: Session,
  inserts: Inserts,
  { rows, labels }: HintedTraces,
): Promise<readonly number[]> {
  await session.query(`SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || '.open_edges', 0))`);
  const met = await takeMetEdges(session, rows.openEdges);
  const stored = await readTraces(session, met);
  const plan = planTraces(rows, met, stored, labels);
  if (plan.absorbed.length > 0) await absorb(session, plan.absorbed);
  await inserts.add(traces, plan.fresh.traces);
  await inserts.add(traceAccounts, plan.fresh.accounts);
  await replaceJoined(session, inserts, plan.joined);
  await inserts.add(openEdges, plan.openEdges);
  return plan.joined.traces.filter(({ state }) => state === TRACE_STATE.complete).map((trace) => trace.mc_seqno_end);
}

/** Deletes the open messages whose other end is in the new rows. */
async function takeMetEdges(session: Session, edges: readonly OpenEdgeRow[]): Promise<JoinedEdge[]> {
  const met: JoinedEdge[] = [];
  for (const produced of [true, false]) {
    const wanted = edges.filter((edge) => edge.produced !== produced).map(({ msg_hash }) => msg_hash);
    if (wanted.length === 0) continue;
    const taken = await session.query<JoinedEdge>(
      'DELETE FROM open_edges WHERE produced = $1 AND msg_hash = ANY ($2::bytea[]) RETURNING msg_hash, trace_id',
      [produced, hashes(wanted)],
    );
    met.push(...taken);
  }
  return met;
}

async function readTraces(session: Session, met: readonly JoinedEdge[]): Promise<TraceRow[]> {
  if (met.length === 0) return [];
  const ids = [...new Map(met.map(({ trace_id }) => [hashKey(trace_id), trace_id])).values()];
  return session.query<TraceRow>('SELECT * FROM traces WHERE trace_id = ANY ($1::bytea[])', [hashes(ids)]);
}

async function absorb(session: Session, absorbed: readonly MergedTrace[]): Promise<void> {
  const values = [hashes(absorbed.map(({ from }) => from)), hashes(absorbed.map(({ into }) => into))];
  const given = 'unnest($1::bytea[], $2::bytea[]) AS given (old_id, new_id)';
  for (const table of ['transactions', 'open_edges']) {
    await session.query(
      `UPDATE ${table} AS stored SET trace_id = given.new_id FROM ${given} WHERE stored.trace_id = given.old_id`,
      values,
    );
  }
  await session.query(
    `WITH moved AS (
       DELETE FROM trace_accounts AS stored USING ${given} WHERE stored.trace_id = given.old_id
       RETURNING stored.account, given.new_id, stored.end_lt, stored.end_utime
     )
     INSERT INTO trace_accounts (account, trace_id, end_lt, end_utime)
     SELECT DISTINCT ON (account, new_id) account, new_id, end_lt, end_utime FROM moved ON CONFLICT DO NOTHING`,
    values,
  );
  await session.query('DELETE FROM traces WHERE trace_id = ANY ($1::bytea[])', values.slice(0, 1));
}

const traceColumns = Object.keys(traces.columns).filter((column) => column !== 'trace_id');

async function replaceJoined(session: Session, inserts: Inserts, joined: TraceSet): Promise<void> {
  const sets = traceColumns.map((column) => `${column} = excluded.${column}`).join(', ');
  await inserts.run(
    traces,
    joined.traces,
    (given) => `${insertFrom(traces, given)} ON CONFLICT (trace_id) DO UPDATE SET ${sets}`,
  );
  // Accounts are listed by the end of their traces.
  await inserts.run(
    traceAccounts,
    joined.accounts,
    (given) =>
      `${insertFrom(traceAccounts, given)} ON CONFLICT (account, trace_id) DO UPDATE SET end_lt = excluded.end_lt, end_utime = excluded.end_utime`,
  );
  await session.query(
    `UPDATE trace_accounts AS stored SET end_lt = given.end_lt, end_utime = given.end_utime FROM traces AS given
     WHERE given.trace_id = ANY ($1::bytea[]) AND stored.trace_id = given.trace_id
       AND (stored.end_lt <> given.end_lt OR stored.end_utime <> given.end_utime)`,
    [hashes(joined.traces.filter(isFollowed).map(({ trace_id }) => trace_id))],
  );
}

/**
 * Transactions of a trace up to which all of its accounts are listed by its newest end. A contract can go on with a trace in each block.
 * Each time a larger trace would have thousands of rows written.
 */
const FOLLOWED_NODES_MAX = 256;

/** True for a trace whose end all of its accounts get. Of another trace they get it when no message is on its way. */
function isFollowed({ state, nodes, pending_edges: pending }: TraceRow): boolean {
  // The message to the root of a broken trace stays open.
  return nodes <= FOLLOWED_NODES_MAX || pending <= (state === TRACE_STATE.broken ? 1 : 0);
}

function hashes(values: readonly Uint8Array[]): Buffer {
  return encodeArray(hash, values);
}
