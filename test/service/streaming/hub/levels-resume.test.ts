import { describe, expect, it } from 'vitest';

import type { Change, TraceSnapshot } from '#service/streaming/changes.ts';
import { account, action, createHubUnderTest, hash, trace, transaction, type Caller } from './hub-under-test.ts';

const [a, b] = [account('A'), account('B')];

const wish = { accounts: new Set([a]), minFinality: 'pending' as const };

function shown(number: number, finality: TraceSnapshot['finality'], name: string, of = a): TraceSnapshot {
  return trace(hash(number), { finality, transactions: [transaction(name, of)] });
}

const empty = {
  hash: Buffer.alloc(32).toString('base64'),
  extra_currencies: {},
  account_status: 'active',
  frozen_hash: null,
  data_hash: null,
  code_hash: null,
  last_transaction_lt: '7',
  last_transaction_hash: null,
};

const state = (balance: string, finality: 'confirmed' | 'finalized', isCorrection?: true, lt = '7'): Change => ({
  kind: 'state',
  account: a,
  finality,
  position: null,
  state: { ...empty, balance, last_transaction_lt: lt },
  ...(isCorrection && { isCorrection }),
});

const expired = (number: number): Change => ({ kind: 'invalidation', key: hash(number), reason: 'expired' });

type Transactions = readonly { readonly hash: string }[];

/** Events as short texts, such as `pending t1`. */
function namesIn({ events }: Caller): string[] {
  return events.map(({ type, finality, transactions, reason, state: of }) => {
    if (type === 'trace_invalidated') return String(reason);
    if (type === 'account_state_change') return `${finality} ${(of as { readonly balance: string }).balance}`;
    return `${finality} ${(transactions as Transactions).map((one) => one.hash).join()}`;
  });
}

const MINUTE_MS = 60_000;

