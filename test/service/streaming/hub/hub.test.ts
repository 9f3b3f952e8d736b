import { describe, expect, it } from 'vitest';

import type { Change, TraceSnapshot } from '#service/streaming/changes.ts';
import { stateEvent } from '../fake-hub.ts';
import {
  account,
  action,
  base64,
  createHubUnderTest,
  hash,
  trace,
  transaction,
  type Caller,
} from './hub-under-test.ts';

const [a, b, c] = [account('A'), account('B'), account('C')];
const key = hash(1);

/** Types and levels of what a caller got. */
function summary(caller: Caller): string[] {
  return caller.events.map(({ type, finality, reason }) =>
    type === 'trace_invalidated' ? `${type} ${String(reason)}` : `${type} ${finality}`,
  );
}

function firstHash(frame: Readonly<Record<string, unknown>>): string {
  return (frame['transactions'] as readonly { readonly hash: string }[])[0]!.hash;
}

function hashesIn(caller: Caller): string[][] {
  return caller.events.map(({ transactions }) =>
    (Array.isArray(transactions) ? (transactions as { readonly hash: string }[]) : []).map((one) => one.hash),
  );
}

const jettonView = {
  address: a,
  balance: '2',
  owner: b,
  jetton: c,
  last_transaction_lt: '7',
  code_hash: null,
  data_hash: null,
};

const bookRow = (domain: string | null): object => ({ user_friendly: null, domain, interfaces: null });

const pending = (over: Partial<TraceSnapshot> = {}): TraceSnapshot => trace(key, { finality: 'pending', ...over });

const final = (over: Partial<TraceSnapshot> = {}): TraceSnapshot => trace(key, over);

