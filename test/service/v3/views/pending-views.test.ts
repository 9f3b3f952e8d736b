import { describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { readTransaction } from '#service/decode/tlb/transaction.ts';
import { assembleTraces } from '#service/indexer/traces/assembly.ts';
import { noState } from '#service/simulation/account-state.ts';
import type { PendingTrace } from '#service/pending/pending.ts';
import { hashKey } from '#service/store/hash-key.ts';
import type { TraceRow } from '#service/store/tables.ts';
import { TRACE_STATE } from '#service/store/trace-plan.ts';
import { viewPending, viewPendingTrace } from '#service/v3/views/pending-views.ts';
import type { TraceView } from '#service/v3/views/trace-views.ts';
import { recordedRows } from '#test/support/recorded-index.ts';

const someHash = Buffer.alloc(32, 1);

function pendingTrace({ trace_id: id }: TraceRow, transactions: PendingTrace['transactions']): PendingTrace {
  const empty = {
    message: Buffer.alloc(0),
    accounts: [],
    states: [],
    actions: [],
    sentUnixMs: 0,
    sinceUtime: 0,
    left: 0,
  };
  const hashes = { key: someHash, messageHash: someHash, rootHash: Buffer.from(id) };
  return { ...empty, ...hashes, transactions, version: 11, classificationState: 'ok' };
}

/** The recorded ones with logs began by themselves: a pending one begins with a message. */
const arrived = ({ edges, external_hash: hash }: TraceRow): number => edges + (hash === null ? 1 : 0);

it('counts transactions and messages of a pending trace as the index does when it has come true', async () => {
  const { traces, transactions } = assembleTraces(await recordedRows());
  const members = Map.groupBy(transactions, ({ trace_id: id }) => hashKey(id));
  const real = traces.filter(({ state }) => state === TRACE_STATE.complete);
  const simulated = real.map((row) => {
    const own = members.get(hashKey(row.trace_id))!;
    return pendingTrace(
      row,
      own.map(({ workchain, boc }) => ({ workchain, boc: Buffer.from(boc) })),
    );
  });
  const views = await viewPending(simulated, {});
  const told = views.map((view) => viewPendingTrace(view, [], { testOnly: true }).trace_info);
  expect(told.map(({ transactions: nodes, messages }) => ({ nodes, messages }))).toEqual(
    real.map((row) => ({ nodes: row.nodes, messages: arrived(row) })),
  );
  expect(real.some((row) => arrived(row) > row.nodes)).toBe(true);
});

/** The recorded trace of most transactions that a message began, as if it were simulated. */
async function viewOfLargest(changed: (trace: PendingTrace) => PendingTrace): Promise<TraceView> {
  const { traces, transactions } = assembleTraces(await recordedRows());
  const row = traces
    .filter(({ state, external_hash: hash }) => state === TRACE_STATE.complete && hash !== null)
    .toSorted((one, other) => other.nodes - one.nodes)[0]!;
  const own = transactions.filter(({ trace_id: id }) => hashKey(id) === hashKey(row.trace_id));
  const stored = own.map(({ workchain, boc }) => ({ workchain, boc: Buffer.from(boc) }));
  const [view] = await viewPending([changed(pendingTrace(row, stored))], {});
  return viewPendingTrace(view!, [], { testOnly: true });
}

describe('pending messages of a pending trace', () => {
  it.each([0, 3])(
    'are all its messages while it is only simulated, and the %i that were not followed',
    async (left) => {
      const { trace_info: all } = await viewOfLargest((trace) => trace);
      const { trace_info: told } = await viewOfLargest((trace) => ({ ...trace, left }));
      expect(told.messages).toBe(all.messages + left);
      expect(told.pending_messages).toBe(told.messages);
    },
  );

  it('fall to 0 as blocks have its transactions', async () => {
    const pendingWith = async (indexed: number): Promise<number> => {
      const { trace_info: told, transactions_order: order } = await viewOfLargest((trace) => ({
        ...trace,
        transactions: trace.transactions.map((one, at) => ({ ...one, isIndexed: at < indexed })),
      }));
      expect(order).toHaveLength(told.transactions);
      return told.pending_messages;
    };
    const { trace_info: all } = await viewOfLargest((trace) => trace);
    const { transactions: count } = all;
    const counts = await Promise.all([0, 1, count >> 1, count - 1, count].map(pendingWith));
    expect(counts).toEqual(counts.toSorted((one, other) => other - one));
    expect([counts[0], counts.at(-1)]).toEqual([all.messages, 0]);
    expect(new Set(counts).size).toBe(counts.length);
  });
});

it('a pending trace has no id, and its transactions name none: no block has its first transaction', async () => {
  const shown = await viewOfLargest((trace) => trace);
  expect(shown.trace_id).toBeNull();
  const transactions = Object.values(shown.transactions as Record<string, object>);
  expect(transactions.filter((one) => 'trace_id' in one)).toEqual([]);
  expect(transactions.length).toBe(shown.trace_info.transactions);
});

it('simulated states show all their other currencies', async () => {
  const { traces, transactions } = assembleTraces(await recordedRows());
  const row = transactions.find(({ workchain }) => workchain === 0)!;
  const table = parseBoc(row.boc);
  const { newHash } = readTransaction(table, table.roots[0]!).stateUpdate;
  for (const extraCurrencies of [{}, { '100': '7' }]) {
    const state = { ...noState(newHash), status: 'active' as const, extraCurrencies };
    const simulated = pendingTrace(traces[0]!, [{ workchain: 0, boc: Buffer.from(row.boc) }]);
    const [view] = await viewPending([{ ...simulated, states: [state] }], {});
    expect(view!.transactions[0]!.account_state_after!.extra_currencies).toEqual(extraCurrencies);
  }
});
