import { describe, expect, it } from 'vitest';

import { streamingDefaults } from '#service/config/streaming.ts';
import { account, action, createHubUnderTest, hash, stateAt, trace, transaction } from './hub-under-test.ts';

const a = account('A');

const sized = (number: number, bytes: number, over: object = {}) =>
  trace(hash(number), { transactions: [transaction(`t${number}`, a, { text: 'x'.repeat(bytes) })], ...over });

describe('a caller that does not read', () => {
  it('is closed with 1013 at the bound of bytes, resumes without loss, and delays no other', async () => {
    const { block, open, hub, register } = createHubUnderTest();
    const [slow, quick] = [open(), open()];
    for (const caller of [slow, quick]) await caller.subscribe({ accounts: new Set([a]) });
    slow.stall(true);
    for (let number = 1; number <= 12; number++) await block(sized(number, 100_000));
    expect(quick.events).toHaveLength(12);
    expect(slow.ended()).toMatchObject({ code: 1013, reason: 'slow consumer' });
    expect(slow.events.length).toBeLessThan(3);
    expect(hub.status()).toEqual({ connections: 1, queueBytes: 0 });
    const again = open();
    await again.subscribe({ accounts: new Set([a]) }, slow.ended()!.cursor!);
    expect([...slow.events, ...again.events].map(({ transactions }) => transactions)).toEqual(
      quick.events.map(({ transactions }) => transactions),
    );
    const text = await register.metrics();
    expect(text).toContain('ton_streaming_slow_consumers_total 1');
  });

  it('is closed with 1013 at the 257th event that waits', async () => {
    const { block, open } = createHubUnderTest();
    const caller = open();
    await caller.subscribe({ accounts: new Set([a]) });
    caller.stall(true);
    await block(sized(1, 70_000));
    for (let number = 2; number <= 257; number++) await block(sized(number, 1));
    expect(caller.ended()).toBeUndefined();
    await block(sized(258, 1));
    expect(caller.ended()).toMatchObject({ code: 1013 });
  });

  it('gets one event of any size when nothing else waits', async () => {
    const { block, open } = createHubUnderTest();
    const caller = open();
    await caller.subscribe({ accounts: new Set([a]) });
    caller.stall(true);
    await block(sized(1, 70_000), sized(2, 1_900_000));
    expect(caller.ended()).toBeUndefined();
    caller.stall(false);
    expect(caller.events).toHaveLength(2);
  });

  it('gets all events of a block, however large they are, and is closed when the next block finds them unread', async () => {
    const { block, open } = createHubUnderTest();
    const [caller, reading] = [open(), open()];
    const types = new Set(['transactions', 'actions', 'account_state_change'] as const);
    for (const one of [caller, reading]) await one.subscribe({ accounts: new Set([a]), types });
    caller.stall(true);
    const parts = [1, 2, 3, 4].map((name) => transaction(`t${name}`, a, { text: 'x'.repeat(1_500_000) }));
    await block(
      trace(hash(1), { transactions: parts, actions: [action('transfer', [a], 'x'.repeat(1_500_000))] }),
      stateAt(1, 'finalized'),
    );
    expect(caller.ended()).toBeUndefined();
    caller.stall(false);
    const names = [caller, reading].map(({ events }) => events.map(({ type, part }) => part ?? type));
    const all = [1, 2, 3, 4, 'actions', 'account_state_change'];
    expect(names).toEqual([all, all]);
    caller.stall(true);
    await block(trace(hash(2), { transactions: parts }));
    expect(caller.ended()).toBeUndefined();
    await block(sized(3, 1));
    expect(caller.ended()).toMatchObject({ code: 1013 });
  });

  it('gets all parts of a replay', async () => {
    const { block, open } = createHubUnderTest();
    const first = open();
    await first.subscribe({ accounts: new Set([a]) });
    const parts = [1, 2, 3].map((name) => transaction(`t${name}`, a, { text: 'x'.repeat(1_500_000) }));
    await block(trace(hash(1), { transactions: parts }), sized(2, 1));
    const again = open();
    again.stall(true);
    const done = again.subscribe({ accounts: new Set([a]) }, first.begun[0]!.cursor);
    await turns();
    expect(again.ended()).toBeUndefined();
    again.onEvent = () => void setImmediate(() => again.stall(false));
    again.stall(false);
    await done;
    await turns();
    expect(again.events).toHaveLength(4);
  });

  it('gets the newest of snapshots that are not final and waited', async () => {
    const { block, open, hub } = createHubUnderTest();
    const caller = open();
    await caller.subscribe({ accounts: new Set([a]), minFinality: 'pending' });
    caller.stall(true);
    await block(sized(1, 70_000));
    for (let size = 1; size <= 1_000; size++) await hub.publish([sized(2, size, { finality: 'pending' })]);
    await block(sized(3, 1));
    caller.stall(false);
    expect(caller.ended()).toBeUndefined();
    expect(caller.events.map(({ trace_external_hash_norm: key }) => key)).toHaveLength(3);
    expect(caller.events[1]).toMatchObject({ transactions: [{ text: 'x'.repeat(1_000) }] });
  });

  it('is not counted among those who were shown a trace whose snapshot ended its connection', async () => {
    const { hub, open, clock } = createHubUnderTest();
    const caller = open();
    await caller.subscribe({ accounts: new Set([a]), minFinality: 'pending' });
    caller.stall(true);
    for (const number of [1, 2, 3]) await hub.publish([sized(number, 600_000, { finality: 'pending' })]);
    expect(caller.ended()).toMatchObject({ code: 1013 });
    // It is watched for as long as it may come back.
    clock.nowMs += 10 * 60_000;
    expect([1, 2, 3].map((number) => hub.watchesPending({ accounts: [], traces: [hash(number)] }))).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('is closed first when the queues of all callers are above the bound of the process', async () => {
    const { block, open, hub } = createHubUnderTest({
      settings: () => ({ ...streamingDefaults, queue: { ...streamingDefaults.queue, bytesPerPod: 500_000 } }),
    });
    const callers = [open(), open(), open()];
    for (const caller of callers) await caller.subscribe({ accounts: new Set([a]) });
    const [longest, shorter, reading] = callers as [(typeof callers)[0], (typeof callers)[0], (typeof callers)[0]];
    longest.stall(true);
    await block(sized(1, 70_000), sized(2, 200_000));
    shorter.stall(true);
    await block(sized(3, 100_000), sized(4, 100_000), sized(5, 100_000));
    expect(callers.map((one) => one.ended()?.code)).toEqual([1013, undefined, undefined]);
    expect(hub.status().queueBytes).toBeLessThan(500_000);
    expect(reading.events).toHaveLength(5);
  });

  it('gets one event of a replay, and no other of it waits', async () => {
    const { hub, open, block } = createHubUnderTest();
    const first = open();
    await first.subscribe({ accounts: new Set([a]) });
    for (let number = 1; number <= 6; number++) await block(sized(number, 70_000));
    const again = open();
    again.stall(true);
    const done = again.subscribe({ accounts: new Set([a]) }, first.begun[0]!.cursor);
    await turns();
    expect(again.events).toHaveLength(1);
    expect(hub.status().queueBytes).toBeLessThan(80_000);
    again.onEvent = () => void setImmediate(() => again.stall(false));
    again.stall(false);
    await done;
    await turns();
    expect(again.events).toHaveLength(6);
    expect(hub.status().queueBytes).toBe(0);
  });

  it('is closed when unsent replays of all callers are above the bound of the process, and resumes without loss', async () => {
    const { hub, open, block } = createHubUnderTest({
      settings: () => ({ ...streamingDefaults, queue: { ...streamingDefaults.queue, bytesPerPod: 500_000 } }),
    });
    const b = account('B');
    const first = open();
    await first.subscribe({ accounts: new Set([a]) });
    const large = transaction('large', b, { text: 'x'.repeat(300_000) });
    await block(sized(1, 150_000), trace(hash(2), { transactions: [large] }));
    const callers = [a, a, b].map((one) => ({ caller: open(), wish: { accounts: new Set([one]) } }));
    for (const { caller, wish } of callers) {
      caller.stall(true);
      void caller.subscribe(wish, first.begun[0]!.cursor);
      await turns();
    }
    expect(callers.map(({ caller }) => caller.ended()?.code)).toEqual([undefined, undefined, 1013]);
    expect(hub.status().queueBytes).toBeLessThan(500_000);
    const { caller: ended, wish } = callers[2]!;
    const again = open();
    await again.subscribe(wish, ended.ended()!.cursor!);
    expect([...ended.events, ...again.events]).toHaveLength(1);
    for (const { caller } of callers) caller.connection.close();
    expect(hub.status().queueBytes).toBe(0);
  });
});

/** Lets all work end that waits for no caller. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
}
