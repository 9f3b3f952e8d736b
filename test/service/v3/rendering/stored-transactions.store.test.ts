import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import type { StoreReader } from '#service/store/queries/reader.ts';
import { findTraces } from '#service/store/queries/traces.ts';
import { findTransactions, type ListedTransaction } from '#service/store/queries/transactions.ts';
import type { TraceRow } from '#service/store/tables.ts';
import { STORED_FROM, storedTransactions } from '#service/v3/rendering/stored-transactions.ts';
import { addressesOf } from '#service/v3/rendering/assemble-transaction.ts';
import { packJson } from '#service/v3/rendering/packed-json.ts';
import { TRACE_FORMAT_VERSION } from '#service/v3/rendering/stored-trace.ts';
import { createTraceMaterializer } from '#service/v3/rendering/trace-materializer.ts';
import { createTransactionRenderer } from '#service/v3/rendering/transaction-renderer.ts';
import type { TreeTransaction } from '#service/v3/views/trace-tree.ts';
import type { TransactionView } from '#service/v3/views/transaction-views.ts';
import { createRecordedIndex } from '#test/support/recorded-index.ts';
import type { StoreUnderTest } from '#test/support/store.ts';

const { signal } = new AbortController();

let index: StoreUnderTest;
let traces: readonly TraceRow[];
/** All transactions of the recorded chain. */
let places: readonly ListedTransaction[];

beforeAll(async () => {
  index = await createRecordedIndex(import.meta.filename);
  const filter = { traceIds: [], txHashes: [], msgHashes: [] };
  traces = await findTraces(index.store, filter, { limit: 10_000, offset: 0, sort: 'desc', after: undefined });
  places = await findTransactions(index.store, {}, { limit: 10_000, offset: 0, sort: 'asc' });
});
afterAll(() => index.close());
beforeEach(() => change('TRUNCATE written_traces'));

const change = (sql: string, values: readonly unknown[] = []): Promise<object[]> =>
  index.store.transaction(({ query }) => query(sql, values));

const storeAll = (): Promise<number> => createTraceMaterializer({ store: index.store }).store(traces, signal);

/** @param stored undefined for rendering from cells */
async function answer(asked: readonly ListedTransaction[], stored: typeof storedTransactions | undefined) {
  const read: string[] = [];
  const reader: StoreReader = {
    read: (sql, values, mode) => {
      if (mode?.statement === 'transactions_at') {
        read.push(...(values[0] as Buffer[]).map((hash) => hash.toString('hex')));
      }
      return index.store.read(sql, values, mode);
    },
  };
  const writer = createTransactionRenderer({ stored });
  const opened = await writer.openAt(asked, reader);
  const written = await opened.write(reader);
  const { accounts } = opened;
  return {
    answer: {
      accounts,
      written: written.map(
        ({ json, hash, traceId, in_msg, out_msgs }) => [json.toJSON(), { hash, traceId, in_msg, out_msgs }] as const,
      ),
    },
    read,
  };
}

const hashesOf = (given: readonly ListedTransaction[]): string[] =>
  given.map(({ hash }) => Buffer.from(hash).toString('hex'));

describe('transactions of stored traces', () => {
  it('are answered as from their cells, in the order of the request, and their cells are not read', async () => {
    await storeAll();
    await change('DELETE FROM written_traces WHERE get_byte(trace_id, 0) < 64');
    const ids = await index.store.read<{ trace_id: Buffer }>(
      'SELECT trace_id FROM written_traces WHERE messages <= 8 * nodes',
    );
    const inTraces = new Set(ids.map((one) => one.trace_id.toString('hex')));
    const others = places.filter(({ trace_id: id }) => !inTraces.has(id.toString('hex')));
    expect(others.length).toBeGreaterThan(0);
    expect(others.length).toBeLessThan(places.length / 2);
    const made = await answer(places, undefined);
    const cut = await answer(places, storedTransactions);
    expect(JSON.stringify(cut.answer) === JSON.stringify(made.answer)).toBe(true);
    expect(cut.read).toEqual(hashesOf(others));
  });

  it.each([
    ['has another form', 'form = form + 1'],
    ['has too many messages for them', 'messages = 9'],
    ['is unreadable', "packed = 'x'"],
  ])('are answered from their cells if the trace %s', async (_what, set) => {
    await storeAll();
    await change(`UPDATE written_traces SET ${set}`);
    const some = [...new Map(places.map((place) => [place.trace_id.toString('hex'), place])).values()].slice(0, 40);
    const cut = await answer(some, storedTransactions);
    expect(cut.answer).toEqual((await answer(some, undefined)).answer);
    expect(cut.read).toEqual(hashesOf(some));
  });

  it('are answered from their cells if they are few', async () => {
    await storeAll();
    const few = places.slice(0, STORED_FROM - 1);
    expect((await answer(few, storedTransactions)).read).toEqual(hashesOf(few));
  });

  it('are cut out exactly if a comment looks like the end of a transaction or like a message', async () => {
    const { answer: made } = await answer(places.slice(-50), undefined);
    const views = made.written.map(([view]) => view);
    const changed = views.map((view) => ({
      ...view,
      in_msg: view.in_msg && withComment(view.in_msg),
      out_msgs: view.out_msgs.map(withComment),
    }));
    const text = JSON.stringify(Object.fromEntries(changed.map((view) => [view.hash, view])));
    const names = { warning: undefined, accounts: [], messages: 32, treeBytes: 4, orderBytes: 2 };
    const packed = packJson({ parts: ['null', '[]', text], names })!;
    const id = Buffer.alloc(32, 1);
    await change(`INSERT INTO written_traces VALUES ($1, 1, 1, ${TRACE_FORMAT_VERSION}, 32, '{}', $2)`, [id, packed]);
    const found = await storedTransactions.find(
      places.slice(-50).map((place) => ({ ...place, trace_id: id })),
      index.store,
    );
    const cut = [...found.values()];
    expect(cut.map((one) => JSON.parse(one.text.toString()) as unknown)).toEqual(changed);
    expect(cut.map(({ names: one }) => hashesIn(one))).toEqual(views.map(hashesIn));
    expect(cut.map(({ names: one }) => one.accounts)).toEqual(views.map((view) => namedIn(view)));
  });
});

type Message = TransactionView['out_msgs'][number];

function withComment(message: Message): Message {
  const comment = `"finality":"finalized"},"{"hash":"${'A'.repeat(43)}=","source":"0:00","destination":"0:00"`;
  const decoded = { '@type': 'text_comment', comment, hash: 'A', source: 'B' };
  return { ...message, message_content: { hash: null, body: null, decoded } };
}

const hashesIn = ({ in_msg, out_msgs }: TreeTransaction | TransactionView) => [
  in_msg?.hash,
  out_msgs.map(({ hash }) => hash),
];

const namedIn = (view: TransactionView): readonly string[] => [...addressesOf([view])].filter((one) => one !== null);
