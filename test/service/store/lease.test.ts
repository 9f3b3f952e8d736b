import { once } from 'node:events';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { claimIndex, readProgress } from '#service/store/indexer-state.ts';
import { acquireHeadLease, type HeadLease } from '#service/store/lease.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';

describe('the lease of the head', () => {
  let tested: StoreUnderTest;

  beforeEach(async () => {
    tested = await createMigratedStore(import.meta.filename);
    await claimIndex(tested.store, { rootHash: Buffer.alloc(32, 1), fileHash: Buffer.alloc(32, 2), startSeqno: 1 });
  });

  afterEach(() => tested.close());

  const acquire = async (holder: string): Promise<HeadLease> => {
    const lease = await acquireHeadLease(tested.store, holder);
    if (lease === undefined) throw new Error('the lease is taken');
    return lease;
  };

  const advance = (lease: HeadLease, from: number, to: number): Promise<void> =>
    tested.store.transaction((session) => lease.advance(session, from, to));

  /** Ends the sessions that hold advisory locks, as a lost network would, and waits until they have. */
  const cutHolders = (): Promise<unknown> =>
    tested.store.transaction(({ query }) =>
      query(`SELECT pg_terminate_backend(pid, 10000) FROM pg_locks
        WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`),
    );

  it('is one process’s at a time, and the next one’s when it is given back', async () => {
    const contenders = await Promise.all(['a', 'b', 'c', 'd'].map((name) => acquireHeadLease(tested.another(), name)));
    const [winner, ...others] = contenders.filter((lease) => lease !== undefined);
    expect(others).toEqual([]);
    await winner?.release();
    const next = await acquire('e');
    expect(next.epoch).toBe((winner?.epoch ?? 0n) + 1n);
    await next.release();
  });

  it('moves the head on block by block, and refuses holes and repetitions', async () => {
    const lease = await acquire('a');
    expect(await lease.moveTo(1)).toBe(1);
    await advance(lease, 1, 1);
    await advance(lease, 2, 9);
    await expect(advance(lease, 9, 9)).rejects.toMatchObject({ code: 'out_of_order', data: { found: 9 } });
    await expect(advance(lease, 11, 11)).rejects.toMatchObject({ code: 'out_of_order' });
    expect(await readProgress(tested.store)).toMatchObject({ headSeqno: 9, missingBlocks: 0 });
    await lease.release();
  });

  it('leaves what the head passes over to those who write the past', async () => {
    const lease = await acquire('a');
    expect(await lease.moveTo(12_001)).toBe(12_001);
    expect(await readProgress(tested.store)).toMatchObject({ headSeqno: 12_000, missingBlocks: 12_000 });
    expect(await lease.moveTo(500)).toBe(12_001);
    await lease.release();
  });

  it('tells its holder when its session is gone, and lets another take over', async () => {
    const lease = await acquire('a');
    const lost = once(lease.signal, 'abort');
    await cutHolders();
    await lost;
    expect(lease.signal.reason).toMatchObject({ code: 'lease_lost' });
    await (await acquire('b')).release();
  });

  it('lets a holder that has not noticed its loss commit nothing', async () => {
    const old = await acquire('a');
    await advance(old, 1, 1).catch(() => old.moveTo(1));
    await cutHolders();
    const fresh = await acquire('b');
    await expect(advance(old, 1, 1)).rejects.toMatchObject({ code: 'lease_lost' });
    await expect(old.moveTo(50)).rejects.toMatchObject({ code: 'lease_lost' });
    await advance(fresh, 1, 1);
    await fresh.release();
  });

  it('waits with a new epoch for a commit that is in progress under the old one', async () => {
    const old = await acquire('a');
    await old.moveTo(1);
    const order: string[] = [];
    let taken: Promise<HeadLease> | undefined;
    await tested.store.transaction(async (session) => {
      await old.advance(session, 1, 1);
      await cutHolders();
      taken = acquire('b').then((lease) => {
        order.push('taken');
        return lease;
      });
      // Until the new holder waits for our row.
      const waits = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      while ((await tested.store.read(waits)).length === 0) order.length = 0;
      order.push('committed');
    });
    const fresh = await taken;
    expect(order).toEqual(['committed', 'taken']);
    if (fresh !== undefined) await advance(fresh, 2, 2);
    await fresh?.release();
  });
});
