import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createInserts } from '#service/store/insert.ts';
import { findTraces, placeOfTrace } from '#service/store/queries/traces.ts';
import { openEdges, traceAccounts, traces, type TraceRow } from '#service/store/tables.ts';
import { joinTraces } from '#service/store/trace-join.ts';
import { LOWER_NODES_MAX, TRACE_STATE } from '#service/store/trace-plan.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';
import { bytesOf, keyOf } from '#test/support/token-rows.ts';

const ltOf = (mcSeqno: number): bigint => BigInt(mcSeqno) * 1000n;

let made: StoreUnderTest;
beforeAll(async () => {
  made = await createMigratedStore(import.meta.filename);
});
afterAll(() => made.close());

const rowOf = (name: string, mcSeqno: number, row: Partial<TraceRow>): TraceRow => ({
  trace_id: bytesOf(name, 1),
  external_hash: null,
  external_hash_norm: null,
  mc_seqno_start: mcSeqno,
  mc_seqno_end: mcSeqno,
  start_lt: ltOf(mcSeqno),
  start_utime: mcSeqno,
  end_lt: ltOf(mcSeqno),
  end_utime: mcSeqno,
  state: TRACE_STATE.pending,
  pending_edges: 1,
  edges: 1,
  nodes: 1,
  ...row,
});

/** Stores a pending trace of block 1 with so many transactions, each of an account of its own. */
async function begin(name: string, nodes: number): Promise<void> {
  const row = rowOf(name, 1, { nodes });
  const { trace_id, end_lt, end_utime } = row;
  const accounts = Array.from({ length: nodes }, (_, at) => ({
    account: keyOf(name, at),
    trace_id,
    end_lt,
    end_utime,
  }));
  await made.store.transaction(async (session) => {
    const inserts = createInserts(session, 'unnest');
    await inserts.add(traces, [row]);
    await inserts.add(traceAccounts, accounts);
    await inserts.add(openEdges, [{ msg_hash: bytesOf(`${name} message`, 1), trace_id, produced: true }]);
  });
}

/** A transaction of the first account takes the open message in a block, and sends the next or none. @returns rows of accounts that were written */
async function goOn(name: string, mcSeqno: number, isEnd = false): Promise<number> {
  const fragment = {
    ...rowOf(name, mcSeqno, { state: TRACE_STATE.broken }),
    trace_id: bytesOf(`${name} part`, mcSeqno),
  };
  const { trace_id, end_lt, end_utime } = fragment;
  const sent = isEnd ? [] : [{ msg_hash: bytesOf(`${name} message`, mcSeqno), trace_id, produced: true }];
  const rows = {
    transactions: [],
    traces: [{ ...fragment, pending_edges: 1 + sent.length }],
    traceAccounts: [{ account: keyOf(name, 0), trace_id, end_lt, end_utime }],
    openEdges: [{ msg_hash: bytesOf(`${name} message`, mcSeqno - 1), trace_id, produced: false }, ...sent],
  };
  await made.store.transaction((session) =>
    joinTraces(session, createInserts(session, 'unnest'), { rows, labels: new Map(), transactions: [] }),
  );
  const [found] = await made.store.read<{ count: bigint }>(
    'SELECT count(*) FROM trace_accounts WHERE trace_id = $1 AND end_lt = $2',
    [bytesOf(name, 1), ltOf(mcSeqno)],
  );
  return Number(found!.count);
}

describe('accounts of a trace that goes on in each block', () => {
  it('all of them are listed by its newest end while it has at most 256 transactions', async () => {
    await begin('small', 250);
    for (let seqno = 2; seqno <= 7; seqno++) expect(await goOn('small', seqno)).toBe(250);
    expect(await goOn('small', 8)).toBe(1);
  });

  it('of a larger trace the account of the block is, and all of them when it is complete', async () => {
    await begin('large', 400);
    for (let seqno = 2; seqno <= 5; seqno++) expect(await goOn('large', seqno)).toBe(1);
    expect(await goOn('large', 6, true)).toBe(400);
    const [row] = await made.store.read<TraceRow>('SELECT * FROM traces WHERE trace_id = $1', [bytesOf('large', 1)]);
    expect(row).toMatchObject({ state: TRACE_STATE.complete, nodes: 405, end_lt: ltOf(6) });
  });

  it('a page goes on behind the end by which the account is listed', async () => {
    await begin('listed', 300);
    await goOn('listed', 2);
    const filter = { account: keyOf('listed', 5), traceIds: [], txHashes: [], msgHashes: [] };
    const [found] = await findTraces(made.store, filter, { limit: 1, offset: 0, sort: 'desc' });
    expect([found!.end_lt, placeOfTrace(found!).end_lt]).toEqual([ltOf(2), ltOf(1)]);
    const [ofBlock] = await findTraces(
      made.store,
      { ...filter, account: keyOf('listed', 0) },
      { limit: 1, offset: 0, sort: 'desc' },
    );
    expect(placeOfTrace(ofBlock!).end_lt).toBe(ltOf(2));
  });
});

/** Stores a part whose sender is unknown, then the transaction that sent its first message. @returns both traces as they are stored */
async function meetSender(name: string, nodes: number): Promise<TraceRow[]> {
  const lower = rowOf(name, 2, { nodes, state: TRACE_STATE.broken });
  const upper = { ...rowOf(name, 1, {}), trace_id: bytesOf(`${name} sender`, 1) };
  const edge = { msg_hash: bytesOf(`${name} message`, 1), trace_id: upper.trace_id, produced: true };
  await made.store.transaction(async (session) => {
    const inserts = createInserts(session, 'unnest');
    await inserts.add(traces, [lower]);
    await inserts.add(openEdges, [{ ...edge, trace_id: lower.trace_id, produced: false }]);
    const rows = { transactions: [], traces: [upper], traceAccounts: [], openEdges: [edge] };
    await joinTraces(session, inserts, { rows, labels: new Map(), transactions: [] });
  });
  return made.store.read<TraceRow>('SELECT * FROM traces WHERE trace_id = ANY ($1) ORDER BY mc_seqno_start', [
    [upper.trace_id, lower.trace_id],
  ]);
}

describe('the part of a trace that is stored before its sender', () => {
  it('becomes a part of the trace of its sender up to 16,384 transactions', async () => {
    const found = await meetSender('short part', LOWER_NODES_MAX);
    expect(found).toMatchObject([{ mc_seqno_start: 1, nodes: LOWER_NODES_MAX + 1, state: TRACE_STATE.complete }]);
  });

  it('stays a broken trace when it has more, so that no batch of the past writes it again', async () => {
    const found = await meetSender('long part', LOWER_NODES_MAX + 1);
    expect(found).toMatchObject([
      { nodes: 1, state: TRACE_STATE.pending, pending_edges: 1 },
      { nodes: LOWER_NODES_MAX + 1, state: TRACE_STATE.broken, pending_edges: 1 },
    ]);
    expect(
      await made.store.read('SELECT * FROM open_edges WHERE msg_hash = $1', [bytesOf('long part message', 1)]),
    ).toEqual([]);
  });
});
