import { beforeEach, afterEach, describe, expect, inject, it, vi } from 'vitest';

import type { SharedLog } from '#service/streaming/levels/shared-log.ts';
import { skipLoudly } from '#test/support/skips.ts';
import {
  commands,
  createPods,
  namesIn,
  openSharedLog,
  resumedOf,
  shown,
  wish,
  type PodsUnderTest,
  type PodUnderTest,
} from './pods-under-test.ts';

const redisUrl = inject('redisUrl');

const missing = skipLoudly(redisUrl === undefined, { what: 'lost records of levels', why: 'there is no Redis' });

describe.skipIf(missing)('connections below finalized whose records Redis lost', () => {
  let pods: PodsUnderTest;
  let one: PodUnderTest;

  beforeEach(async () => {
    pods = createPods(redisUrl!);
    one = await pods.start();
  });
  afterEach(() => pods.close());

  const prefix = (): string => `ton:levels:2:{${pods.scope}}:`;

  it('end with 1013, and their cursors bring final events', async () => {
    const other = await pods.start();
    const [below, final] = [other.open(), other.open()];
    await below.subscribe(wish);
    await final.subscribe({ ...wish, minFinality: 'finalized' });
    await one.hub.publish([shown(1, 'pending', 't1')]);
    await expect.poll(() => namesIn(below)).toEqual(['pending t1']);
    await commands(redisUrl!, (client) => client.hincrby(`${prefix()}data`, 'next', 1));
    await one.hub.publish([shown(2, 'pending', 't2')]);
    await expect.poll(() => below.ended()?.code).toBe(1013);
    expect(final.ended()).toBeUndefined();
    for (const pod of [one, other]) await expect.poll(() => pod.hub.levels()).toBe('shared');
    const again = other.open();
    await again.subscribe(wish, below.ended()!.cursor!);
    expect(resumedOf(again)).toBe('finalized');
    await other.hub.publish([shown(3, 'pending', 't3')]);
    await expect.poll(() => namesIn(again)).toEqual(['pending t3']);
    expect(namesIn(below)).toEqual(['pending t1']);
  });

  it('end with 1013 also where a caller came back before the pod knew the rest of the log', async () => {
    const log = await openSharedLog(redisUrl!, pods.scope);
    const found = Promise.withResolvers<void>();
    const join = vi.fn<SharedLog['join']>(async (known) => {
      if (join.mock.calls.length > 1) await found.promise;
      return log.join(known);
    });
    const slow = await pods.start({ shared: { ...log, join } });
    const [cut, former] = [slow.open(), slow.open()];
    for (const caller of [cut, former]) await caller.subscribe(wish);
    await one.hub.publish([shown(1, 'pending', 't1')]);
    for (const caller of [cut, former]) await expect.poll(() => namesIn(caller)).toEqual(['pending t1']);
    const { cursor } = cut.events[0]!;
    cut.connection.close();
    await commands(redisUrl!, (client) => client.hincrby(`${prefix()}data`, 'next', 1));
    await one.hub.publish([shown(2, 'pending', 't2')]);
    await expect.poll(() => join.mock.calls.length).toBe(2);
    const again = slow.open();
    await again.subscribe(wish, cursor);
    found.resolve();
    await expect.poll(() => [former, again].map((caller) => caller.ended()?.code)).toEqual([1013, 1013]);
    const last = slow.open();
    await last.subscribe(wish, again.ended()!.cursor!);
    expect(resumedOf(last)).toBe('finalized');
  });
});