describe('a hub', () => {
  it('gives the transactions and actions of subscribed accounts alone, in the form of the contract', async () => {
    const { open, block } = createHubUnderTest();
    const caller = open();
    await caller.subscribe({ accounts: new Set([a]), types: new Set(['transactions', 'actions']) });
    await block(
      final({
        transactions: [transaction('t2', b), transaction('t1', a)],
        actions: [action('transfer', [a, b]), action('transfer', [b], 'other'), action('unknown', [a])],
      }),
    );
    const common = { finality: 'finalized', trace_external_hash_norm: base64(key), cursor: expect.any(String) };
    expect(caller.events).toEqual([
      { type: 'transactions', ...common, transactions: [{ account: a, hash: 't1' }] },
      { type: 'actions', ...common, actions: [{ type: 'transfer', action_id: 'transfer', accounts: [a, b] }] },
    ]);
  });

  it('gives a trace by its hash with all transactions and the actions that pass the filters', async () => {
    const { open, block } = createHubUnderTest();
    const caller = open();
    await caller.subscribe({ traces: new Set([hash(7)]), types: new Set(['trace']), actionTypes: new Set(['none']) });
    const transactions = [transaction('t2', b), transaction('t1', a)];
    await block(final({ hashes: [key, hash(7)], transactions, actions: [action('transfer', [a])] }));
    expect(caller.events).toEqual([
      {
        type: 'trace',
        finality: 'finalized',
        trace_external_hash_norm: base64(key),
        trace: { tx_hash: 'root', children: [] },
        transactions: { t1: { account: a, hash: 't1' }, t2: { account: b, hash: 't2' } },
        cursor: expect.any(String),
      },
    ]);
  });

  it('gives states and jetton wallets to those who watch the account, the wallet or the owner', async () => {
    const { open, block } = createHubUnderTest();
    const [first, second] = [open(), open()];
    await first.subscribe({ accounts: new Set([a]), types: new Set(['account_state_change', 'jettons_change']) });
    await second.subscribe({ accounts: new Set([b]), types: new Set(['jettons_change']) });
    const state: Change = {
      kind: 'state',
      account: a,
      finality: 'finalized',
      position: null,
      state: stateEvent().state,
    };
    const jetton: Change = {
      kind: 'jetton',
      accounts: [a, b],
      named: [a, b, c],
      finality: 'finalized',
      position: null,
      jetton: jettonView,
    };
    await block(state, jetton);
    expect(first.events).toMatchObject([
      { type: 'account_state_change', finality: 'finalized', account: a, state: stateEvent().state },
      { type: 'jettons_change', finality: 'finalized', jetton: jettonView },
    ]);
    expect(summary(second)).toEqual(['jettons_change finalized']);
  });

  it('gives the address book of a jetton wallet, its owner and its master, and metadata of the owner and the master alone', async () => {
    const named = [a, b, c];
    const book = Object.fromEntries(named.map((one) => [one, bookRow(null)]));
    const tokens = Object.fromEntries(named.map((one) => [one, { is_indexed: true, token_info: [] }]));
    const { open, block } = createHubUnderTest({
      labels: { addressBook: async () => book, metadata: async () => tokens },
    });
    const caller = open();
    const types = new Set(['jettons_change'] as const);
    await caller.subscribe({ accounts: new Set([b]), types, includeAddressBook: true, includeMetadata: true });
    await block({ kind: 'jetton', accounts: [a, b], named, finality: 'finalized', position: null, jetton: jettonView });
    const [event] = caller.events;
    expect([event!['address_book'], event!['metadata']].map((labels) => Object.keys(labels as object))).toEqual([
      [a, b, c],
      [b, c],
    ]);
  });

  it('lets subscriptions begin while the labels of a change are read', async () => {
    const book = Promise.withResolvers<object>();
    const { open, block } = createHubUnderTest({
      labels: { addressBook: () => book.promise, metadata: async () => ({}) },
    });
    const [first, second] = [open(), open()];
    await first.subscribe({ accounts: new Set([a]), includeAddressBook: true });
    const order: string[] = [];
    const published = block(final({ transactions: [transaction('t1', a)] })).then(() => order.push('published'));
    await second.subscribe({ accounts: new Set([b]) });
    order.push('subscribed');
    book.resolve({ [a]: bookRow('a.ton') });
    await published;
    expect(order).toEqual(['subscribed', 'published']);
    expect(first.events[0]).toMatchObject({ address_book: { [a]: { domain: 'a.ton' } } });
  });

  it('gives labels of delivered content to those who ask for them, and empty ones when they cannot be read', async () => {
    const read: string[][] = [];
    const labels = {
      addressBook: async (accounts: readonly string[]) => {
        read.push([...accounts]);
        return Object.fromEntries(accounts.map((one) => [one, bookRow(null)]));
      },
      metadata: async () => Promise.reject(new Error('away')),
    };
    const { open, block } = createHubUnderTest({ labels });
    const [plain, labelled] = [open(), open()];
    await plain.subscribe({ accounts: new Set([a]) });
    await labelled.subscribe({ accounts: new Set([a]), includeAddressBook: true, includeMetadata: true });
    await block(final({ transactions: [transaction('t1', a), transaction('t2', b)] }));
    expect(plain.events[0]).not.toHaveProperty('address_book');
    expect(labelled.events[0]).toMatchObject({ address_book: { [a]: { domain: null } }, metadata: {} });
    expect(labelled.events[0]!['address_book']).not.toHaveProperty([b]);
    expect(read).toEqual([[a, b]]);
  });

  it('names a trace without an external message by its root, with trace_id', async () => {
    const { open, block } = createHubUnderTest();
    const caller = open();
    await caller.subscribe({ accounts: new Set([a]) });
    await block(final({ traceId: base64(key), transactions: [transaction('t1', a)] }));
    expect(caller.events).toMatchObject([{ trace_id: base64(key), trace_external_hash_norm: base64(key) }]);
  });
});

