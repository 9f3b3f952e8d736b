import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';

import type { Change } from '#service/streaming/changes.ts';
import { startFaultyRedis } from '#test/support/redis-server.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { account, hash, trace, transaction, type Caller } from '../hub/hub-under-test.ts';
import {
  a,
  commands,
  createPods,
  expired,
  namesIn,
  openSharedLog,
  resumedOf,
  shown,
  wish,
  type PodsUnderTest,
  type PodUnderTest,
} from './pods-under-test.ts';

const redisUrl = inject('redisUrl');

const b = account('B');

const levelsOf = ({ events }: Caller): unknown[] => events.map(({ finality, reason }) => finality ?? reason);

const missing = skipLoudly(redisUrl === undefined, { what: 'levels of several pods', why: 'there is no Redis' });

describe.skipIf(missing)('levels below finalized of several pods', () => {
  let pods: PodsUnderTest;
  let one: PodUnderTest;
  let other: PodUnderTest;

  beforeEach(async () => {
    pods = createPods(redisUrl!);
    one = await pods.start();
    other = await pods.start();
  });
  afterEach(() => pods.close());

  const prefix = (): string => `ton:levels:2:{${pods.scope}}:`;

  /** All records of both pods are given. */
  async function settle(): Promise<void> {
    await other.hub.publish([shown(999, 'pending', 'last')]);
    await one.hub.publish([shown(998, 'pending', 'last')]);
    await other.hub.publish([shown(997, 'pending', 'last')]);
  }

  it('have one order on all pods, and equal content of two pods is one event', async () => {
    const callers = [one.open(), other.open()];
    for (const caller of callers) await caller.subscribe(wish);
    await Promise.all(
      [one, other].map(async ({ hub }, at) => {
        for (let number = 1; number <= 20; number++) {
          await hub.publish([
            shown(number, 'pending', `both ${number}`),
            shown(100 + number, 'pending', `${at} ${number}`),
          ]);
        }
      }),
    );
    await settle();
    const [first, second] = [callers[0]!, callers[1]!];
    await expect.poll(() => namesIn(first)).toEqual(namesIn(second));
    expect(namesIn(first).filter((name) => name.startsWith('pending both'))).toHaveLength(20);
  });

  it('follow a cursor to another pod: each missed snapshot comes once, in rising levels', async () => {
    const cut = one.open();
    await cut.subscribe(wish);
    await one.hub.publish([shown(1, 'pending', 't1'), shown(2, 'pending', 't2')]);
    const { cursor } = cut.events.at(-1)!;
    cut.connection.close();
    await one.hub.publish([shown(1, 'confirmed', 't1'), expired(2)]);
    pods.add(shown(3, 'finalized', 't3'));
    await Promise.all([one.follow(), other.follow()]);
    await one.hub.publish([shown(4, 'pending', 't4')]);
    const again = other.open();
    await again.subscribe(wish, cursor);
    await other.hub.publish([shown(1, 'confirmed', 't1'), shown(4, 'confirmed', 't4')]);
    pods.add(shown(1, 'finalized', 't1'));
    await Promise.all([one.follow(), other.follow()]);
    expect(resumedOf(again)).toBe('full');
    expect(namesIn(again)).toEqual([
      'confirmed t1',
      'expired',
      'finalized t3',
      'pending t4',
      'confirmed t4',
      'finalized t1',
    ]);
    const third = one.open();
    await third.subscribe(wish, again.connection.cursor());
    expect(resumedOf(third)).toBe('full');
    expect(namesIn(third)).toEqual([]);
  });

  it('of a trace are shown at once by another pod to a caller that names it, and after a resume only if they changed', async () => {
    await one.hub.publish([shown(1, 'pending', 't1'), shown(1, 'confirmed', 't1')]);
    const named = { types: new Set(['trace'] as const), traces: new Set([hash(1)]), minFinality: 'pending' as const };
    const young = await pods.start();
    const cut = young.open();
    await cut.subscribe(named);
    expect(levelsOf(cut)).toEqual(['confirmed']);
    cut.connection.close();
    for (const [change, wanted] of [
      [undefined, []],
      [shown(1, 'confirmed', 't1 and more'), ['confirmed']],
    ] as const) {
      if (change !== undefined) await one.hub.publish([change]);
      const again = one.open();
      await again.subscribe(named, cut.events[0]!.cursor);
      expect(resumedOf(again)).toBe('full');
      expect(levelsOf(again)).toEqual(wanted);
      again.connection.close();
    }
  });

  it('of a trace are shown at once to a caller that names it, also by a pod whose log has lost the record', async () => {
    const small = await pods.start({ levelsBytesMax: 1, findPending: async () => shown(1, 'pending', 't1') });
    await one.hub.publish([shown(1, 'pending', 't1')]);
    await small.hub.publish([shown(2, 'pending', 't2')]);
    const caller = small.open();
    const named = { types: new Set(['trace'] as const), traces: new Set([hash(1)]), minFinality: 'pending' as const };
    await caller.subscribe(named);
    expect(levelsOf(caller)).toEqual(['pending']);
  });

  it('of a trace are withdrawn from a caller that names it, also when the withdrawal was in the log before', async () => {
    const replaced: Change = { kind: 'invalidation', key: hash(1), reason: 'replaced' };
    const late = await pods.start({
      async findConfirmed() {
        await one.hub.publish([replaced]);
        return shown(1, 'confirmed', 't1');
      },
    });
    const caller = late.open();
    const named = { types: new Set(['trace'] as const), traces: new Set([hash(1)]), minFinality: 'pending' as const };
    await caller.subscribe(named);
    expect(levelsOf(caller)).toEqual(['confirmed', 'replaced']);
  });

  it('are not withdrawn by a pod that lags, where another pod has a newer snapshot', async () => {
    const callers = [one.open(), other.open()];
    for (const caller of callers) await caller.subscribe(wish);
    await one.hub.publish([shown(1, 'pending', 'old'), shown(2, 'confirmed', 'old'), shown(3, 'pending', 'both')]);
    await other.hub.publish([shown(1, 'pending', 'new'), shown(2, 'confirmed', 'new'), shown(3, 'pending', 'both')]);
    await one.hub.publish([expired(1), { ...expired(2), reason: 'replaced' } as Change, expired(3)]);
    const shownAll = ['pending old', 'confirmed old', 'pending both', 'pending new', 'confirmed new', 'expired'];
    for (const caller of callers) await expect.poll(() => namesIn(caller)).toEqual(shownAll);
    await other.hub.publish([expired(1), { ...expired(2), reason: 'replaced' } as Change]);
    for (const caller of callers)
      await expect.poll(() => namesIn(caller)).toEqual([...shownAll, 'expired', 'replaced']);
    const counts = await one.register.getSingleMetricAsString('ton_streaming_levels_appends_total');
    expect(counts).toContain('{result="outdated"} 2');
  });

  it('are withdrawn by a pod that made none of them, where it has read the newest one', async () => {
    const caller = other.open();
    await caller.subscribe(wish);
    await one.hub.publish([shown(1, 'pending', 't1')]);
    await expect.poll(() => namesIn(caller)).toEqual(['pending t1']);
    await other.hub.publish([expired(1)]);
    await expect.poll(() => namesIn(caller)).toEqual(['pending t1', 'expired']);
  });

  it('are watched at once by the pod that a cursor comes to', async () => {
    const cut = one.open();
    await cut.subscribe(wish);
    cut.connection.close();
    const again = other.open();
    const done = again.subscribe(wish, cut.begun[0]!.cursor);
    await expect.poll(() => other.hub.watchesPending({ accounts: [a], traces: [] })).toBe(true);
    await done;
    expect(resumedOf(again)).toBe('full');
  });

  it.each([
    ['of another key', {}, 'other'],
    ['for another account', { accounts: new Set([a, b]) }, 'key'],
    ['for another type', { types: new Set(['transactions', 'actions'] as const) }, 'key'],
    ['at a lower level', { minFinality: 'pending' as const }, 'key'],
    ['at finalized', { minFinality: 'finalized' as const }, 'key'],
  ])('come as final events alone to another pod %s', async (_case, over, key) => {
    const cut = one.open('key');
    await cut.subscribe({ ...wish, minFinality: 'confirmed' });
    cut.connection.close();
    const again = other.open(key);
    await again.subscribe({ ...wish, minFinality: 'confirmed', ...over }, cut.begun[0]!.cursor);
    expect(resumedOf(again)).toBe('finalized');
  });

  it('come as final events alone when the former pod is gone', async () => {
    const cut = one.open();
    await cut.subscribe(wish);
    const { cursor } = cut.begun[0]!;
    await one.close();
    const again = other.open();
    await again.subscribe(wish, cursor);
    expect(resumedOf(again)).toBe('finalized');
  });

  it('follow a cursor to a pod that has just started, which reads the log first', async () => {
    const cut = one.open();
    await cut.subscribe(wish);
    await one.hub.publish([shown(1, 'pending', 't1')]);
    const { cursor } = cut.events[0]!;
    cut.connection.close();
    await one.hub.publish([shown(2, 'pending', 't2'), expired(1)]);
    const young = await pods.start();
    const again = young.open();
    await again.subscribe(wish, cursor);
    expect(resumedOf(again)).toBe('full');
    expect(namesIn(again)).toEqual(['pending t2', 'expired']);
  });

  it('come as final events alone where a pod with a shorter replay removed records that the cursor needs', async () => {
    const cut = one.open();
    await cut.subscribe(wish);
    await one.hub.publish([shown(1, 'pending', 't1')]);
    cut.connection.close();
    const removed = async (minutes: number): Promise<unknown> => {
      await commands(redisUrl!, async (client) => {
        const [seconds] = await client.time();
        await client.hset(`${prefix()}data`, 'droppedMs', (Number(seconds) - 60 * minutes) * 1000);
      });
      const again = (await pods.start()).open();
      await again.subscribe(wish, cut.events[0]!.cursor);
      return resumedOf(again);
    };
    expect(await removed(6)).toBe('full');
    expect(await removed(4)).toBe('finalized');
  });

  it('come from a pod that has just started also where the log has an equal snapshot of before, and once', async () => {
    await one.hub.publish([shown(1, 'pending', 't1')]);
    const young = await pods.start();
    const caller = young.open();
    await caller.subscribe(wish);
    await young.hub.publish([shown(1, 'pending', 't1')]);
    await young.hub.publish([shown(1, 'pending', 't1'), shown(2, 'pending', 't2')]);
    expect(namesIn(caller)).toEqual(['pending t1', 'pending t2']);
  });

  it('do not follow the end of a trace on a pod that has just started, whichever pod was late', async () => {
    pods.add(shown(8, 'finalized', 't8'));
    await Promise.all([one.follow(), other.follow()]);
    const [cut, late] = [one.open(), other.open()];
    await cut.subscribe(wish);
    await late.subscribe(wish);
    pods.add(shown(1, 'finalized', 't1'));
    await one.follow();
    await expect.poll(() => namesIn(cut)).toEqual(['finalized t1']);
    await other.hub.publish([shown(1, 'pending', 'late'), shown(2, 'pending', 't2')]);
    await one.hub.publish([shown(3, 'pending', 't3')]);
    expect(namesIn(cut)).toEqual(['finalized t1', 'pending t2', 'pending t3']);
    await expect.poll(() => namesIn(late)).toEqual(['pending late', 'pending t2', 'pending t3']);
    const { cursor } = cut.events[0]!;
    cut.connection.close();
    const young = await pods.start();
    for (const pod of [young, one]) {
      const again = pod.open();
      await again.subscribe(wish, cursor);
      expect(resumedOf(again)).toBe('full');
      expect(namesIn(again)).toEqual(['pending t2', 'pending t3']);
    }
  });

  it('wait at a pod that is behind the cursor, until it knows which traces are final', async () => {
    pods.add(shown(8, 'finalized', 't8'));
    await Promise.all([one.follow(), other.follow()]);
    const cut = one.open();
    await cut.subscribe(wish);
    await other.open().subscribe(wish);
    pods.add(shown(1, 'finalized', 't1'));
    await one.follow();
    const { cursor } = cut.events[0]!;
    cut.connection.close();
    const again = other.open();
    const done = again.subscribe(wish, cursor);
    await expect.poll(() => resumedOf(again)).toBe('full');
    await other.hub.publish([shown(1, 'pending', 'late'), shown(2, 'pending', 't2')]);
    expect(namesIn(again)).toEqual([]);
    await other.follow();
    await done;
    expect(namesIn(again)).toEqual(['pending t2']);
  });

  it('do not follow a final part of a trace that goes on, on a pod that did not see it', async () => {
    const cut = one.open();
    await cut.subscribe(wish);
    pods.add({ ...shown(1, 'finalized', 't1'), stage: 'first', isIncomplete: true });
    await one.follow();
    expect(namesIn(cut)).toEqual(['finalized t1']);
    const { cursor } = cut.events[0]!;
    cut.connection.close();
    await one.hub.publish([shown(1, 'confirmed', 't1 and more'), shown(2, 'pending', 't2')]);
    const young = await pods.start();
    const again = young.open();
    await again.subscribe(wish, cursor);
    await young.hub.publish([shown(1, 'confirmed', 't1 and even more')]);
    expect(resumedOf(again)).toBe('full');
    expect(namesIn(again)).toEqual(['pending t2']);
  });

  it('have a new epoch when Redis is emptied: cursors from before bring final events, and no event comes twice', async () => {
    const [caller, cut] = [one.open(), other.open()];
    for (const each of [caller, cut]) await each.subscribe(wish);
    await one.hub.publish([shown(1, 'pending', 't1')]);
    await expect.poll(() => namesIn(cut)).toEqual(['pending t1']);
    const before = cut.events[0]!.cursor;
    const client = new Redis(redisUrl!);
    await client.del(...(await client.keys(`ton:levels:*${pods.scope}*`)));
    client.disconnect();
    await other.hub.publish([shown(1, 'pending', 't1'), shown(2, 'pending', 't2')]);
    await one.hub.publish([shown(1, 'confirmed', 't1'), expired(2)]);
    await expect.poll(() => namesIn(cut)).toContain('expired');
    pods.add(shown(1, 'finalized', 't1'));
    await Promise.all([one.follow(), other.follow()]);
    const all = ['pending t1', 'pending t2', 'confirmed t1', 'expired', 'finalized t1'];
    await expect.poll(() => namesIn(caller)).toEqual(all);
    await expect.poll(() => namesIn(cut)).toEqual(all);
    cut.connection.close();
    const again = one.open();
    await again.subscribe(wish, before);
    expect(resumedOf(again)).toBe('finalized');
    expect(namesIn(again)).toEqual(['finalized t1']);
  });

  it('go on in each process alone while Redis does not answer, and are shared again when it does', async () => {
    const redis = await startFaultyRedis();
    if (redis === undefined) return;
    const scene = createPods(redis.url);
    try {
      const [first, second] = [await scene.start(), await scene.start()];
      const caller = first.open();
      await caller.subscribe(wish);
      await first.hub.publish([shown(1, 'pending', 't1')]);
      redis.freeze(true);
      await first.hub.publish([shown(1, 'pending', 't1'), shown(2, 'pending', 't2')]);
      expect(first.hub.levels()).toBe('away');
      const alone = caller.connection.cursor();
      scene.add(shown(1, 'finalized', 't1'));
      await Promise.all([first.follow(), second.follow()]);
      redis.freeze(false);
      await expect.poll(() => [first, second].map(({ hub }) => hub.levels())).toEqual(['shared', 'shared']);
      await second.hub.publish([shown(2, 'pending', 't2'), expired(2), shown(3, 'pending', 't3')]);
      const all = ['pending t1', 'pending t2', 'finalized t1', 'expired', 'pending t3'];
      await expect.poll(() => namesIn(caller)).toEqual(all);
      const again = second.open();
      await again.subscribe(wish, alone);
      expect(resumedOf(again)).toBe('finalized');
    } finally {
      redis.freeze(false);
      await scene.close();
      await redis.close();
    }
  });

  it('go on past records and words of another writer', async () => {
    const callers = [one.open(), other.open()];
    for (const caller of callers) await caller.subscribe(wish);
    await one.hub.publish([shown(1, 'pending', 't1')]);
    const { cursor } = callers[0]!.begun[0]!;
    await commands(redisUrl!, async (client) => {
      const [epoch] = await client.hmget(`${prefix()}data`, 'epoch');
      const head = {
        kind: 'trace',
        key: hash(2),
        names: [hash(2)],
        accounts: [a],
        finality: 'pending',
        position: null,
      };
      const number = await client.hincrby(`${prefix()}data`, 'next', 1);
      const text = JSON.stringify({ head, behind: null });
      await client.xadd(`${prefix()}log`, '*', 'n', number, 'e', epoch!, 'h', text, 'b', 'garbage');
      await client.xadd(`${prefix()}log`, '*', 'n', 'x', 'e', epoch!, 'h', 'null', 'b', '');
      await client.xadd(`${prefix()}log`, '*', 'n', 1, 'e', 7, 'h', text, 'b', '');
      await client.xadd(`${prefix()}log`, '*', 'garbage', '');
      for (const word of ['', 'null', '[null]', '[{"kind":"question","name":"1"}]', '[{"kind":"answer","name":"1"}]']) {
        await client.xadd(`${prefix()}words`, '*', 'w', word);
      }
    });
    await settle();
    await one.hub.publish([shown(3, 'pending', 't3')]);
    await settle();
    for (const caller of callers) {
      expect(caller.ended()).toBeUndefined();
      expect(namesIn(caller).filter((name) => !name.endsWith('last'))).toEqual(['pending t1', 'pending t3']);
    }
    callers[0]!.connection.close();
    const again = other.open();
    await again.subscribe(wish, cursor);
    expect(resumedOf(again)).toBe('full');
    expect(namesIn(again).filter((name) => !name.endsWith('last'))).toEqual(['pending t1', 'pending t3']);
  });

  it('go on in the shared log while many callers come to another pod at once', async () => {
    const cut = Array.from({ length: 1_000 }, () => one.open());
    for (const caller of cut) await caller.subscribe(wish);
    for (const caller of cut) caller.connection.close();
    const again = cut.map(() => other.open());
    const done = Promise.all(again.map((caller, at) => caller.subscribe(wish, cut[at]!.begun[0]!.cursor)));
    await other.hub.publish([shown(1, 'pending', 't1')]);
    await done;
    expect(again.map(resumedOf)).toContain('full');
    const moves = await other.register.getSingleMetricAsString('ton_streaming_levels_epochs_total');
    expect(moves).not.toContain('{log="process"}');
  });

  it.each(['its own pod', 'another pod'])(
    'follow a final part that is still on its way to the log, on %s',
    async (to) => {
      const shared = await openSharedLog(redisUrl!, pods.scope);
      const slow = Promise.withResolvers<void>();
      const late = await pods.start({
        shared: {
          ...shared,
          async append(record, known) {
            if (record.level.startsWith('part')) await slow.promise;
            return shared.append(record, known);
          },
        },
      });
      const cut = late.open();
      await cut.subscribe(wish);
      pods.add({ ...shown(1, 'finalized', 't1'), stage: 'first', isIncomplete: true });
      await late.follow();
      const cursor = cut.connection.cursor();
      cut.connection.close();
      const next = to === 'its own pod' ? late : other;
      const again = next.open();
      const done = again.subscribe(wish, cursor);
      await Promise.race([done, sleep(300)]);
      slow.resolve();
      await next.follow();
      await done;
      expect(resumedOf(again)).toBe('full');
      await next.hub.publish([shown(1, 'confirmed', 't1 and more'), shown(2, 'pending', 't2')]);
      expect(namesIn(again)).toEqual(['pending t2']);
    },
  );

  it('leave out what is too large for the log, and count it', async () => {
    const caller = one.open();
    await caller.subscribe(wish);
    const text = Array.from({ length: 400_000 }, () => Math.random().toString(36).slice(2)).join('');
    await one.hub.publish([
      trace(hash(1), { finality: 'pending', transactions: [transaction('large', a, { text })] }),
      shown(2, 'pending', 't2'),
    ]);
    expect(namesIn(caller)).toEqual(['pending t2']);
    const counts = await one.register.getSingleMetricAsString('ton_streaming_levels_appends_total');
    expect(counts).toContain('{result="too_large"} 1');
    expect(counts).toContain('{result="added"} 1');
  });
});
