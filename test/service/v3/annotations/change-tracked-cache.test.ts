import { describe, expect, it } from 'vitest';

import {
  createChangeTrackedCache,
  type CacheView,
  type Reading,
} from '#service/v3/annotations/change-tracked-cache.ts';
import { createDraw, oneOf, type Draw } from '#test/support/draw.ts';

const KEYS = Array.from({ length: 12 }, (_, at) => `key ${at}`);

/** What happened in a database, in its order: the number of a transaction is taken when it begins to write. */
type Happening =
  | { readonly what: 'begun'; readonly xid: bigint }
  | { readonly what: 'committed'; readonly xid: bigint; readonly keys: readonly string[] };

/** A database, and others that follow it and may be behind. Values are how often a key was changed. */
function createDatabase(draw: Draw) {
  const log: Happening[] = [];
  const running = new Map<bigint, readonly string[]>();
  let next = 100n;

  return {
    write(): void {
      if (running.size < 4 && draw(2) === 0) {
        running.set(next, [oneOf(draw, KEYS), oneOf(draw, KEYS)]);
        log.push({ what: 'begun', xid: next++ });
      } else if (running.size > 0) {
        const [xid, keys] = oneOf(draw, [...running]);
        running.delete(xid);
        log.push({ what: 'committed', xid, keys });
      }
    },
    /** What a query sees. @param behind how much of what happened its server does not know yet */
    read(since: bigint | undefined, changesMax: number, behind = 0) {
      const seen = log.slice(0, Math.max(0, log.length - behind));
      const begun = new Set(seen.filter(({ what }) => what === 'begun').map(({ xid }) => xid));
      const committed = seen.filter((one) => one.what === 'committed');
      for (const { xid } of committed) begun.delete(xid);
      const nextXid = seen.reduce((xid, one) => (one.xid >= xid ? one.xid + 1n : xid), 100n);
      const settled = [...begun].reduce((least, xid) => (xid < least ? xid : least), nextXid);
      const changed = committed.filter(({ xid }) => since !== undefined && xid >= since).flatMap(({ keys }) => keys);
      const values = new Map(
        KEYS.map((key) => [key, committed.flatMap(({ keys }) => keys).filter((one) => one === key).length]),
      );
      const reading: Reading = { settled, changed: changed.length > changesMax ? undefined : new Set(changed) };
      return { reading, values };
    },
  };
}

/** A call in progress: what it took from memory, what its query saw, and whether that was learnt. */
type Call = {
  readonly view: CacheView<number>;
  readonly taken: ReadonlyMap<string, number | undefined>;
  seen?: ReturnType<ReturnType<typeof createDatabase>['read']>;
  isLearnt?: boolean;
};

/** Calls and transactions in any order, each call in four steps. @param told what each key is said to be, and what the query of its call would say */
function live(
  draw: Draw,
  { steps, behindMax, changesMax }: { readonly steps: number; readonly behindMax: number; readonly changesMax: number },
  told: (kept: number, now: number) => void,
): void {
  const database = createDatabase(draw);
  let nowMs = 0;
  const memory = createChangeTrackedCache<number>(
    { bytesMax: 16, weigh: () => 1, cachedMsMax: 1000 },
    { clock: () => nowMs },
  );
  const calls = new Set<Call>();
  const advance = (call: Call): void => {
    const { view, taken, seen } = call;
    if (seen === undefined) call.seen = database.read(view.since, changesMax, draw(behindMax + 1));
    else if (call.isLearnt !== true) {
      call.isLearnt = true;
      view.learn(seen.reading);
      const { changed } = seen.reading;
      const fresh = [...taken].filter(([key]) => changed?.has(key) === false);
      for (const [key, kept] of fresh) if (kept !== undefined) told(kept, seen.values.get(key)!);
    } else {
      for (const [key, kept] of taken) if (kept === undefined) view.keep(seen.reading, key, seen.values.get(key)!);
      calls.delete(call);
    }
  };
  for (let step = 0; step < steps; step++) {
    nowMs += draw(3);
    const dice = draw(10);
    if (dice < 4) database.write();
    else if (dice < 6 && calls.size < 5) {
      const view = memory.open();
      const wanted = Array.from({ length: 4 }, () => oneOf(draw, KEYS));
      calls.add({ view, taken: new Map(wanted.map((key) => [key, view.get(key)])) });
    } else if (calls.size > 0) advance(oneOf(draw, [...calls]));
  }
}

describe('cached facts of accounts', () => {
  it.each([1, 2, 3, 4, 5])('is what the query of the same call would say (seed %i)', (seed) => {
    let count = 0;
    live(createDraw(seed), { steps: 4000, behindMax: 0, changesMax: 8 }, (kept, now) => {
      expect(kept).toBe(now);
      count++;
    });
    expect(count).toBeGreaterThan(150);
  });

  it.each([1, 2, 3, 4, 5])('is not older than that where servers are behind one another (seed %i)', (seed) => {
    let count = 0;
    live(createDraw(seed), { steps: 4000, behindMax: 6, changesMax: 8 }, (kept, now) => {
      expect(kept).toBeGreaterThanOrEqual(now);
      count++;
    });
    expect(count).toBeGreaterThan(30);
  });

  it('is forgotten after a while, whatever is read in between', () => {
    let nowMs = 0;
    const memory = createChangeTrackedCache<number>(
      { bytesMax: 100, weigh: () => 10, cachedMsMax: 1000 },
      { clock: () => nowMs },
    );
    const reading = { settled: 5n, changed: new Set<string>() };
    const first = memory.open();
    first.learn(reading);
    first.keep(reading, 'key', 1);
    nowMs = 999;
    expect([memory.open().get('key'), memory.open().since, memory.bytes()]).toEqual([1, 5n, 10]);
    nowMs = 1000;
    expect([memory.open().get('key'), memory.open().since, memory.bytes()]).toEqual([undefined, undefined, 0]);
    first.keep(reading, 'key', 1);
    expect(memory.open().get('key')).toBeUndefined();
  });
});
