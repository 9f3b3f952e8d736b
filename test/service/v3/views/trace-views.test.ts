import { describe, expect, test } from 'vitest';

import type { FoundTrace } from '#service/store/queries/traces.ts';
import { RawJson } from '#service/contract/json-stream.ts';
import { withholdLarge } from '#service/v3/operations/traces.ts';
import { viewContent, viewTrace } from '#service/v3/views/trace-views.ts';
import type { RenderedTransaction } from '#service/v3/views/trace-tree.ts';

const id = Buffer.alloc(32, 1);

function traceRow(given: Partial<FoundTrace> = {}): FoundTrace {
  return {
    trace_id: id,
    external_hash: Buffer.alloc(32, 2),
    external_hash_norm: null,
    mc_seqno_start: 5,
    mc_seqno_end: 7,
    start_lt: 10n,
    start_utime: 100,
    end_lt: 30n,
    end_utime: 102,
    state: 0,
    pending_edges: 0,
    edges: 3,
    nodes: 2,
    classification: null,
    ...given,
  };
}

/** All of a transaction that a trace looks at. */
function written(hash: string, took: string, sent: readonly string[]): RenderedTransaction {
  const shown = { hash, in_msg: { hash: took }, out_msgs: sent.map((one) => ({ hash: one })) };
  return { ...shown, traceId: undefined, json: new RawJson([JSON.stringify(shown)]) };
}

const text = (byte: number): string => Buffer.alloc(32, byte).toString('base64');

describe('a trace', () => {
  test('is shown with its tree, the order of its transactions and all of them', () => {
    const [root, child] = [written(text(1), 'outside', ['m']), written('c', 'm', [])];
    const { transactions, ...trace } = viewTrace(traceRow(), viewContent(text(1), [root, child]), undefined);
    const byHash = { [text(1)]: root.json.toJSON(), c: child.json.toJSON() };
    expect((transactions as RawJson<unknown>).toJSON()).toEqual(byHash);
    expect(trace).toEqual({
      trace_id: text(1),
      external_hash: text(2),
      mc_seqno_start: '5',
      mc_seqno_end: '7',
      start_lt: '10',
      start_utime: 100,
      end_lt: '30',
      end_utime: 102,
      trace_info: {
        trace_state: 'complete',
        messages: 3,
        transactions: 2,
        pending_messages: 0,
        classification_state: 'unclassified',
      },
      is_incomplete: false,
      trace: {
        tx_hash: text(1),
        in_msg_hash: 'outside',
        children: [{ tx_hash: 'c', in_msg_hash: 'm', children: [] }],
      },
      transactions_order: [text(1), 'c'],
    });
  });

  test('that goes on, or whose beginning is not known, says so', () => {
    const statesOf = (state: number) => viewTrace(traceRow({ state, pending_edges: 4 }), {}, undefined).trace_info;
    expect(statesOf(1)).toMatchObject({ trace_state: 'pending', pending_messages: 4 });
    expect(statesOf(2)).toMatchObject({ trace_state: 'broken' });
    expect(viewTrace(traceRow({ external_hash: null }), {}, undefined).external_hash).toBeNull();
  });

  test('with a transaction that hangs on nothing carries a warning', () => {
    const transactions = [written(text(1), 'outside', []), written('c', 'lost', [])];
    const shown = viewTrace(traceRow({ classification: 3 }), viewContent(text(1), transactions), []);
    expect(shown).toMatchObject({ warning: 'missing node in trace found', is_incomplete: false, actions: [] });
    expect(shown.trace_info.classification_state).toBe('broken');
    expect(shown.transactions_order).toEqual([text(1), 'c']);
  });

  test('that is too large is shown without its transactions', () => {
    const shown = viewTrace(traceRow({ nodes: 4001 }), 'trace is too large', undefined);
    expect(shown).toMatchObject({ is_incomplete: true, warning: 'trace is too large' });
    expect(shown.trace_info.transactions).toBe(4001);
    for (const field of ['trace', 'transactions', 'transactions_order', 'actions'])
      expect(Object.keys(shown)).not.toContain(field);
  });
});

describe('the transactions of an answer', () => {
  test('are left out of traces with more than 4000, and of those that no longer fit', () => {
    const rows = [4000, 4001, 4000, 2001, 2000, 1].map((nodes) => traceRow({ nodes }));
    const withheld = withholdLarge(rows);
    expect(rows.map((row) => withheld.get(row) ?? 'shown')).toEqual([
      'shown',
      'trace is too large',
      'shown',
      'too many transactions in one answer',
      'shown',
      'too many transactions in one answer',
    ]);
  });
});