describe('a resume at every level', () => {
  it('brings each event after the cursor in its order: simulated, signed, withdrawn, corrected and final', async () => {
    const { hub, block, open } = createHubUnderTest();
    const cut = open();
    const types = new Set(['transactions', 'account_state_change'] as const);
    await cut.subscribe({ ...wish, types });
    await hub.publish([shown(1, 'pending', 't1'), shown(2, 'pending', 't2')]);
    const { cursor } = cut.events[1]!;
    cut.connection.close();
    await hub.publish([shown(1, 'confirmed', 't1'), state('7', 'confirmed')]);
    await block(shown(3, 'finalized', 't3'));
    await hub.publish([state('5', 'finalized', true), expired(2), shown(4, 'pending', 't4', b)]);
    await block(shown(1, 'finalized', 't1'), shown(5, 'finalized', 't5'));
    await hub.publish([shown(6, 'pending', 't6')]);
    const again = open();
    await again.subscribe({ ...wish, types }, cursor);
    await hub.publish([shown(6, 'confirmed', 't6')]);
    expect(again.begun).toMatchObject([{ resumed: 'full', gap: null }]);
    expect(namesIn(again)).toEqual([
      'confirmed t1',
      'confirmed 7',
      'finalized t3',
      'finalized 5',
      'expired',
      'finalized t1',
      'finalized t5',
      'pending t6',
      'confirmed t6',
    ]);
  });

  it('keeps what is watched for ten minutes after the cut, and no longer', async () => {
    const { hub, open, clock } = createHubUnderTest();
    const cut = open();
    await cut.subscribe({ ...wish, traces: new Set([hash(9)]) });
    const { cursor } = cut.begun[0]!;
    cut.connection.close();
    const isWatched = (): readonly boolean[] => [
      hub.isWatched(),
      hub.wantsConfirmed('transactions'),
      hub.watchesPending({ accounts: [a], traces: [] }),
      hub.watchesConfirmed({ accounts: [], traces: [hash(9)] }),
    ];
    clock.nowMs += 10 * MINUTE_MS - 1;
    expect(isWatched()).toEqual([true, true, true, true]);
    expect(hub.wantsConfirmed('jettons_change')).toBe(false);
    await hub.publish([shown(1, 'pending', 't1')]);
    const early = open();
    await early.subscribe(wish, cursor);
    expect(early.begun).toMatchObject([{ resumed: 'full' }]);
    expect(namesIn(early)).toEqual(['pending t1']);
    early.connection.unsubscribe(wish.accounts, new Set());
    early.connection.close();
    clock.nowMs += 1;
    expect(isWatched()).toEqual([false, false, false, false]);
    const late = open();
    await late.subscribe(wish, cursor);
    expect(late.begun).toMatchObject([{ resumed: 'finalized' }]);
    expect(late.events).toEqual([]);
  });

  it('counts cut connections, and the bytes that a resume may need', async () => {
    const { hub, open, register } = createHubUnderTest();
    const gauges = async (): Promise<readonly number[]> => {
      const names = ['ton_streaming_absent_connections', 'ton_streaming_levels_bytes'];
      const read = await Promise.all(names.map((name) => register.getSingleMetric(name)!.get()));
      return read.map(({ values: [value] }) => value!.value);
    };
    const cut = open();
    await cut.subscribe(wish);
    expect(await gauges()).toEqual([0, 0]);
    cut.connection.close();
    await hub.publish([shown(1, 'pending', 't1')]);
    const [absent, bytes] = await gauges();
    expect(absent).toBe(1);
    expect(bytes).toBeGreaterThan(1_000);
    await hub.publish([shown(2, 'pending', 't2')]);
    expect(await gauges()).toEqual([1, 2 * bytes!]);
  });

  it('works again with the same cursor when the answer was lost, and after hours without an event', async () => {
    const { hub, open, clock } = createHubUnderTest();
    const cut = open();
    await cut.subscribe(wish);
    await hub.publish([shown(1, 'pending', 't1')]);
    clock.nowMs += 300 * MINUTE_MS;
    await hub.publish([shown(2, 'pending', 't2', b)]);
    clock.nowMs += 20 * MINUTE_MS;
    const { cursor } = cut.events[0]!;
    const now = cut.connection.cursor();
    cut.connection.close();
    await hub.publish([shown(3, 'pending', 't3')]);
    for (const _ of [1, 2]) {
      const again = open();
      await again.subscribe(wish, now);
      expect(again.begun).toMatchObject([{ resumed: 'full' }]);
      expect(namesIn(again)).toEqual(['pending t3']);
      again.connection.close();
    }
    // The log does not say any more what was between this cursor and the present.
    const old = open();
    await old.subscribe(wish, cursor);
    expect(old.begun).toMatchObject([{ resumed: 'finalized' }]);
  });

  it.each([
    ['of another key', {}, 'other'],
    ['for another account', { accounts: new Set([a, b]) }, 'key'],
    ['for another trace', { traces: new Set([hash(1)]) }, 'key'],
    ['for another type', { types: new Set(['transactions', 'actions'] as const) }, 'key'],
    ['at a lower level', { minFinality: 'pending' as const }, 'key'],
  ])('brings final events alone to a connection %s, which nobody watched', async (_case, over, key) => {
    const { open } = createHubUnderTest();
    const cut = open('key');
    await cut.subscribe({ ...wish, minFinality: 'confirmed' });
    cut.connection.close();
    const again = open(key);
    await again.subscribe({ ...wish, minFinality: 'confirmed', ...over }, cut.begun[0]!.cursor);
    expect(again.begun).toMatchObject([{ resumed: 'finalized' }]);
  });

  it('brings less to a connection that asks for less', async () => {
    const { hub, open } = createHubUnderTest();
    const cut = open();
    await cut.subscribe({ ...wish, accounts: new Set([a, b]) });
    cut.connection.close();
    await hub.publish([shown(1, 'pending', 't1'), shown(2, 'pending', 't2', b), shown(1, 'confirmed', 't1')]);
    const again = open();
    await again.subscribe({ ...wish, minFinality: 'confirmed' }, cut.begun[0]!.cursor);
    expect(again.begun).toMatchObject([{ resumed: 'full' }]);
    expect(namesIn(again)).toEqual(['confirmed t1']);
  });

  it('at a higher level withdraws the snapshots that the connection was shown at a lower level', async () => {
    const { hub, block, open } = createHubUnderTest();
    const cut = open();
    await cut.subscribe(wish);
    await hub.publish([shown(1, 'pending', 't1'), shown(2, 'pending', 't2'), shown(3, 'pending', 't3')]);
    const { cursor } = cut.events[1]!;
    cut.connection.close();
    await hub.publish([expired(1), shown(2, 'confirmed', 't2'), expired(3)]);
    const again = open();
    await again.subscribe({ ...wish, minFinality: 'confirmed' }, cursor);
    await block(shown(2, 'finalized', 't2'));
    expect(again.begun).toMatchObject([{ resumed: 'full' }]);
    expect(namesIn(again)).toEqual(['expired', 'confirmed t2', 'finalized t2']);
  });

  it('is not promised at finalized to a connection that may have been shown lower levels', async () => {
    const { hub, open } = createHubUnderTest();
    const cut = open();
    await cut.subscribe(wish);
    await hub.publish([shown(1, 'pending', 't1')]);
    const again = open();
    await again.subscribe({ ...wish, minFinality: 'finalized' }, cut.events[0]!.cursor);
    const last = open();
    await last.subscribe({ ...wish, minFinality: 'finalized' }, again.begun[0]!.cursor);
    expect([again, last].map(({ begun }) => begun[0]!.resumed)).toEqual(['finalized', 'full']);
  });

  it('withdraws what the connection was shown before the cut alone, as unmatched too', async () => {
    const { hub, block, open } = createHubUnderTest();
    const [before, after] = [open(), open()];
    await before.subscribe(wish);
    await hub.publish([shown(1, 'pending', 't1'), shown(2, 'pending', 't2')]);
    await after.subscribe(wish);
    const cursors = [before, after].map((one) => one.connection.cursor());
    for (const one of [before, after]) one.connection.close();
    await hub.publish([expired(1)]);
    await block(shown(2, 'finalized', 't2', b));
    const [shownOne, freshOne] = [open(), open()];
    await shownOne.subscribe(wish, cursors[0]);
    await freshOne.subscribe(wish, cursors[1]);
    expect(namesIn(shownOne)).toEqual(['expired', 'unmatched']);
    expect(namesIn(freshOne)).toEqual([]);
  });

  it('withdraws a trace that the connection was shown at once when it subscribed', async () => {
    const current = shown(1, 'pending', 't1');
    const { hub, open } = createHubUnderTest({ findPending: async () => current });
    const cut = open();
    const named = { minFinality: 'pending' as const, types: new Set(['trace'] as const), traces: new Set([hash(1)]) };
    await cut.subscribe(named);
    expect(cut.events.map(({ type }) => type)).toEqual(['trace']);
    const { cursor } = cut.events[0]!;
    cut.connection.close();
    await hub.publish([current, expired(1)]);
    const again = open();
    await again.subscribe(named, cursor);
    expect(again.begun).toMatchObject([{ resumed: 'full' }]);
    // The pending trace is found again here, as it would be when it is simulated again.
    expect(again.events.map(({ type }) => type)).toEqual(['trace_invalidated', 'trace']);
  });

  it('brings each event after the cursor again to the connection that had them, and that did not close', async () => {
    const { hub, open } = createHubUnderTest();
    const caller = open();
    await caller.subscribe(wish);
    await hub.publish([shown(1, 'pending', 't1'), shown(1, 'confirmed', 't1')]);
    await caller.subscribe(wish, caller.begun[0]!.cursor);
    expect(caller.begun).toMatchObject([{ resumed: null }, { resumed: 'full' }]);
    expect(namesIn(caller)).toEqual(['pending t1', 'confirmed t1', 'pending t1', 'confirmed t1']);
  });

  it('between two events of one snapshot brings the second alone', async () => {
    const { hub, open } = createHubUnderTest();
    const types = new Set(['transactions', 'actions', 'trace'] as const);
    const whole = open();
    const all = { ...wish, types, traces: new Set([hash(1)]) };
    await whole.subscribe(all);
    await hub.publish([{ ...shown(1, 'pending', 't1'), actions: [action('transfer', [a])] }]);
    expect(whole.events.map(({ type }) => type)).toEqual(['transactions', 'actions', 'trace']);
    for (const [at, { cursor }] of whole.events.entries()) {
      const again = open();
      await again.subscribe(all, cursor);
      expect(again.begun).toMatchObject([{ resumed: 'full' }]);
      expect(again.events.map(({ type }) => type)).toEqual(['actions', 'trace'].slice(at));
    }
  });

  it('shows no lower level after a final part of a trace that goes on', async () => {
    const { hub, block, open } = createHubUnderTest();
    const cut = open();
    await cut.subscribe(wish);
    await block({ ...shown(1, 'finalized', 't1'), stage: 'first', isIncomplete: true });
    const cursor = cut.connection.cursor();
    cut.connection.close();
    const again = open();
    await again.subscribe(wish, cursor);
    await hub.publish([shown(1, 'confirmed', 't2')]);
    expect(namesIn(again)).toEqual([]);
  });

  it('shows no connection a lower level of a trace after its first portion', async () => {
    const { hub, block, open } = createHubUnderTest();
    await open().subscribe(wish);
    await block({ ...shown(1, 'finalized', 't1'), stage: 'open', isIncomplete: true });
    const late = open();
    await late.subscribe(wish);
    await hub.publish([shown(1, 'confirmed', 't2')]);
    await block({ ...shown(1, 'finalized', 't2'), stage: 'first', isIncomplete: true });
    const later = open();
    await later.subscribe(wish);
    await hub.publish([shown(1, 'confirmed', 't3')]);
    expect([namesIn(late), namesIn(later)]).toEqual([['confirmed t2', 'finalized t2'], []]);
  });

  it('brings no signed state after a final one that is as new, and no correction that is older', async () => {
    const { hub, block, open } = createHubUnderTest();
    const types = new Set(['account_state_change'] as const);
    const [cut, live] = [open(), open()];
    for (const one of [cut, live]) await one.subscribe({ ...wish, types });
    await hub.publish([state('5', 'confirmed', undefined, '5')]);
    await block(state('7', 'finalized'));
    const { cursor } = cut.events[1]!;
    cut.connection.close();
    for (const lt of ['6', '7', '8']) await hub.publish([state(lt, 'confirmed', undefined, lt)]);
    for (const lt of ['6', '7']) await hub.publish([state(lt, 'finalized', true, lt)]);
    await block(state('9', 'finalized', undefined, '9'));
    await hub.publish([state('9', 'confirmed', undefined, '9')]);
    const again = open();
    await again.subscribe({ ...wish, types }, cursor);
    const late = open();
    await late.subscribe({ ...wish, types });
    await hub.publish([state('9', 'confirmed', undefined, '9')]);
    expect(again.begun).toMatchObject([{ resumed: 'full' }]);
    expect([namesIn(again), namesIn(late)]).toEqual([['confirmed 8', 'finalized 7', 'finalized 9'], []]);
    expect(namesIn(live)).toEqual(['confirmed 5', 'finalized 7', ...namesIn(again)]);
  });

  it('lets new events wait until those of the cut are given, at a slow caller too', async () => {
    const { hub, block, open } = createHubUnderTest();
    const cut = open();
    await cut.subscribe(wish);
    cut.connection.close();
    const text = 'x'.repeat(20_000);
    const sized = (number: number, finality: TraceSnapshot['finality']): TraceSnapshot =>
      trace(hash(number), { finality, transactions: [transaction(`t${number}`, a, { text })] });
    for (let number = 1; number <= 60; number++) {
      await hub.publish([sized(number, 'pending')]);
      if (number % 3 === 0) await block(sized(100 + number, 'finalized'));
    }
    const again = open();
    again.stall(true);
    const done = again.subscribe(wish, cut.begun[0]!.cursor);
    for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
    await hub.publish([sized(61, 'pending'), sized(1, 'confirmed'), expired(2)]);
    await block(sized(62, 'finalized'));
    again.stall(false);
    await done;
    const wanted = Array.from({ length: 60 }, (_, at) => at + 1).flatMap((number) =>
      number % 3 === 0 ? [`pending t${number}`, `finalized t${100 + number}`] : [`pending t${number}`],
    );
    expect(namesIn(again)).toEqual([...wanted, 'pending t61', 'confirmed t1', 'expired', 'finalized t62']);
    expect(again.ended()).toBeUndefined();
  });

  it('is not promised when the log was too small for what came in its time', async () => {
    const { hub, open, clock } = createHubUnderTest();
    const cut = open();
    await cut.subscribe(wish);
    await hub.publish([shown(1, 'pending', 't1')]);
    const { cursor } = cut.events[0]!;
    cut.connection.close();
    const fill = async (): Promise<void> => {
      for (let number = 0; number < 10_000; number++) await hub.publish([shown(7, 'pending', `${number}`, b)]);
    };
    await fill();
    const again = open();
    await again.subscribe(wish, cursor);
    expect(again.begun).toMatchObject([{ resumed: 'finalized' }]);
    // The log lacks a part of what was shown before this cursor, and could not withdraw it.
    await fill();
    const next = open();
    await next.subscribe(wish, again.connection.cursor());
    expect(next.begun).toMatchObject([{ resumed: 'finalized' }]);
    clock.nowMs += 5 * MINUTE_MS;
    await hub.publish([shown(7, 'pending', 'last', b)]);
    const later = open();
    await later.subscribe(wish, next.connection.cursor());
    expect(later.begun).toMatchObject([{ resumed: 'full' }]);
  });
});

