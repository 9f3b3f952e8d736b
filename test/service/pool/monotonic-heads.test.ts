import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { createMonotonicHeads, isAtFront, isRefuted, scopeFloors } from '#service/pool/monotonic-heads.ts';
import type { MonotonicHeads, SharedHeads } from '#service/pool/monotonic-heads.ts';
import type { Head } from '#service/pool/head.ts';

const headOf = (seqno: number, utime = 0): Head => ({ block: { seqno }, utime }) as Head;

const contextOf = (caller: string, pending: Promise<void>[]) => ({
  deadlineMs: 10_000,
  signal: new AbortController().signal,
  caller,
  observe: (event: { kind: string; done?: Promise<void> }) => void (event.done && pending.push(event.done)),
});

/** Shares floors in memory, like a Redis that always answers. Each pod receives a new head at once. */
function shareInMemory() {
  const floors = new Map<string, number>();
  const state = { newest: 0 as number | undefined, isAway: false, reads: 0, writes: 0 };
  const shared: SharedHeads = {
    newest: () => (state.isAway ? undefined : state.newest),
    announce: async (seqno) => void (state.newest = Math.max(state.newest ?? 0, seqno)),
    async read(caller) {
      state.reads += 1;
      return state.isAway ? undefined : floors.get(caller);
    },
    async raise(caller, seqno) {
      state.writes += 1;
      if (state.isAway) return false;
      floors.set(caller, Math.max(floors.get(caller) ?? 0, seqno));
      return true;
    },
    replace: (caller, seqno) => void floors.set(caller, seqno),
  };
  return { shared, state };
}

