import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { readProgress, claimIndex } from '#service/store/indexer-state.ts';
import { addRanges, claimRange, queueGaps, RANGE_BLOCKS, type ClaimedRange } from '#service/store/ranges.ts';
import type { Store } from '#service/store/store.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';

/** Longer than any test. */
const claimMs = 600_000;

describe('ranges of the past', () => {
  let tested: StoreUnderTest;
  let store: Store;

  beforeEach(async () => {
    tested = await createMigratedStore(import.meta.filename);
    ({ store } = tested);
    await claimIndex(store, { rootHash: Buffer.alloc(32, 1), fileHash: Buffer.alloc(32, 2), startSeqno: 1 });
  });

  afterEach(() => tested.close());

  const queue = (from: number, to: number): Promise<void> =>
    store.transaction((session) => addRanges(session, from, to));
  const advance = (range: ClaimedRange, from: number, to: number): Promise<void> =>
    store.transaction((session) => range.advance(session, from, to));
  const claim = async (worker = 'a', ms = claimMs): Promise<ClaimedRange> => {
    const range = await claimRange(store, worker, ms);
    if (range === undefined) throw new Error('there is no range');
    return range;
  };

  it('are given out newest first, each once, to many at the same time', async () => {
    const count = 20;
    await queue(1, count * RANGE_BLOCKS - 17);
    const workers = Array.from({ length: count + 5 }, (_, index) =>
      claimRange(tested.another({ poolSize: 1 }), `w${index}`, claimMs),
    );
    const claimed = (await Promise.all(workers)).filter((range) => range !== undefined);
    const starts = Array.from({ length: count }, (_, index) => index * RANGE_BLOCKS + 1);
    expect(claimed.map(({ next }) => next).toSorted((one, other) => one - other)).toEqual(starts);
    expect(claimed.find(({ next }) => next === starts.at(-1))?.to).toBe(count * RANGE_BLOCKS - 17);
    expect(await readProgress(store)).toMatchObject({ missingBlocks: count * RANGE_BLOCKS - 17, claimedRanges: count });
  });

  it('begin with the newest', async () => {
    await queue(1, 3 * RANGE_BLOCKS);
    expect((await claim()).next).toBe(2 * RANGE_BLOCKS + 1);
  });

  it('go on where they were given back, and end', async () => {
    await queue(1, 10);
    const first = await claim('a');
    await advance(first, 1, 4);
    await first.release();
    const second = await claim('b');
    expect(second).toMatchObject({ next: 5, to: 10 });
    await advance(second, 5, 10);
    expect(await claimRange(store, 'c', claimMs)).toBeUndefined();
    expect(await readProgress(store)).toMatchObject({ missingBlocks: 0, claimedRanges: 0 });
  });

  it('are another’s when their holder is not heard of, who then commits nothing', async () => {
    await queue(1, 10);
    const lost = await claim('a', 0);
    const taken = await claim('b');
    await expect(advance(lost, 1, 4)).rejects.toMatchObject({ code: 'range_lost' });
    await expect(lost.heartbeat()).rejects.toMatchObject({ code: 'range_lost' });
    await lost.release();
    expect(await claimRange(store, 'c', claimMs)).toBeUndefined();
    await advance(taken, 1, 4);
  });

  it('are held on by a heartbeat', async () => {
    await queue(1, 10);
    const held = await claim('a');
    await store.transaction(({ query }) => query('UPDATE backfill_ranges SET claimed_until = now()'));
    await held.heartbeat();
    expect(await claimRange(store, 'b', claimMs)).toBeUndefined();
  });

  it('refuse batches with a hole or a repetition before them', async () => {
    await queue(1, 10);
    const range = await claim();
    await expect(advance(range, 2, 3)).rejects.toMatchObject({ code: 'out_of_order', data: { found: 0 } });
    await advance(range, 1, 3);
    await expect(advance(range, 1, 3)).rejects.toMatchObject({ code: 'out_of_order', data: { found: 3 } });
  });

  it('take back what a failed transaction advanced', async () => {
    await queue(1, 10);
    const range = await claim();
    const failure = new Error('no rows');
    const failing = store.transaction(async (session) => {
      await range.advance(session, 1, 3);
      throw failure;
    });
    await expect(failing).rejects.toBe(failure);
    await advance(range, 1, 3);
  });

  it('are made of what is missing, and of nothing that is on its way', async () => {
    await insertMasterchainBlocks(store, [1, 2, 3, 6, 7, 10, 20]);
    await queue(10, 14);
    expect(await queueGaps(store, 1, 20)).toEqual([
      { from: 4, to: 5 },
      { from: 8, to: 9 },
      { from: 15, to: 19 },
    ]);
    expect(await queueGaps(store, 1, 20)).toEqual([]);
    expect(await queueGaps(store, 1, 3)).toEqual([]);
    expect(await readProgress(store)).toMatchObject({ missingBlocks: 14 });
  });
});

/** Only what a gap is found by; the rest is zero. */
async function insertMasterchainBlocks(store: Store, seqnos: readonly number[]): Promise<void> {
  await store.transaction(async ({ query }) => {
    const columns = await query<{ name: string; type: string }>(
      `SELECT attname::text AS name, atttypid::regtype::text AS type FROM pg_attribute WHERE attrelid = 'blocks'::regclass AND attnum > 0 AND attnotnull`,
    );
    const fixed: Readonly<Record<string, string>> = {
      workchain: '-1',
      shard: '-9223372036854775808',
      seqno: 's',
      mc_seqno: 's',
    };
    const zeros: Readonly<Record<string, string>> = { bytea: `'\\x'`, boolean: 'false' };
    const values = columns.map(({ name, type }) => fixed[name] ?? zeros[type] ?? '0');
    await query(
      `INSERT INTO blocks (${columns.map(({ name }) => name).join(', ')}) SELECT ${values.join(', ')} FROM unnest($1::integer[]) AS s`,
      [seqnos],
    );
  });
}
