import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { CONNECTIONS_END, createCursors } from '#service/streaming/request/cursor.ts';
import { StreamingError } from '#service/streaming/errors.ts';
import {
  account,
  createHubUnderTest,
  createScriptedLog,
  hash,
  trace,
  transaction,
  type Caller,
} from './hub-under-test.ts';

const cursors = createCursors('test');

const [a, b] = [account('A'), account('B')];

const oneOf = (number: number, of = a, text = '') =>
  trace(hash(number), { transactions: [transaction(`t${number}`, of, { text })] });

function namesIn(caller: Caller): string[] {
  return caller.events.flatMap(({ transactions }) =>
    (transactions as readonly { readonly hash: string }[]).map((one) => one.hash),
  );
}

describe('a cursor', () => {
  it('brings all final events after it, once and in order, before new ones, on any pod', async () => {
    const { block, open, log } = createHubUnderTest();
    const cut = open();
    await cut.subscribe({ accounts: new Set([a]) });
    await block(oneOf(1));
    const cursor = cut.connection.cursor();
    cut.connection.close();
    await block(oneOf(2), oneOf(3, b), oneOf(4));
    await block(oneOf(5, b));
    const other = createHubUnderTest({ log });
    const again = other.open();
    const done = again.subscribe({ accounts: new Set([a]) }, cursor);
    await other.block(oneOf(6));
    await done;
    await other.block(oneOf(7));
    expect(again.begun).toEqual([{ cursor: expect.any(String), resumed: 'full', gap: null }]);
    expect(namesIn(again)).toEqual(['t2', 't4', 't6', 't7']);
  });

  it('is refused with a passing error by a process that has not read the index yet, which could not know what is missing', async () => {
    const { block, open, log } = createHubUnderTest();
    const cut = open();
    await cut.subscribe({ accounts: new Set([a]) });
    await block(oneOf(1));
    const cursor = cut.connection.cursor();
    await block(oneOf(2));
    const started = createHubUnderTest();
    const refused = started.open().subscribe({ accounts: new Set([a]) }, cursor);
    await expect(refused).rejects.toMatchObject({ code: 'replay_busy', retryable: true });
    const later = createHubUnderTest({ log }).open();
    await later.subscribe({ accounts: new Set([a]) }, cursor);
    expect(namesIn(later)).toEqual(['t2']);
  });

  it('between two events of one change brings the second alone', async () => {
    const { block, open } = createHubUnderTest();
    const types = new Set(['transactions', 'trace'] as const);
    const wish = { accounts: new Set([a]), traces: new Set([hash(1)]), types };
    const whole = open();
    await whole.subscribe(wish);
    await block(oneOf(1), oneOf(2));
    expect(whole.events.map(({ type }) => type)).toEqual(['transactions', 'trace', 'transactions']);
    const again = open();
    await again.subscribe(wish, whole.events[0]!.cursor);
    expect(again.events.map(({ type }) => type)).toEqual(['trace', 'transactions']);
  });

  it('of a ping between two changes of one block brings the second', async () => {
    const { block, open } = createHubUnderTest();
    const whole = open();
    await whole.subscribe({ accounts: new Set([a]) });
    const pings: string[] = [];
    whole.onEvent = () => pings.push(whole.connection.cursor());
    await block(oneOf(1), oneOf(2));
    const again = open();
    await again.subscribe({ accounts: new Set([a]) }, pings[0]);
    expect(namesIn(again)).toEqual(['t2']);
  });

  it('of a lower level brings final events at another process, and says so', async () => {
    const { block, open, log } = createHubUnderTest();
    const caller = open();
    await block(oneOf(1));
    await caller.subscribe({ accounts: new Set([a]), minFinality: 'pending' });
    const { cursor } = caller.begun[0]!;
    await block(oneOf(2));
    const again = createHubUnderTest({ log }).open();
    await again.subscribe({ accounts: new Set([a]), minFinality: 'pending' }, cursor);
    expect(again.begun).toMatchObject([{ resumed: 'finalized' }]);
    expect(namesIn(again)).toEqual(['t2']);
  });

  it('beyond the window says which blocks are missing, and new events follow', async () => {
    const { block, open, log } = createHubUnderTest();
    const caller = open();
    await block(oneOf(1));
    await caller.subscribe({ accounts: new Set([a]) });
    for (const number of [2, 3, 4]) await block(oneOf(number));
    log.state.oldest = 4;
    const again = open();
    await again.subscribe({ accounts: new Set([a]) }, caller.begun[0]!.cursor);
    await block(oneOf(5));
    expect(again.begun).toMatchObject([{ resumed: 'none', gap: { from_mc_seqno: 1, to_mc_seqno: 4 } }]);
    expect(namesIn(again)).toEqual(['t5']);
  });

  it('beyond the window names all missing blocks, also when an older replay of the connection has not read them yet', async () => {
    const { block, open, log } = createHubUnderTest();
    const caller = open();
    await block(oneOf(1));
    await caller.subscribe({ accounts: new Set([a]) });
    const text = 'x'.repeat(100_000);
    for (let number = 2; number <= 20; number++) await block(oneOf(number, a, text));
    const again = open();
    again.stall(true);
    const first = again.subscribe({ accounts: new Set([a]) }, caller.begun[0]!.cursor);
    for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
    log.state.oldest = 20;
    const second = again.subscribe({ accounts: new Set([b]) }, caller.begun[0]!.cursor);
    again.stall(false);
    await Promise.all([first, second]);
    await block(oneOf(21, b));
    expect(again.begun[1]).toMatchObject({ resumed: 'none', gap: { from_mc_seqno: 1, to_mc_seqno: 20 } });
    expect(namesIn(again).at(-1)).toBe('t21');
  });

  it('of a pod that is ahead lets no event come twice', async () => {
    const ahead = createHubUnderTest();
    const caller = ahead.open();
    await caller.subscribe({ accounts: new Set([a]) });
    for (const number of [1, 2]) await ahead.block(oneOf(number));
    const behind = createHubUnderTest({ log: createScriptedLog() });
    await behind.block(oneOf(1));
    const again = behind.open();
    await again.subscribe({ accounts: new Set([a]) }, caller.connection.cursor());
    for (const number of [2, 3]) await behind.block(oneOf(number));
    expect(namesIn(again)).toEqual(['t3']);
  });

  it('that is unreadable or of a distant future is refused, and the former subscription stays', async () => {
    const { block, open, log } = createHubUnderTest();
    const caller = open();
    await caller.subscribe({ accounts: new Set([a]) });
    await block(oneOf(9, b));
    const far = createHubUnderTest({ log: { ...log, newest: () => ({ mcSeqno: 5_000, index: 0 }) } }).open();
    await far.subscribe({ accounts: new Set([a]) });
    for (const cursor of ['x', far.begun[0]!.cursor]) {
      const refusal = caller.subscribe({ accounts: new Set([b]) }, cursor);
      await expect(refusal).rejects.toThrow(new StreamingError('invalid_cursor', 'invalid cursor'));
    }
    await block(oneOf(1), oneOf(2, b));
    expect(namesIn(caller)).toEqual(['t1']);
  });

  it('that is refused leaves no account of its subscription in the index of subscriptions, however often it comes', async () => {
    const { block, open, register } = createHubUnderTest();
    const keys = async (): Promise<string> => register.getSingleMetricAsString('ton_streaming_subscribed_keys');
    const caller = open();
    await caller.subscribe({ accounts: new Set([a]) });
    await block(oneOf(1));
    const far = { position: { mcSeqno: 5_000, index: 0 }, connection: 1, levels: { epoch: 1, mark: 1 } };
    for (const letter of ['A', 'B', 'C', 'D']) {
      const wish = { accounts: new Set([account(letter)]), minFinality: 'pending' as const };
      await expect(caller.subscribe(wish, cursors.write(far))).rejects.toThrow('invalid cursor');
    }
    expect(await keys()).toMatch(/ 1$/);
    await block(oneOf(2), oneOf(3, b));
    expect(namesIn(caller)).toEqual(['t1', 't2']);
  });

  it('that a caller forged is refused, or brings final events once and in order, and ends no connection of another key', async () => {
    const { block, open } = createHubUnderTest();
    const other = open('other');
    await other.subscribe({ accounts: new Set([a]) });
    const { connection } = cursors.read(other.connection.cursor());
    for (const number of [1, 2, 3]) await block(oneOf(number), oneOf(number + 10));
    const forged = fc.record({
      mcSeqno: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 2 ** 32 - 1 })),
      index: fc.oneof(fc.integer({ min: 0, max: 600 }), fc.integer({ min: 0, max: 2 ** 32 - 1 })),
      number: fc.constantFrom(connection, 0, CONNECTIONS_END - 1),
    });
    await fc.assert(
      fc.asyncProperty(forged, async ({ number, ...position }) => {
        const caller = open();
        const cursor = cursors.write({ position, connection: number });
        const outcome = await caller.subscribe({ accounts: new Set([a]) }, cursor).then(
          () => caller.begun[0]!.resumed,
          (error: unknown) => (error as Error).message,
        );
        const names = namesIn(caller);
        expect(outcome).toBe(position.mcSeqno > 1003 ? 'invalid cursor' : 'full');
        expect(names).toEqual(namesIn(other).slice(6 - names.length));
        caller.connection.close();
      }),
      { numRuns: 300 },
    );
    expect(other.ended()).toBeUndefined();
  });

  it('of an open connection of the same key ends that connection, and not one of another key', async () => {
    const { open } = createHubUnderTest();
    const former = open('key');
    await former.subscribe({ accounts: new Set([a]) });
    await open('other').subscribe({ accounts: new Set([a]) }, former.connection.cursor());
    expect(former.ended()).toBeUndefined();
    await former.subscribe({ accounts: new Set([b]) }, former.connection.cursor());
    expect(former.ended()).toBeUndefined();
    await open('key').subscribe({ accounts: new Set([a]) }, former.connection.cursor());
    expect(former.ended()).toMatchObject({ code: 4001, reason: 'superseded' });
  });

  it('of long ago reads the blocks alone that the index names, in several answers', async () => {
    const scripted = createScriptedLog();
    const asked: number[][] = [];
    const log = {
      ...scripted,
      touched: async (_: unknown, { from, to }: { readonly from: number; readonly to: number }) => {
        asked.push([from, to]);
        const until = Math.min(from + 49, to);
        return { seqnos: [7, 60, 99].filter((seqno) => seqno >= from && seqno <= until), until };
      },
    };
    const { block, open } = createHubUnderTest({ log });
    const caller = open();
    await caller.subscribe({ accounts: new Set([a]) });
    for (let number = 1; number <= 100; number++) await block(oneOf(number, [7, 60, 99].includes(number) ? a : b));
    const before = log.state.reads;
    const again = open();
    await again.subscribe({ accounts: new Set([a]) }, caller.begun[0]!.cursor);
    await block(oneOf(101));
    expect(asked).toEqual([
      [1, 100],
      [51, 100],
    ]);
    expect(namesIn(again)).toEqual(['t7', 't60', 't99', 't101']);
    expect(log.state.reads - before).toBe(3 + 1);
  });

  it('waits while the index is away, and loses nothing', async () => {
    const { block, open, log } = createHubUnderTest();
    const caller = open();
    await caller.subscribe({ accounts: new Set([a]) });
    for (const number of [1, 2]) await block(oneOf(number));
    log.state.isAway = true;
    const again = open();
    const done = again.subscribe({ accounts: new Set([a]) }, caller.events[0]!.cursor);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(again.begun).toHaveLength(1);
    log.state.isAway = false;
    await done;
    expect(namesIn(again)).toEqual(['t2']);
  });

  it('is read as fast as its caller takes it', async () => {
    const { block, open, log } = createHubUnderTest();
    const caller = open();
    await caller.subscribe({ accounts: new Set([a]) });
    const text = 'x'.repeat(50_000);
    for (let number = 1; number <= 60; number++) await block(oneOf(number, a, text));
    const again = open();
    again.stall(true);
    const before = log.state.reads;
    const done = again.subscribe({ accounts: new Set([a]) }, caller.begun[0]!.cursor);
    await block(oneOf(61));
    for (let turn = 0; turn < 1_000; turn++) await new Promise(setImmediate);
    expect(log.state.reads - before).toBeLessThan(20);
    again.stall(false);
    await done;
    expect(again.ended()).toBeUndefined();
    expect(namesIn(again)).toEqual(Array.from({ length: 61 }, (_, at) => `t${at + 1}`));
  });

  it('of a connection that replaces its subscription during a replay: the replay goes on', async () => {
    const { block, open } = createHubUnderTest();
    const caller = open();
    await caller.subscribe({ accounts: new Set([a]) });
    const text = 'x'.repeat(100_000);
    for (let number = 1; number <= 10; number++) await block(oneOf(number, a, text), oneOf(100 + number, b));
    const again = open();
    again.stall(true);
    const first = again.subscribe({ accounts: new Set([a]) }, caller.begun[0]!.cursor);
    for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
    const second = again.subscribe({ accounts: new Set([a, b]) });
    again.stall(false);
    await Promise.all([first, second]);
    const names = namesIn(again);
    expect(names.filter((name) => name.length < 4)).toEqual(Array.from({ length: 10 }, (_, at) => `t${at + 1}`));
    expect(names).toContain('t110');
    expect(new Set(names).size).toBe(names.length);
  });
});