/** Opens a pod with the given served head and newest lite server. */
function openPod(shared: SharedHeads | undefined, served: number, ahead?: number) {
  const pod = { served, ahead, waited: 0, nowMs: 0, utime: 0, unixMs: 1_800_000_000_000 };
  const floors: MonotonicHeads = createMonotonicHeads(
    { callersMax: 100, refreshMs: 30_000, waitMs: 1_000 },
    {
      head: () => (pod.served === 0 ? undefined : headOf(pod.served, pod.utime)),
      proved: () => headOf(pod.served, pod.utime),
      whenServed: async () => void (pod.waited += 1),
      findAhead: async (seqno) => (pod.ahead !== undefined && pod.ahead >= seqno ? headOf(pod.ahead) : undefined),
      shared,
      now: () => pod.nowMs,
      unixMs: () => pod.unixMs,
    },
  );
  const ask = async (caller: string): Promise<number | string> => {
    const pending: Promise<void>[] = [];
    try {
      const { block } = await floors.headFor(contextOf(caller, pending));
      await Promise.all(pending);
      return block.seqno;
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  /** Names a block for a caller, who is answered at it. */
  const name = async (caller: string, seqno: number): Promise<void> => {
    const pending: Promise<void>[] = [];
    floors.saw(seqno, contextOf(caller, pending));
    await Promise.all(pending);
  };
  return { pod, ask, name };
}

describe('a caller that named a block above the served head', () => {
  const unixMs = 1_800_000_000_000;
  const startPod = (shared: SharedHeads | undefined, ahead?: number) => {
    const opened = openPod(shared, 100, ahead);
    Object.assign(opened.pod, { utime: unixMs / 1000 - 2, unixMs });
    return opened;
  };

  test.each(['alone', 'one of several'])(
    'a caller sees no older block than the one it named at the same pod, that is %s',
    async (company) => {
      const { pod, ask, name } = startPod(company === 'alone' ? undefined : shareInMemory().shared);
      await name('a', 102);
      expect(await ask('a')).toBe('behind');
      expect(await ask('b')).toBe(100);
      pod.ahead = 103;
      expect(await ask('a')).toBe(103);
      // The block of the last answer is a floor too.
      Object.assign(pod, { served: 102, ahead: undefined });
      expect(await ask('a')).toBe('behind');
      pod.served = 103;
      expect(await ask('a')).toBe(103);
    },
  );

  test('a caller sees no older block than the one it named at other pods, though none of them serves it yet', async () => {
    const { shared } = shareInMemory();
    const [first, other] = [startPod(shared), startPod(shared)];
    await shared.announce(100);
    await first.name('a', 102);
    expect(await other.ask('a')).toBe('behind');
    expect(await other.ask('b')).toBe(100);
    other.pod.ahead = 102;
    expect(await other.ask('a')).toBe(102);
  });

  test('a named block is no floor if it is below the served one, or impossible yet on any network', async () => {
    const { shared, state } = shareInMemory();
    for (const { ask, name } of [startPod(shared), startPod(undefined)]) {
      for (const seqno of [1, 99, 100, 1_000_000]) await name('a', seqno);
      expect(await ask('a')).toBe(100);
    }
    expect(state.newest).toBe(0);
  });
});

test('floors of two kinds of answers are independent', async () => {
  const { shared } = shareInMemory();
  const scoped = scopeFloors(shared, 'consensus');
  await scoped.raise('a', 12);
  expect([await shared.read('a'), await scoped.read('a')]).toEqual([undefined, 12]);
  scoped.replace('a', 11);
  expect([await shared.read('a'), await scoped.read('a')]).toEqual([undefined, 11]);
});

describe('a floor that no pod can have written', () => {
  const unixMs = 1_800_000_000_000;
  const startPod = () => {
    const { shared } = shareInMemory();
    const { pod, ask } = openPod(shared, 100);
    Object.assign(pod, { utime: unixMs / 1000 - 2, unixMs });
    return { shared, pod, ask };
  };

  test('an impossible floor is ignored at once while the network cannot have so many blocks, and is overwritten', async () => {
    const { shared, ask } = startPod();
    await shared.announce(1_000_000);
    await shared.raise('a', 1_000_000);
    expect(await ask('a')).toBe(100);
    expect(await shared.read('a')).toBe(100);
  });

  test('an invented floor holds while it could be true, and at most until a block made later is below it', async () => {
    const { shared, pod, ask } = startPod();
    await shared.announce(120);
    await shared.raise('a', 120);
    expect(await ask('a')).toBe('behind');
    // Three seconds and blocks later, other clocks may still be ahead of this one.
    Object.assign(pod, { served: 103, utime: unixMs / 1000 + 1, unixMs: unixMs + 3_000 });
    expect(await ask('a')).toBe('behind');
    Object.assign(pod, { served: 110, utime: unixMs / 1000 + 5, unixMs: unixMs + 8_000 });
    expect(await ask('a')).toBe(110);
    expect(await ask('a')).toBe(110);
  });

  test('a true floor stays valid: a pod whose lite servers lag respects it', async () => {
    const { shared, pod, ask } = startPod();
    await shared.announce(120);
    await shared.raise('a', 120);
    for (let second = 0; second < 60; second += 1) {
      // Late blocks have the time at which they were made, when 120 did not exist.
      Object.assign(pod, {
        served: 100 + Math.floor(second / 4),
        utime: unixMs / 1000 - 2,
        unixMs: unixMs + second * 1_000,
      });
      expect(await ask('a')).toBe('behind');
    }
    pod.served = 120;
    expect(await ask('a')).toBe(120);
  });

  test.each([
    { seqno: 100, toldAfterMs: 0, refuted: false },
    { seqno: 125, toldAfterMs: 0, refuted: false },
    { seqno: 126, toldAfterMs: 0, refuted: true },
    { seqno: 175, toldAfterMs: 10_000, refuted: false },
    { seqno: 176, toldAfterMs: 10_000, refuted: true },
    { seqno: 101, toldAfterMs: -5_000, refuted: true },
    { seqno: 100, toldAfterMs: -60_000, refuted: false },
  ])(
    'a floor is $refuted for seqno $seqno reported $toldAfterMs ms after block 100 was made',
    ({ seqno, toldAfterMs, refuted }) => {
      expect(isRefuted(seqno, unixMs + toldAfterMs, headOf(100, unixMs / 1000))).toBe(refuted);
    },
  );
});

describe('a caller', () => {
  test('a caller at the front pod is answered at the served head, and no floor is read', async () => {
    const { shared, state } = shareInMemory();
    const { ask } = openPod(shared, 10);
    await shared.announce(10);
    expect(await ask('a')).toBe(10);
    expect(state.reads).toBe(0);
  });

  test('a caller that has seen nothing newer is answered at a pod that is behind', async () => {
    const { shared } = shareInMemory();
    await shared.announce(12);
    expect(await openPod(shared, 10).ask('a')).toBe(10);
  });

  test('a caller that has seen a newer block waits, then is answered at a lite server that has it, else refused', async () => {
    const { shared } = shareInMemory();
    await shared.announce(12);
    expect(await openPod(shared, 12).ask('a')).toBe(12);
    const behind = openPod(shared, 10, 13);
    expect(await behind.ask('a')).toBe(13);
    expect(behind.pod.waited).toBe(1);
    behind.pod.ahead = 11;
    expect(await behind.ask('a')).toBe('behind');
    expect(await behind.ask('b')).toBe(10);
  });

  test("a caller's floor is written once a block, and again before it expires", async () => {
    const { shared, state } = shareInMemory();
    const { pod, ask } = openPod(shared, 10);
    await shared.announce(10);
    for (let turn = 0; turn < 5; turn += 1) await ask('a');
    expect(state.writes).toBe(1);
    pod.nowMs = 30_000;
    await ask('a');
    expect(state.writes).toBe(2);
  });

  test('a floor in this pod stays valid while the other pods are unavailable', async () => {
    const { shared, state } = shareInMemory();
    await shared.announce(12);
    await openPod(shared, 12).ask('a');
    const behind = openPod(shared, 10, 12);
    expect(await behind.ask('a')).toBe(12);
    state.isAway = true;
    expect(await behind.ask('a')).toBe(12);
    expect(await behind.ask('b')).toBe(10);
  });

  test('a caller without a name, or at a single pod, gets the served head, and no caller gets one before the first', async () => {
    const { shared } = shareInMemory();
    expect(await openPod(undefined, 10).ask('a')).toBe(10);
    expect(await openPod(shared, 0).ask('a')).toBe('no_lite_server');
  });
});

test('only a pod that is known to have the newest block is at the front', () => {
  expect([isAtFront(10, 10), isAtFront(10, 11), isAtFront(11, 10), isAtFront(undefined, 10)]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test('a caller who alternates between pods that move at their own pace never sees time run backwards', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('move' as const), pod: fc.nat(2), blocks: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ kind: fc.constant('ask' as const), pod: fc.nat(2), caller: fc.constantFrom('a', 'b', 'c') }),
  );
  let answered = 0;
  let held = 0;
  // Violations: an older block than before, or a refusal of a caller who has seen nothing newer.
  const wrong: string[] = [];
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      const { shared } = shareInMemory();
      const pods = [openPod(shared, 1), openPod(shared, 1), openPod(shared, 1)];
      const seen = new Map<string, number>();
      for (const one of steps) {
        const { pod, ask } = pods[one.pod]!;
        if (one.kind === 'move') {
          pod.served += one.blocks;
          await shared.announce(pod.served);
          continue;
        }
        const before = seen.get(one.caller) ?? 0;
        const seqno = await ask(one.caller);
        answered += 1;
        if (typeof seqno === 'number') {
          if (seqno < before) wrong.push(`${one.caller} saw ${before}, then ${seqno}`);
          seen.set(one.caller, seqno);
        } else {
          held += 1;
          if (before <= pod.served) wrong.push(`${one.caller} saw ${before} and was refused at ${pod.served}`);
        }
      }
    }),
    { seed: 5, numRuns: 200 },
  );
  expect(wrong).toEqual([]);
  expect(answered).toBeGreaterThan(1_000);
  expect(held).toBeGreaterThan(50);
});
