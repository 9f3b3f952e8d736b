import { describe, expect, it } from 'vitest';

import type { Change, Finality, TraceSnapshot } from '#service/streaming/changes.ts';
import { account, createHubUnderTest, hash, trace, transaction, type Caller } from './hub-under-test.ts';

const a = account('A');
const key = hash(1);
const other = hash(2);

const MINUTE_MS = 60_000;

function shown(finality: Finality, name: string, over: Partial<TraceSnapshot> = {}): TraceSnapshot {
  return trace(key, { finality, hashes: [key, other], transactions: [transaction(name, a)], ...over });
}

const replaced: Change = { kind: 'invalidation', key, reason: 'replaced' };

const named = (minFinality: Finality, traces = [key]) => ({
  types: new Set(['trace'] as const),
  traces: new Set(traces),
  minFinality,
});

/** Events as short texts, such as `confirmed t1`. */
function namesIn({ events }: Caller): string[] {
  return events.map(({ type, finality, transactions, reason }) =>
    type === 'trace_invalidated' ? String(reason) : `${finality} ${Object.keys(transactions as object).join()}`,
  );
}

async function firstOf(hub: ReturnType<typeof createHubUnderTest>, minFinality: Finality): Promise<Caller> {
  const caller = hub.open();
  await caller.subscribe(named(minFinality));
  return caller;
}

describe('a subscription to a trace that is in signed blocks', () => {
  it.each<Finality>(['pending', 'confirmed'])('at %s gets its newest confirmed snapshot at once', async (level) => {
    const scene = createHubUnderTest();
    await scene.hub.publish([shown('confirmed', 'c1'), shown('confirmed', 'c2'), shown('pending', 'p1')]);
    expect(namesIn(await firstOf(scene, level))).toEqual(['confirmed c2']);
  });

  it('gets the snapshot by any hash of the trace', async () => {
    const { hub, open } = createHubUnderTest();
    await hub.publish([shown('confirmed', 'c1')]);
    const caller = open();
    await caller.subscribe(named('confirmed', [other]));
    expect(namesIn(caller)).toEqual(['confirmed c1']);
  });

  it('gets the confirmed snapshot in place of the pending one of the service', async () => {
    const scene = createHubUnderTest({ findPending: async () => shown('pending', 'p1') });
    await scene.hub.publish([shown('confirmed', 'c1')]);
    expect(namesIn(await firstOf(scene, 'pending'))).toEqual(['confirmed c1']);
  });

  it('loses a snapshot at once that was withdrawn while it was looked for', async () => {
    const scene = createHubUnderTest({
      async findConfirmed() {
        await scene.hub.publish([replaced]);
        return shown('confirmed', 'c1');
      },
    });
    expect(namesIn(await firstOf(scene, 'pending'))).toEqual(['confirmed c1', 'replaced']);
  });

  it('gets a simulated rest of a trace that no block has', async () => {
    const scene = createHubUnderTest();
    await scene.hub.publish([shown('pending', 'tail')]);
    expect(namesIn(await firstOf(scene, 'pending'))).toEqual(['pending tail']);
    expect(namesIn(await firstOf(scene, 'confirmed'))).toEqual([]);
  });

  it('at finalized gets no snapshot of a lower level', async () => {
    const scene = createHubUnderTest();
    await scene.hub.publish([shown('confirmed', 'c1')]);
    expect(namesIn(await firstOf(scene, 'finalized'))).toEqual([]);
  });

  it('gets the final snapshot in place of a confirmed one', async () => {
    const scene = createHubUnderTest();
    await scene.hub.publish([shown('confirmed', 'c1')]);
    scene.log.found.set(key, shown('finalized', 'f1', { position: { mcSeqno: 1, index: 0 } }));
    expect(namesIn(await firstOf(scene, 'pending'))).toEqual(['finalized f1']);
  });

  it.each<Finality>(['pending', 'finalized'])(
    'at %s gets the first portion of a trace that stays open, then its end',
    async (level) => {
      const scene = createHubUnderTest();
      await scene.block();
      const portion = { stage: 'first', isIncomplete: true, position: { mcSeqno: 1, index: 0 } } as const;
      scene.log.found.set(key, shown('finalized', 'f1', portion));
      const caller = await firstOf(scene, level);
      await scene.block(shown('finalized', 'f2', { stage: 'next', isIncomplete: true }));
      await scene.block(shown('finalized', 'f1,f2', { stage: 'last' }));
      expect(caller.events.map((one) => one['is_incomplete'] ?? false)).toEqual([true, false]);
      expect(namesIn(caller)).toEqual(['finalized f1', 'finalized f1,f2']);
    },
  );

  it('gets no snapshot that was withdrawn, and none that is older than five minutes', async () => {
    const scene = createHubUnderTest();
    await scene.hub.publish([shown('confirmed', 'c1'), replaced]);
    expect(namesIn(await firstOf(scene, 'confirmed'))).toEqual([]);
    await scene.hub.publish([shown('confirmed', 'c2')]);
    scene.clock.nowMs += 5 * MINUTE_MS - 1;
    expect(namesIn(await firstOf(scene, 'confirmed'))).toEqual(['confirmed c2']);
    scene.clock.nowMs += 1;
    expect(namesIn(await firstOf(scene, 'confirmed'))).toEqual([]);
  });

  it('gets the snapshot once, then higher levels and other content alone, and its withdrawal', async () => {
    const scene = createHubUnderTest();
    await scene.hub.publish([shown('confirmed', 'c1')]);
    const caller = await firstOf(scene, 'pending');
    await caller.subscribe(named('pending'));
    await scene.hub.publish([shown('pending', 'p1'), shown('confirmed', 'c1'), shown('confirmed', 'c2'), replaced]);
    expect(namesIn(caller)).toEqual(['confirmed c1', 'confirmed c2', 'replaced']);
  });

  it('gets a snapshot of signed blocks for which no connection asked before', async () => {
    const scene = createHubUnderTest({
      findConfirmed: async (one) => (one === key ? shown('confirmed', 'c1') : undefined),
    });
    const caller = await firstOf(scene, 'confirmed');
    expect(namesIn(caller)).toEqual(['confirmed c1']);
    expect(namesIn(await firstOf(scene, 'confirmed'))).toEqual(['confirmed c1']);
    await scene.hub.publish([shown('confirmed', 'c1'), replaced]);
    expect(namesIn(caller)).toEqual(['confirmed c1', 'replaced']);
  });
});