describe('levels of a trace', () => {
  it('rise, repeat only with other content, and end with finalized', async () => {
    const { hub, open, block } = createHubUnderTest();
    const [early, late] = [open(), open()];
    await early.subscribe({ accounts: new Set([a]), minFinality: 'pending' });
    await late.subscribe({ accounts: new Set([a]) });
    const first = pending({ transactions: [transaction('p1', a)] });
    await hub.publish([first]);
    await hub.publish([first]);
    await hub.publish([pending({ transactions: [transaction('p2', a)] })]);
    await hub.publish([pending({ transactions: [transaction('p2', a), transaction('p3', b)] })]);
    await block(final({ transactions: [transaction('t1', a)] }));
    await hub.publish([pending({ transactions: [transaction('p4', a)] })]);
    await hub.publish([{ kind: 'invalidation', key, reason: 'expired' }]);
    expect(summary(early)).toEqual(['transactions pending', 'transactions pending', 'transactions finalized']);
    expect(hashesIn(early)).toEqual([['p1'], ['p2'], ['t1']]);
    expect(summary(late)).toEqual(['transactions finalized']);
  });

  it('repeat when the trace is no longer incomplete, although its parts for the connection are the same', async () => {
    const { hub, open } = createHubUnderTest();
    const caller = open();
    const types = new Set(['transactions', 'actions', 'trace'] as const);
    await caller.subscribe({ types, accounts: new Set([a]), traces: new Set([key]), minFinality: 'confirmed' });
    const parts = { transactions: [transaction('t1', a)], actions: [action('transfer', [a])] };
    for (const isIncomplete of [true, true, false])
      await hub.publish([trace(key, { finality: 'confirmed', isIncomplete, ...parts })]);
    expect(caller.events.map(({ type, is_incomplete: is }) => [type, is])).toEqual([
      ...['transactions', 'actions', 'trace'].map((type) => [type, true]),
      ...['transactions', 'actions', 'trace'].map((type) => [type, undefined]),
    ]);
  });

  it('begin again after the trace was withdrawn from those who were shown it', async () => {
    const { hub, open } = createHubUnderTest();
    const [watching, other] = [open(), open()];
    await watching.subscribe({ accounts: new Set([a]), minFinality: 'pending' });
    await other.subscribe({ accounts: new Set([b]), minFinality: 'pending' });
    const one = pending({ transactions: [transaction('p1', a)] });
    await hub.publish([one, { kind: 'invalidation', key, reason: 'conflict' }]);
    await hub.publish([{ kind: 'invalidation', key, reason: 'conflict' }, one]);
    expect(summary(watching)).toEqual(['transactions pending', 'trace_invalidated conflict', 'transactions pending']);
    expect(other.events).toEqual([]);
  });

  it('are withdrawn also after a snapshot of a lower level that has nothing for the connection', async () => {
    const { hub, open } = createHubUnderTest();
    const caller = open();
    await caller.subscribe({ accounts: new Set([a]), minFinality: 'pending' });
    await hub.publish([{ ...pending({ transactions: [transaction('c1', a)] }), finality: 'confirmed' }]);
    await hub.publish([pending({ transactions: [transaction('p1', b)] })]);
    await hub.publish([{ kind: 'invalidation', key, reason: 'expired' }]);
    expect(summary(caller)).toEqual(['transactions confirmed', 'trace_invalidated expired']);
  });

  it.each([
    [
      'are withdrawn also where a new subscription watches another account of the trace',
      b,
      ['trace_invalidated expired'],
    ],
    ['are not withdrawn where a new subscription watches no account of the trace', account('C'), []],
  ])('%s', async (_, watched, withdrawn) => {
    const { hub, open } = createHubUnderTest();
    const caller = open();
    await caller.subscribe({ accounts: new Set([a]), minFinality: 'pending' });
    await hub.publish([pending({ transactions: [transaction('p1', a), transaction('p2', b)] })]);
    await caller.subscribe({ accounts: new Set([watched]), minFinality: 'pending' });
    await hub.publish([{ kind: 'invalidation', key, reason: 'expired' }]);
    expect(summary(caller)).toEqual(['transactions pending', ...withdrawn]);
  });

  it('are withdrawn as unmatched when the trace ends without anything for a new subscription of another scope', async () => {
    const { hub, open, block } = createHubUnderTest();
    const caller = open();
    const part = { transactions: [transaction('t1', a)], isIncomplete: true };
    await caller.subscribe({ accounts: new Set([a]), minFinality: 'confirmed' });
    await hub.publish([trace(key, { ...part, finality: 'confirmed' })]);
    await block(final({ ...part, stage: 'open', fresh: new Set(['t1']) }));
    await caller.subscribe({ accounts: new Set([a]), finalityScope: 'transaction' });
    await block(final({ transactions: [transaction('t1', a), transaction('t2', b)], fresh: new Set(['t2']) }));
    expect(summary(caller)).toEqual(['transactions confirmed', 'trace_invalidated unmatched']);
  });

  it('are withdrawn as unmatched when a later snapshot has nothing for the connection, and the other types follow', async () => {
    const { hub, open, block } = createHubUnderTest();
    const caller = open();
    const types = new Set(['transactions', 'actions'] as const);
    await caller.subscribe({ accounts: new Set([a]), types, minFinality: 'pending' });
    await hub.publish([pending({ transactions: [transaction('p1', a)], actions: [action('transfer', [a])] })]);
    await hub.publish([pending({ transactions: [transaction('p2', b)], actions: [action('transfer', [a])] })]);
    await block(final({ transactions: [transaction('t1', b)], actions: [action('transfer', [b])] }));
    expect(summary(caller)).toEqual([
      'transactions pending',
      'actions pending',
      'trace_invalidated unmatched',
      'actions pending',
      'trace_invalidated unmatched',
    ]);
  });

  it('are not withdrawn as unmatched while a message is on its way, for the rest may touch the account', async () => {
    const { hub, open, block } = createHubUnderTest();
    const caller = open();
    const types = new Set(['transactions', 'actions'] as const);
    await caller.subscribe({ accounts: new Set([a]), types, minFinality: 'pending' });
    const part = { ...pending({ transactions: [transaction('t1', b)] }), isIncomplete: true };
    await hub.publish([pending({ transactions: [transaction('p1', a)], actions: [action('transfer', [a])] })]);
    await hub.publish([{ ...part, finality: 'confirmed' }]);
    await block(final({ ...part, stage: 'first' }));
    expect(summary(caller)).toEqual(['transactions pending', 'actions pending']);
    await block(final({ transactions: [transaction('t1', b)], stage: 'last', fresh: new Set() }));
    expect(summary(caller)).toEqual(['transactions pending', 'actions pending', 'trace_invalidated unmatched']);
  });

  it('are not withdrawn as unmatched from those who subscribed the trace itself', async () => {
    const { hub, open, block } = createHubUnderTest();
    const caller = open();
    const types = new Set(['transactions', 'trace'] as const);
    await caller.subscribe({ accounts: new Set([a]), traces: new Set([key]), types, minFinality: 'pending' });
    await hub.publish([pending({ transactions: [transaction('p1', a)] })]);
    await block(final({ transactions: [transaction('t1', b)] }));
    expect(summary(caller)).toEqual(['transactions pending', 'trace pending', 'trace finalized']);
  });

  it('end for each of two traces that one message began, also for those who subscribed its hash', async () => {
    const { hub, open, block, log } = createHubUnderTest();
    const [caller, late] = [open(), open('other key')];
    const wish = { accounts: new Set([a]), traces: new Set([key]), types: new Set(['transactions', 'trace'] as const) };
    await caller.subscribe(wish);
    await block(final({ transactions: [transaction('t1', a)] }));
    const { signal } = new AbortController();
    const [first] = await log.changesOf(1, signal);
    log.found.set(key, first as TraceSnapshot);
    await late.subscribe(wish);
    // The present state of a trace does not come again with its change.
    await hub.publish([first!]);
    await block(final({ transactions: [transaction('t2', a)] }));
    const each = ['transactions finalized', 'trace finalized'];
    expect(summary(caller)).toEqual([...each, ...each]);
    expect(summary(late)).toEqual(['trace finalized', ...each]);
  });

  it('come in portions for a trace that does not end, each transaction once', async () => {
    const { open, block } = createHubUnderTest();
    const [whole, single] = [open(), open()];
    const types = new Set(['transactions', 'actions'] as const);
    await whole.subscribe({ accounts: new Set([a]), types });
    await single.subscribe({ accounts: new Set([a]), finalityScope: 'transaction' });
    const actions = [action('transfer', [a])];
    const [t1, t2, t3, t4] = ['t1', 't2', 't3', 't4'].map((name) => transaction(name, a));
    await block(final({ stage: 'open', transactions: [t1!], isIncomplete: true }));
    await block(
      final({ stage: 'first', transactions: [t2!, t1!], fresh: new Set(['t2']), actions, isIncomplete: true }),
    );
    await block(final({ stage: 'next', transactions: [t3!], isIncomplete: true }));
    await block(final({ stage: 'last', transactions: [t4!, t3!, t2!, t1!], fresh: new Set(['t4']), actions }));
    expect(caller(whole)).toEqual([
      ['transactions', true, ['t2', 't1']],
      ['actions', true, []],
      ['transactions', true, ['t3']],
      ['transactions', false, ['t4']],
      ['actions', false, []],
    ]);
    expect(hashesIn(single)).toEqual([['t1'], ['t2'], ['t3'], ['t4']]);

    function caller(one: Caller): unknown[] {
      return one.events.map(({ type, is_incomplete: is }, at) => [type, is === true, hashesIn(one)[at]]);
    }
  });

  it('are those of the listed transactions for a caller that takes each transaction by itself', async () => {
    const { hub, open } = createHubUnderTest();
    const [whole, single] = [open(), open()];
    const wish = { accounts: new Set([a]), minFinality: 'pending' } as const;
    await whole.subscribe(wish);
    await single.subscribe({ ...wish, finalityScope: 'transaction' });
    const [done, signed, simulated] = (['finalized', 'confirmed', 'pending'] as const).map((finality) =>
      transaction(finality, a, { finality }),
    );
    await hub.publish([pending({ transactions: [simulated!, done!] })]);
    await hub.publish([{ ...pending({ transactions: [signed!, done!] }), finality: 'confirmed' }]);
    expect(hashesIn(whole)).toEqual([
      ['pending', 'finalized'],
      ['confirmed', 'finalized'],
    ]);
    expect(hashesIn(single)).toEqual([['pending'], ['confirmed']]);
  });

  it('are remembered for 15 minutes', async () => {
    const { hub, open, clock } = createHubUnderTest();
    const caller = open();
    await caller.subscribe({ accounts: new Set([a]), minFinality: 'pending' });
    const one = pending({ transactions: [transaction('p1', a)] });
    await hub.publish([one]);
    clock.nowMs += 14 * 60_000;
    await hub.publish([one]);
    expect(caller.events).toHaveLength(1);
    clock.nowMs += 16 * 60_000;
    await hub.publish([{ kind: 'invalidation', key, reason: 'expired' }]);
    expect(caller.events).toHaveLength(1);
  });
});

