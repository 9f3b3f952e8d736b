import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import {
  claimInterpretations,
  countInterpretations,
  queueInterpretations,
  reviewOlder,
  type ClaimedBlocks,
  type InterpretationChanges,
} from '#service/store/interpretations.ts';
import type { Store } from '#service/store/store.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';

const hour = 3_600_000;

let made: StoreUnderTest;
let store: Store;

beforeAll(async () => {
  made = await createMigratedStore(import.meta.filename);
  store = made.store;
});

afterAll(() => made.close());

beforeEach(() => store.transaction(({ query }) => query('TRUNCATE interpretations')));

const queue = (...seqnos: number[]): Promise<void> =>
  store.transaction((session) => queueInterpretations(session, seqnos));
const claim = (options: { blocksMax?: number; claimMs?: number; version?: number } = {}) =>
  claimInterpretations(store, { version: 1, blocksMax: 2, claimMs: hour, ...options });
const finish = (claimed: ClaimedBlocks | undefined): Promise<void> =>
  store.transaction((session) => claimed!.finish(session));
const review = (changes: InterpretationChanges, blocksMax = 3) => reviewOlder(store, { changes, blocksMax });
const left = (version = 1) => countInterpretations(store, version);

describe('blocks whose meaning is to be told', () => {
  it('are claimed newest first, each by one worker', async () => {
    await queue(1, 2, 3, 4, 5);
    const claims = await Promise.all([claim(), claim(), claim(), claim()]);
    const seqnos = claims.flatMap((one) => one?.seqnos ?? []);
    expect(new Set(seqnos)).toEqual(new Set([1, 2, 3, 4, 5]));
    expect(seqnos).toHaveLength(5);
    expect(claims.find((one) => one?.seqnos.includes(5))?.seqnos).toEqual([5, 4]);
  });

  it('are done when they are finished, with the transaction that finishes them', async () => {
    await queue(1, 2);
    const claimed = await claim();
    const undone = store.transaction(async (session) => {
      await claimed!.finish(session);
      throw new Error('the rest failed');
    });
    await expect(undone).rejects.toThrow('the rest failed');
    expect(await left()).toEqual({ todo: 2, older: 0, newest: 2 });
    await finish(claimed);
    expect(await left()).toEqual({ todo: 0, older: 0, newest: null });
    await expect(finish(claimed)).rejects.toMatchObject({ code: 'claim_lost' });
  });

  it('are claimed by another when nobody was heard of for the time they were held, and no more his who held them', async () => {
    await queue(1);
    const late = await claim({ claimMs: 0 });
    const next = await claim();
    expect(next?.seqnos).toEqual([1]);
    await expect(finish(late)).rejects.toMatchObject({ code: 'claim_lost' });
    await expect(late!.heartbeat()).rejects.toMatchObject({ code: 'claim_lost' });
    await late!.release();
    expect(await claim()).toBeUndefined();
    await next!.heartbeat();
    await finish(next);
  });

  it('may be claimed at once when they are given back', async () => {
    await queue(1);
    await (await claim())!.release();
    expect((await claim())?.seqnos).toEqual([1]);
  });

  it('are to be told again when a trace comes to end in them, also while somebody is at it', async () => {
    await queue(1, 2);
    const claimed = await claim();
    await queue(1);
    await expect(finish(claimed)).rejects.toMatchObject({ code: 'claim_lost' });
    const again = await claim();
    expect(again?.seqnos).toEqual([1]);
    await finish(again);
    await queue(1);
    expect(await left()).toMatchObject({ todo: 2 });
  });

  it('that an older version told are queued again some at a time, and left to a newer one', async () => {
    await queue(1, 2, 3, 4);
    await finish(await claim({ blocksMax: 4 }));
    expect(await left(2)).toEqual({ todo: 0, older: 4, newest: null });
    expect(await review({ newest: 1, whole: 1, partial: [] })).toEqual({ queued: 0, passed: 0 });
    expect(await review({ newest: 2, whole: 2, partial: [] })).toEqual({ queued: 3, passed: 0 });
    expect(await left(2)).toEqual({ todo: 3, older: 1, newest: 4 });
    const claimed = await claim({ version: 2, blocksMax: 3 });
    expect(claimed?.seqnos).toEqual([4, 3, 2]);
    await finish(claimed);
    await queue(4);
    expect(await claim({ version: 1 })).toBeUndefined();
    expect((await claim({ version: 2 }))?.seqnos).toEqual([4]);
  });
});