describe('cut connections', () => {
  it('are forgotten beyond 10,000, those of the caller with the most first', async () => {
    const { hub, open } = createHubUnderTest();
    const [first] = [open('few')];
    await first.subscribe(wish);
    first.connection.close();
    const cursors: string[] = [];
    for (let number = 0; number < 10_000; number++) {
      const one = open('many');
      await one.subscribe(wish);
      cursors.push(one.begun[0]!.cursor);
      one.connection.close();
    }
    const resumed = async (keyId: string, cursor: string): Promise<unknown> => {
      const again = open(keyId);
      await again.subscribe({ ...wish }, cursor);
      return again.begun[0]!.resumed;
    };
    expect(await resumed('few', first.begun[0]!.cursor)).toBe('full');
    expect(await resumed('many', cursors[0]!)).toBe('finalized');
    expect(await resumed('many', cursors[1]!)).toBe('full');
    await hub.close();
    expect(hub.isWatched()).toBe(false);
  });

  it('of an ended hub leave no key behind', async () => {
    const { hub, open, register } = createHubUnderTest();
    const cut = open();
    await cut.subscribe(wish);
    cut.connection.close();
    const keys = async (): Promise<string> => register.getSingleMetricAsString('ton_streaming_subscribed_keys');
    expect(await keys()).toMatch(/ 1$/);
    await hub.close();
    expect(await keys()).toMatch(/ 0$/);
  });
});