describe('a subscription', () => {
  it('that replaces another ends its events at the answer, and keeps the memory of levels', async () => {
    const { hub, open, block } = createHubUnderTest();
    const caller = open();
    await caller.subscribe({ accounts: new Set([a]), minFinality: 'pending' });
    await hub.publish([pending({ transactions: [transaction('p1', a)] })]);
    await caller.subscribe({ accounts: new Set([a, b]), minFinality: 'pending' });
    await hub.publish([pending({ transactions: [transaction('p1', a)] })]);
    await caller.subscribe({ accounts: new Set([b]) });
    await block(trace(hash(2), { transactions: [transaction('t1', a)] }));
    await block(trace(hash(3), { transactions: [transaction('t2', b)] }));
    expect(caller.frames.map((frame) => ('type' in frame ? firstHash(frame) : 'answer'))).toEqual([
      'answer',
      'p1',
      'answer',
      'answer',
      't2',
    ]);
  });

  it('loses removed accounts and traces, and stays when nothing is left', async () => {
    const { open, block } = createHubUnderTest();
    const caller = open();
    await caller.subscribe({ accounts: new Set([a, b]) });
    caller.connection.unsubscribe(new Set([a, c]), new Set([key]));
    await block(trace(hash(2), { transactions: [transaction('t1', a), transaction('t2', b)] }));
    caller.connection.unsubscribe(new Set([b]), new Set());
    await block(trace(hash(3), { transactions: [transaction('t3', b)] }));
    expect(hashesIn(caller)).toEqual([['t2']]);
    expect(caller.ended()).toBeUndefined();
  });

  it('to a known trace gets its present state at once, pending before final', async () => {
    const snapshots = new Map([[key, pending({ transactions: [transaction('p1', a)] })]]);
    const { open, log } = createHubUnderTest({ findPending: async (one) => snapshots.get(one) });
    log.found.set(hash(2), trace(hash(2), { position: { mcSeqno: 1, index: 0 } }));
    log.found.set(key, final());
    const [early, late] = [open(), open()];
    const traces = new Set([key, hash(2), hash(3)]);
    await early.subscribe({ traces, types: new Set(['trace']), minFinality: 'pending' });
    await late.subscribe({ traces, types: new Set(['trace']) });
    expect(summary(early)).toEqual(['trace pending', 'trace finalized']);
    expect(summary(late)).toEqual(['trace finalized', 'trace finalized']);
  });
});

