import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { naiveTraces, type NaiveTrace, type TransactionSource } from '#test/support/naive-traces.ts';
import { startV3UnderTest, type Query, type V3UnderTest } from '#test/support/v3-service.ts';

type Json = Record<string, unknown>;

type Shown = {
  readonly trace_id: string;
  readonly trace_info: {
    readonly trace_state: string;
    messages: number;
    transactions: number;
    pending_messages: number;
  };
  readonly transactions: Readonly<Record<string, Json>>;
  readonly trace: unknown;
} & Readonly<Record<string, unknown>>;

/** Traces of one page: a busy machine shows them well within the time that an answer may take. */
const pageLength = 25;

let v3: V3UnderTest;
/** By their end. */
let naive: readonly NaiveTrace[];
let shown: readonly Shown[];

async function list(query: Query, operation = 'traces'): Promise<Shown[]> {
  const answer = await v3.get(operation, query);
  const { status, body } = answer;
  // Long pages hold nothing that short ones do not.
  expect([status, query['limit'] === pageLength ? [] : answer.flaws]).toEqual([200, []]);
  return (body as Record<string, Shown[]>)[operation]!;
}

const ids = (traces: readonly { readonly trace_id: string }[]): string[] => traces.map((one) => one.trace_id);

const endsAt = ({ end_lt: lt, trace_id: id }: NaiveTrace) =>
  `${lt.padStart(20, '0')}${Buffer.from(id, 'base64').toString('hex')}`;

beforeAll(async () => {
  v3 = await startV3UnderTest(import.meta.filename);
  const rows = await v3.index.store.read<TransactionSource>('SELECT boc, workchain, mc_seqno FROM transactions');
  naive = naiveTraces(rows).toSorted((one, other) => (endsAt(one) < endsAt(other) ? -1 : 1));
  const pages: Shown[][] = [];
  for (let offset = 0; offset < naive.length; offset += pageLength)
    pages.push(await list({ limit: pageLength, offset, sort: 'asc' }));
  shown = pages.flat();
});
afterAll(() => v3.close());

