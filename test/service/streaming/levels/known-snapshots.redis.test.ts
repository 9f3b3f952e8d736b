import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';

import type { TraceSnapshot } from '#service/streaming/changes.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { account, hash, trace, transaction, type Caller } from '../hub/hub-under-test.ts';
import { createPods, startLinkedPod, type PodsUnderTest, type PodUnderTest } from './pods-under-test.ts';

const redisUrl = inject('redisUrl');

const wish = { accounts: new Set([account('A')]), minFinality: 'pending' as const };

function shown(finality: TraceSnapshot['finality'], name: string, over: Partial<TraceSnapshot> = {}): TraceSnapshot {
  return trace(hash(1), { finality, transactions: [transaction(name, account('A'))], ...over });
}

const levelsOf = ({ events }: Caller): unknown[] => events.map(({ finality, reason }) => finality ?? reason);

async function resumeAt(pod: PodUnderTest, cursor: string): Promise<Caller> {
  const again = pod.open();
  await again.subscribe(wish, cursor);
  expect(again.begun[0]!.resumed).toBe('full');
  return again;
}

const missing = skipLoudly(redisUrl === undefined, { what: 'snapshots of several pods', why: 'there is no Redis' });

// A pod starts after the log has a snapshot, and makes an equal snapshot itself: the record is older than the connections of the pod.
describe.skipIf(missing)('a snapshot that the log had before a connection began, and that its pod made again', () => {
  let pods: PodsUnderTest;
  let old: PodUnderTest;
  let young: PodUnderTest;
  let cut: Caller;

  beforeEach(async () => {
    pods = createPods(redisUrl!);
    old = await pods.start();
    await old.open().subscribe(wish);
    await old.hub.publish([shown('confirmed', 't1')]);
    young = await pods.start();
    cut = young.open();
    await cut.subscribe(wish);
    await young.hub.publish([shown('confirmed', 't1')]);
    cut.connection.close();
  });
  afterEach(() => pods.close());

  it.each(['the same pod', 'another pod'])(
    'is not followed by a lower level after a resume at %s, and is withdrawn there',
    async (to) => {
      expect(levelsOf(cut)).toEqual(['confirmed']);
      const again = (to === 'the same pod' ? young : old).open();
      await again.subscribe(wish, cut.events[0]!.cursor);
      expect(again.begun[0]!.resumed).toBe('full');
      await old.hub.publish([shown('pending', 't1 of a pod that lags')]);
      await old.hub.publish([{ kind: 'invalidation', key: hash(1), reason: 'replaced' }]);
      await expect.poll(() => levelsOf(again)).toEqual(['replaced']);
    },
  );
});

describe.skipIf(missing)('a final part of a trace that a resume brings from the index', () => {
  it('is followed by no lower level after a second resume', async () => {
    const pods = createPods(redisUrl!);
    try {
      const old = await pods.start();
      await old.open().subscribe(wish);
      const other = old.open();
      await other.subscribe({ ...wish, accounts: new Set([account('B')]) });
      pods.add(shown('finalized', 'part', { stage: 'first', isIncomplete: true }));
      const cursor = other.connection.cursor();
      await old.follow();
      await old.hub.publish([trace(hash(2), { finality: 'pending', transactions: [transaction('t2', account('A'))] })]);
      const young = await pods.start();
      const cut = young.open();
      await cut.subscribe(wish, cursor);
      expect(cut.begun[0]!.resumed).toBe('finalized');
      expect(levelsOf(cut)).toEqual(['finalized']);
      cut.connection.close();
      const again = young.open();
      await again.subscribe(wish, cut.connection.cursor());
      expect(again.begun[0]!.resumed).toBe('full');
      await young.hub.publish([shown('pending', 'late')]);
      await young.hub.publish([
        trace(hash(3), { finality: 'pending', transactions: [transaction('t3', account('A'))] }),
      ]);
      expect(again.events.map((event) => (event['transactions'] as { hash: string }[])[0]!.hash)).toEqual(['t3']);
    } finally {
      await pods.close();
    }
  });
});

describe.skipIf(missing)('the end of a trace that a caller was shown', () => {
  let pods: PodsUnderTest;
  let first: PodUnderTest;
  let cut: Caller;

  beforeEach(async () => {
    pods = createPods(redisUrl!);
    pods.add(trace(hash(9), { transactions: [transaction('t9', account('B'))] }));
    first = await pods.start();
    cut = first.open();
    await cut.subscribe(wish);
  });
  afterEach(() => pods.close());

  /** @returns cursor of the caller behind the end */
  async function showEnd(): Promise<string> {
    pods.add(shown('finalized', 't1'));
    await first.follow();
    expect(levelsOf(cut).at(-1)).toBe('finalized');
    const cursor = cut.connection.cursor();
    cut.connection.close();
    return cursor;
  }

  it('is followed by no snapshot of before after a resume at a pod that saw the end and then lost Redis', async () => {
    const other = await startLinkedPod(redisUrl!, pods);
    await other.open().subscribe(wish);
    const cursor = await showEnd();
    await other.hub.publish([shown('confirmed', 't1')]);
    await other.follow();
    await other.setAway(true);
    await other.setAway(false);
    expect(levelsOf(await resumeAt(other, cursor))).toEqual([]);
  });

  it('is followed by no withdrawal of a pod that lags after a resume at a pod that is young', async () => {
    const other = await pods.start();
    await other.open().subscribe(wish);
    await other.hub.publish([shown('confirmed', 't1')]);
    await expect.poll(() => levelsOf(cut)).toEqual(['confirmed']);
    const cursor = await showEnd();
    const young = await pods.start();
    const again = await resumeAt(young, cursor);
    await other.hub.publish([{ kind: 'invalidation', key: hash(1), reason: 'replaced' }]);
    const records = async (): Promise<string> => young.register.getSingleMetricAsString('ton_streaming_levels_records');
    await expect.poll(records).toContain('ton_streaming_levels_records 2');
    // A subscription begins after the record that connections are given now.
    await young.open().subscribe(wish);
    expect(levelsOf(again)).toEqual([]);
  });
});
