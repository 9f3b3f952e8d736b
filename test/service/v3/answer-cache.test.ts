import { setImmediate as turn } from 'node:timers/promises';

import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';

import { RawJson, writePaced } from '#service/contract/json-stream.ts';
import { list, object, scalar } from '#service/contract/shape.ts';
import { createTimeSlice } from '#service/runtime/time-slice.ts';
import { StoreError } from '#service/store/errors.ts';
import { createCacheMetrics } from '#service/v3/metrics.ts';
import { isNewestPage } from '#service/v3/request/newest-page.ts';
import { defineV3Operation, type V3Context } from '#service/v3/request/operation.ts';
import { cursorPaging, int32 } from '#service/v3/request/parameters.ts';
import { v3QuerySource } from '#service/v3/request/query-source.ts';
import type { RequestSettings } from '#service/v3/request/settings.ts';
import { createV3 } from '#service/v3/v3.ts';

const settings: RequestSettings = { timeoutMs: 3000, addressBook: true, metadata: true, actionsVersion: undefined };

type Asked = {
  readonly query?: string;
  readonly settings?: Partial<RequestSettings>;
  readonly signal?: AbortSignal;
};

/** An operation over an index whose state a test sets. The answer has the number of its making. */
function createScene(letters = 1) {
  let state: string | undefined = 'a';
  let nowMs = 0;
  let made = 0;
  let stateReads = 0;
  let hold: Promise<unknown> | undefined;
  let holdState: Promise<unknown> | undefined;
  const register = new Registry();
  const store = {
    async read<R extends object>(_sql: string, _values?: readonly unknown[], mode?: { readonly statement?: string }) {
      if (mode?.statement !== 'index_state') return [];
      stateReads++;
      const seen = state;
      await holdState;
      if (seen === undefined) throw new StoreError('query_failed', 'no such function');
      return [{ state: seen }] as unknown as R[];
    },
  };
  const { operations } = createV3(
    [
      defineV3Operation({
        name: 'newest',
        tag: 'tests',
        summary: 'Has the number of its making.',
        parameters: { workchain: int32('workchain'), ...cursorPaging },
        result: object({ made: scalar<number>({ type: 'number' }), texts: list(scalar<string>({ type: 'string' })) }),
        sameForBlock: isNewestPage,
        handle: async ({ limit }, { signal, onNextPage }: V3Context) => {
          const number = ++made;
          await hold;
          signal.throwIfAborted();
          onNextPage(`cursor of ${number}`);
          return { made: number, texts: Array.from({ length: limit }, () => '.'.repeat(letters)) };
        },
      }),
    ],
    { store, nowMs: () => nowMs, register, cacheMetrics: createCacheMetrics(register) },
  );

  /** Number of the making, and the next cursor. */
  async function ask({ query = 'limit=1', settings: own, signal = new AbortController().signal }: Asked = {}) {
    let cursor: string | undefined;
    const { value } = await operations[0]!.run(v3QuerySource(new URLSearchParams(query)), {
      deadlineMs: Infinity,
      signal,
      settings: { ...settings, ...own },
      onNextPage: (next) => void (cursor = next),
    });
    const text = await writePaced(value, createTimeSlice(signal));
    const answer = JSON.parse(typeof text === 'string' ? text : Buffer.concat(text).toString()) as { made: number };
    return { made: answer.made, cursor };
  }
  const metric = async (pattern: RegExp): Promise<number> => Number(pattern.exec(await register.metrics())?.[1] ?? 0);
  return {
    ask,
    madeOf: async (asked?: Asked) => (await ask(asked)).made,
    metric,
    heldBytes: () => metric(/^ton_v3_cache_bytes\{kind="answers"\} (\d+)$/m),
    stateReads: () => stateReads,
    set: (next: string | undefined) => void (state = next),
    wait: (ms: number) => void (nowMs += ms),
    holdMaking: (until: Promise<unknown> | undefined) => void (hold = until),
    holdState: (until: Promise<unknown> | undefined) => void (holdState = until),
  };
}

/** Enough for a read of the state and the start of a making. */
async function turns(): Promise<void> {
  for (let at = 0; at < 5; at++) await turn();
}