describe('sizes of events', () => {
  it('stay below 3 MiB: transactions come in parts, a trace without its transactions, actions cut', async () => {
    const { open, block } = createHubUnderTest();
    const caller = open();
    const types = new Set(['transactions', 'actions', 'trace'] as const);
    await caller.subscribe({ accounts: new Set([a]), traces: new Set([key]), types });
    const text = 'x'.repeat(900_000);
    await block(
      final({
        transactions: ['t5', 't4', 't3', 't2', 't1'].map((name) => transaction(name, a, { text })),
        actions: ['1', '2', '3'].map((name) => action('transfer', [a], name + text)),
      }),
    );
    expect(caller.events.map(({ type, part, parts, is_incomplete: is }) => [type, part, parts, is])).toEqual([
      ['transactions', 1, 3, undefined],
      ['transactions', 2, 3, undefined],
      ['transactions', 3, 3, undefined],
      ['actions', undefined, undefined, true],
      ['trace', undefined, undefined, true],
    ]);
    expect(hashesIn(caller).slice(0, 3).flat()).toEqual(['t5', 't4', 't3', 't2', 't1']);
    expect(caller.events[3]!['actions']).toHaveLength(2);
    expect(caller.events[4]).toMatchObject({ trace: { tx_hash: 'root', children: [] }, transactions: {} });
    for (const event of caller.events) expect(JSON.stringify(event).length).toBeLessThan(3 * 1024 * 1024);
  });

  it('stay below 3 MiB for a trace whose transactions and actions take 2 MiB each: it has fewer actions', async () => {
    const { open, block } = createHubUnderTest();
    const caller = open();
    await caller.subscribe({ traces: new Set([key]), types: new Set(['trace']) });
    const text = 'x'.repeat(900_000);
    await block(
      final({
        transactions: ['t2', 't1'].map((name) => transaction(name, a, { text })),
        actions: ['1', '2'].map((name) => action('transfer', [a], name + text)),
      }),
    );
    expect(caller.events).toMatchObject([{ type: 'trace', is_incomplete: true }]);
    expect(Object.keys(caller.events[0]!['transactions'] as object)).toEqual(['t2', 't1']);
    expect(JSON.stringify(caller.events[0]).length).toBeLessThan(3 * 1024 * 1024);
  });

  it('stay below 3 MiB with names of tokens in letters of three bytes', async () => {
    const token = { is_indexed: true, token_info: [{ name: '語'.repeat(380_000) }] };
    const labels = {
      addressBook: async () => ({ [a]: bookRow('x'.repeat(380_000)) }),
      metadata: async () => ({ [a]: token }),
    };
    const { open, block } = createHubUnderTest({ labels });
    const caller = open();
    await caller.subscribe({ accounts: new Set([a]), includeAddressBook: true, includeMetadata: true });
    await block(final({ transactions: [transaction('t1', a, { text: 'x'.repeat(2_000_000) })] }));
    expect(Buffer.byteLength(JSON.stringify(caller.events[0]))).toBeLessThan(3 * 1024 * 1024);
  });

  it('stay below 3 MiB for a transaction that is larger: it has no messages', async () => {
    const { open, block } = createHubUnderTest();
    const caller = open();
    await caller.subscribe({ accounts: new Set([a]) });
    const body = { in_msg: { body: 'x'.repeat(3_000_000) }, out_msgs: [1], lt: '5' };
    await block(final({ transactions: [transaction('t1', a, body)] }));
    expect(caller.events).toMatchObject([
      { is_incomplete: true, transactions: [{ hash: 't1', lt: '5', in_msg: null, out_msgs: [] }] },
    ]);
  });
});