describe('traces of the recorded chain', () => {
  it('are those of a pass over its transactions that knows nothing of blocks', () => {
    expect(ids(shown)).toEqual(ids(naive));
    expect(naive.reduce((sum, one) => sum + one.transactions, 0)).toBe(
      shown.reduce((sum, one) => sum + Object.keys(one.transactions).length, 0),
    );
    const seen = shown.map(
      ({ trace_info: info, trace, transactions: _transactions, is_incomplete: isIncomplete, ...rest }) => {
        const { messages, transactions, pending_messages } = info;
        return { ...rest, messages, transactions, pending_messages, tree: trace, isIncomplete };
      },
    );
    const wanted = naive.map(({ accounts: _accounts, messageHashes: _hashes, ...rest }) => ({
      ...rest,
      isIncomplete: false,
    }));
    expect(seen).toEqual(wanted);
  });

  it('are complete when nothing is in progress, and hold each transaction under its hash', () => {
    for (const { trace_info: info, transactions, trace_id: id } of shown) {
      expect(info.trace_state).toBe(info.pending_messages === 0 ? 'complete' : 'pending');
      for (const [hash, one] of Object.entries(transactions)) expect(one).toMatchObject({ hash, trace_id: id });
    }
    expect(Math.max(...shown.map(({ trace_info: info }) => info.transactions))).toBeGreaterThan(5);
  });

  it('are found by account, in both orders, in pages', async () => {
    const counts = Map.groupBy(
      naive.flatMap((one) => one.accounts.map((account) => ({ account, one }))),
      ({ account }) => account,
    );
    const busiest = [...counts].toSorted(([, a], [, b]) => b.length - a.length).slice(0, 12);
    for (const [account, traces] of busiest) {
      const wanted = ids(traces.map(({ one }) => one));
      expect(ids(await list({ account, limit: 8, sort: 'asc' }))).toEqual(wanted.slice(0, 8));
      expect(ids(await list({ account, limit: 7, offset: 3 }))).toEqual(wanted.toReversed().slice(3, 10));
    }
  });

  it('are found by any of their transactions and messages', async () => {
    const large = naive.filter((one) => one.transactions > 2).slice(0, 8);
    for (const one of large) {
      for (const hash of one.transactions_order) expect(ids(await list({ tx_hash: hash }))).toEqual([one.trace_id]);
      for (const hash of one.messageHashes) expect(ids(await list({ msg_hash: hash }))).toEqual([one.trace_id]);
    }
    const several = await list({ trace_id: ids(large), sort: 'asc' });
    expect(ids(several)).toEqual(ids(large));
    const hashes = large.map((one) => one.transactions_order.at(-1)!);
    expect(ids(await list({ tx_hash: hashes.join(','), sort: 'asc' }))).toEqual(ids(large));
  });

  it('are found by the normalised hash of the message from outside', async () => {
    const sql =
      'SELECT hash_norm, trace_id FROM messages m JOIN transactions t ON t.in_msg_hash = m.hash WHERE hash_norm IS NOT NULL LIMIT 20';
    const rows = await v3.index.store.read<{ hash_norm: Buffer; trace_id: Buffer }>(sql);
    expect(rows.length).toBeGreaterThan(0);
    for (const { hash_norm: hash, trace_id: id } of rows) {
      const found = ids(await list({ msg_hash: hash.toString('hex') }));
      expect(found).toContain(id.toString('base64'));
    }
  });

  it('are found by the masterchain block in which they ended, with an account or without', async () => {
    const byEnd = Map.groupBy(naive, (one) => one.mc_seqno_end);
    for (const [seqno, traces] of [...byEnd].slice(10, 40)) {
      const complete = traces.filter((one) => one.pending_messages === 0);
      expect(ids(await list({ mc_seqno: seqno, sort: 'asc', limit: 1000 }))).toEqual(ids(complete));
      const [account] = complete[0]!.accounts;
      const of = complete.filter((one) => one.accounts.includes(account!));
      expect(ids(await list({ mc_seqno: seqno, account: account!, sort: 'asc' }))).toEqual(ids(of));
    }
  });

  it('are cut by windows of lt and of time, both ends included', async () => {
    const [first, last] = [naive[50]!, naive[90]!];
    const byLt = await list({ start_lt: first.end_lt, end_lt: last.end_lt, sort: 'asc', limit: 1000 });
    const within = naive.filter(
      ({ end_lt: lt }) => BigInt(lt) >= BigInt(first.end_lt) && BigInt(lt) <= BigInt(last.end_lt),
    );
    expect(ids(byLt)).toEqual(ids(within));
    const byTime = await list({
      start_utime: first.end_utime,
      end_utime: `${last.end_utime}.9`,
      sort: 'asc',
      limit: 1000,
    });
    const then = naive.filter(({ end_utime: time }) => time >= first.end_utime && time <= last.end_utime);
    expect(ids(byTime).toSorted()).toEqual(ids(then).toSorted());
    const times = byTime.map((one) => one['end_utime'] as number);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(await list({ start_utime: 99_999_999_999 })).toEqual([]);
    expect(await list({ account: naive[60]!.accounts[0]!, end_utime: first.start_utime - 10_000 })).toEqual([]);
  });

  it('of nobody are none', async () => {
    const nothing = Buffer.alloc(32, 9).toString('base64');
    for (const name of ['trace_id', 'tx_hash', 'msg_hash']) expect(await list({ [name]: nothing })).toEqual([]);
    expect(await list({ account: `0:${'AB'.repeat(32)}` })).toEqual([]);
  });

  it('tell actions when asked, and the accounts of their transactions', async () => {
    const { body } = await v3.get('traces', { limit: 3, include_actions: true, supported_action_types: 'v4' });
    const { traces, address_book: book, metadata } = body as { traces: Shown[]; address_book: Json; metadata: Json };
    for (const one of traces) expect(one['actions']).toEqual([]);
    const accounts = traces.flatMap((one) => Object.values(one.transactions).map(({ account }) => account));
    expect(Object.keys(book).toSorted()).toEqual([...new Set(accounts)].map(String).toSorted());
    expect(metadata).toEqual({});
    const bare = await list({ limit: 3 });
    for (const one of bare) expect(Object.keys(one)).not.toContain('actions');
  });

  it('are events by an older name', async () => {
    const events = await list({ limit: 5 }, 'events');
    const traces = await list({ limit: 5, include_actions: true });
    expect(events).toEqual(traces);
  });
});

describe('what is wrong with a request for traces', () => {
  const hash = Buffer.alloc(32, 9).toString('base64');
  const account = `0:${'AB'.repeat(32)}`;
  it.each([
    [{ trace_id: hash, tx_hash: hash }, 422, 'only one of account, trace_id, tx_hash, msg_hash should be specified'],
    [{ account, msg_hash: hash }, 422, 'only one of account, trace_id, tx_hash, msg_hash should be specified'],
    [{ trace_id: 'x' }, 422, 'failed to decode: schema: error converting value for index 0 of "trace_id"'],
    [{ tx_hash: hash.slice(0, 43) }, 422, 'failed to decode: schema: error converting value for index 0 of "tx_hash"'],
    [{ account: 'x' }, 422, 'failed to decode: schema: error converting value for "account"'],
    [{ mc_seqno: 100_000 }, 404, 'masterchain block 100000 not found'],
    [{ limit: 1001 }, 422, 'limit is not allowed: 1001 > 1000'],
    [{ sort: 'up' }, 422, 'wrong value for sort parameter'],
  ])('%j is told', async (query, code, error) => {
    for (const operation of ['traces', 'events']) {
      const { status, body, flaws } = await v3.get(operation, query);
      expect([status, body, flaws]).toEqual([code, { ok: false, code, error }, []]);
    }
  });
});