describe('an answer that is the same for a block', () => {
  it('is made once for a state of the index, with its cursor', async () => {
    const { ask, set, metric } = createScene();
    const [first, second] = [1, 2].map((number) => ({ made: number, cursor: `cursor of ${number}` }));
    expect([await ask(), await ask(), await ask()]).toEqual([first, first, first]);
    set('b');
    expect([await ask(), await ask()]).toEqual([second, second]);
    expect(await metric(/^ton_v3_cache_reads_total\{kind="answers",outcome="cached"\} (\d+)$/m)).toBe(3);
    expect(await metric(/^ton_v3_cache_reads_total\{kind="answers",outcome="made"\} (\d+)$/m)).toBe(2);
  });

  it('is made once for many callers at the same time', async () => {
    const { madeOf, set, stateReads } = createScene();
    const many = (): Promise<number[]> => Promise.all(Array.from({ length: 50 }, () => madeOf()));
    expect(new Set(await many())).toEqual(new Set([1]));
    set('b');
    expect(new Set(await many())).toEqual(new Set([2]));
    expect(stateReads()).toBe(2);
  });

  it('is never from before a commit that preceded its request', async () => {
    const { madeOf, set, holdState } = createScene();
    await madeOf();
    const reading = Promise.withResolvers<void>();
    holdState(reading.promise);
    const early = madeOf();
    await turns();
    set('b');
    // The read that runs saw the old state.
    const late = madeOf();
    holdState(undefined);
    reading.resolve();
    expect([await early, await late]).toEqual([1, 2]);
  });

  it.each([
    ['another page size', { query: 'limit=2' }],
    ['no address book', { settings: { addressBook: false } }],
    ['no metadata', { settings: { metadata: false } }],
    ['an actions version', { settings: { actionsVersion: 'v1' } }],
    ['another actions version', { settings: { actionsVersion: 'v2' } }],
  ])('is its own for %s', async (_what, asked) => {
    const { madeOf } = createScene();
    await madeOf();
    await madeOf({ settings: { actionsVersion: 'v3' } });
    expect([await madeOf(asked), await madeOf(asked), await madeOf()]).toEqual([3, 3, 1]);
    expect(await madeOf({ query: 'limit=1&sort=DESC&offset=0&unknown=1' })).toBe(1);
  });

  it.each(['limit=101', 'limit=1&offset=1', 'limit=1&sort=asc', 'limit=1&workchain=0', 'limit=1&cursor=abc'])(
    'is made for each request of other rows: %s',
    async (query) => {
      const { madeOf, stateReads } = createScene();
      expect([await madeOf({ query }), await madeOf({ query })]).toEqual([1, 2]);
      expect(stateReads()).toBe(0);
    },
  );

  it('is made for each request with a time limit of its own', async () => {
    const { madeOf } = createScene();
    await madeOf();
    const asked = { settings: { timeoutMs: 2999 } };
    expect([await madeOf(asked), await madeOf(asked), await madeOf()]).toEqual([2, 3, 1]);
  });

  it('is made for each request while the state of the index is unknown', async () => {
    const { madeOf, set } = createScene();
    await madeOf();
    set(undefined);
    expect([await madeOf(), await madeOf()]).toEqual([2, 3]);
    set('a');
    expect(await madeOf()).toBe(1);
  });

  it('is made again after ten seconds', async () => {
    const { madeOf, wait } = createScene();
    await madeOf();
    wait(9999);
    expect(await madeOf()).toBe(1);
    wait(1);
    expect(await madeOf()).toBe(2);
  });

  it('is made by others when the caller that makes it leaves', async () => {
    const { madeOf, holdMaking } = createScene();
    const [leaving, making] = [new AbortController(), Promise.withResolvers<void>()];
    holdMaking(making.promise);
    const first = madeOf({ signal: leaving.signal });
    await turns();
    const second = madeOf();
    await turns();
    // The making itself never ends.
    holdMaking(undefined);
    leaving.abort(new Error('the caller went away'));
    await expect(first).rejects.toThrow('the caller went away');
    expect([await second, await madeOf()]).toEqual([2, 2]);
  });

  it('is made once for all others when the caller that makes it leaves', async () => {
    const { madeOf, holdMaking } = createScene();
    const [leaving, making] = [new AbortController(), Promise.withResolvers<void>()];
    holdMaking(making.promise);
    const first = madeOf({ signal: leaving.signal });
    await turns();
    const others = Promise.all(Array.from({ length: 20 }, () => madeOf()));
    await turns();
    holdMaking(undefined);
    leaving.abort(new Error('the caller went away'));
    await expect(first).rejects.toThrow('the caller went away');
    expect(new Set(await others)).toEqual(new Set([2]));
  });

  it('of an old state does not replace a newer one', async () => {
    const { madeOf, holdMaking, set } = createScene();
    const slow = Promise.withResolvers<void>();
    holdMaking(slow.promise);
    const old = madeOf();
    await turns();
    set('b');
    holdMaking(undefined);
    expect(await madeOf()).toBe(2);
    slow.resolve();
    expect([await old, await madeOf()]).toEqual([1, 2]);
  });

  it('takes a bounded part of the memory, however many there are and however large', async () => {
    const { madeOf, heldBytes } = createScene(10_000);
    for (let limit = 1; limit <= 100; limit++) await madeOf({ query: `limit=${limit}` });
    const bytes = await heldBytes();
    expect(bytes).toBeGreaterThan(2 ** 22);
    expect(bytes).toBeLessThanOrEqual(2 ** 23);

    const small = createScene();
    for (let at = 0; at < 3000; at++) await small.madeOf({ settings: { actionsVersion: `v${at}` } });
    expect(await small.heldBytes()).toBeLessThanOrEqual(2 ** 23);
    expect(await small.madeOf({ settings: { actionsVersion: 'v2999' } })).toBe(3000);
    expect(await small.madeOf({ settings: { actionsVersion: 'v0' } })).toBe(3001);
  });

  it('is not cached under parameters of thousands of letters, nor when it is larger than a megabyte', async () => {
    const { madeOf, heldBytes } = createScene();
    const long = { settings: { actionsVersion: 'v'.repeat(1000) } };
    expect([await madeOf(long), await madeOf(long)]).toEqual([1, 2]);
    const large = createScene(20_000);
    const asked = { query: 'limit=100' };
    expect([await large.madeOf(asked), await large.madeOf(asked)]).toEqual([1, 2]);
    expect([await heldBytes(), await large.heldBytes()]).toEqual([0, 0]);
  });
});

it('an answer that is JSON already is written without a copy', async () => {
  const timeSlice = createTimeSlice(undefined);
  const bytes = Buffer.from('{"a":1}');
  expect(await writePaced(new RawJson(['{"a":1}']), timeSlice)).toBe('{"a":1}');
  expect(await writePaced(new RawJson([bytes]), timeSlice)).toEqual([bytes]);
});