describe('a subscription with a cursor to a trace that is in signed blocks', () => {
  it('gets the snapshot again only if it changed since', async () => {
    const scene = createHubUnderTest();
    await scene.hub.publish([shown('confirmed', 'c1')]);
    const cut = await firstOf(scene, 'pending');
    const { cursor } = cut.events[0]!;
    cut.connection.close();
    for (const [change, wanted] of [
      [undefined, []],
      [shown('confirmed', 'c2'), ['confirmed c2']],
    ] as const) {
      if (change !== undefined) await scene.hub.publish([change]);
      const again = scene.open();
      await again.subscribe(named('pending'), cursor);
      expect(again.begun).toMatchObject([{ resumed: 'full' }]);
      expect(namesIn(again)).toEqual(wanted);
      again.connection.close();
    }
  });

  it('that brings final events alone gets the snapshot, unless the trace is final', async () => {
    const scene = createHubUnderTest();
    const elsewhere = createHubUnderTest({ log: scene.log });
    await scene.block();
    const cut = elsewhere.open();
    await cut.subscribe(named('confirmed'));
    await scene.hub.publish([shown('confirmed', 'c1')]);
    const { cursor } = cut.begun[0]!;
    const open = scene.open();
    await open.subscribe(named('confirmed'), cursor);
    expect(open.begun).toMatchObject([{ resumed: 'finalized' }]);
    expect(namesIn(open)).toEqual(['confirmed c1']);
    const end = shown('finalized', 'f1', { position: { mcSeqno: 1, index: 0 } });
    scene.log.found.set(key, end);
    const ended = scene.open();
    await ended.subscribe(named('confirmed'), cursor);
    expect(namesIn(ended)).toEqual([]);
  });
});
