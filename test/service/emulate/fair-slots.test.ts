import { setImmediate } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { createFairSlots, type FairSlots, type SlotTerms } from '#service/emulate/fair-slots.ts';
import type { EmulateError } from '#service/emulate/request/errors.ts';

const SLOTS = 32;
const { signal } = new AbortController();
const anonymous = (caller: string) => ({ payer: 'anonymous', caller });

const termsOf = (caller: string, of = signal): SlotTerms => ({
  bill: anonymous(caller),
  deadlineMs: Infinity,
  signal: of,
});

/** A request gets its slot `leftMs` before its end, after `waitedMs`. Earlier work took as long as the wait. */
async function takeAfter(waitedMs: number, leftMs: number): Promise<string> {
  let nowMs = 0;
  const slots = createFairSlots(2, () => nowMs);
  const terms = { bill: anonymous('a'), signal };
  const free = await slots.take({ ...terms, deadlineMs: Infinity });
  const taking = slots.take({ ...terms, deadlineMs: waitedMs + leftMs });
  nowMs += waitedMs;
  free();
  return taking.then(
    () => 'begins',
    ({ code }: EmulateError) => code,
  );
}

/** Runs the work in a slot. */
async function runIn<T>(slots: FairSlots, terms: SlotTerms, work: () => Promise<T>): Promise<T> {
  const free = await slots.take(terms);
  try {
    return await work();
  } finally {
    free();
  }
}

/** Slots with work whose start and end the test sees. Each run takes `tookMs` by the clock of the slots. */
function slotsUnderTest(tookMs = 500) {
  let nowMs = 0;
  const slots = createFairSlots(SLOTS, () => nowMs);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const begin = (payer: string, caller = payer): Promise<void> =>
    runIn(slots, { bill: { payer, caller }, deadlineMs: Infinity, signal }, () => {
      begun.push(caller);
      return new Promise<void>((resolve) => void ends.push(resolve));
    });
  return {
    slots,
    begun,
    begin,
    endFirst: async (): Promise<void> => {
      nowMs += tookMs;
      ends.shift()!();
      await setImmediate();
    },
  };
}

/** A caller without a key, whose first run has ended, wants twice the slots that there are. */
async function flood({ begin, endFirst }: ReturnType<typeof slotsUnderTest>): Promise<void> {
  void begin('anonymous', 'greedy');
  await setImmediate();
  await endFirst();
  for (let run = 0; run < 2 * SLOTS; run++) void begin('anonymous', 'greedy');
  await setImmediate();
}

describe('slots of the emulation', () => {
  test('a caller with a key gets a slot at once beside all the runs that a caller without a key may have', async () => {
    const under = slotsUnderTest();
    await flood(under);
    const running = under.slots.taken;
    expect([running, under.slots.waiting]).toEqual([SLOTS - 1, SLOTS + 1]);
    void under.begin('key honest');
    await setImmediate();
    expect([under.begun.at(-1), under.slots.taken]).toEqual(['key honest', running + 1]);
  });

  test('a caller without a key gets the next free slot before further runs of another such caller', async () => {
    const under = slotsUnderTest();
    await flood(under);
    void under.begin('anonymous', 'honest');
    await setImmediate();
    expect(under.begun).not.toContain('honest');
    await under.endFirst();
    expect(under.begun.at(-1)).toBe('honest');
  });

  test('a caller whose first run goes on has half of the slots', async () => {
    const under = slotsUnderTest();
    for (let run = 0; run < SLOTS; run++) void under.begin('key new');
    await setImmediate();
    expect([under.slots.taken, under.slots.waiting]).toEqual([SLOTS / 2, SLOTS / 2]);
  });

  test('work that fails frees its slot, and work whose caller leaves while it waits never begins', async () => {
    const slots: FairSlots = createFairSlots(2, () => performance.now());
    const first = Promise.withResolvers<void>();
    const failing = runIn(slots, termsOf('a'), () => first.promise);
    const leaving = new AbortController();
    const waiting = runIn(slots, termsOf('a', leaving.signal), () => Promise.resolve('never'));
    expect([slots.taken, slots.waiting]).toEqual([1, 1]);
    leaving.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    first.reject(new Error('failed'));
    await expect(failing).rejects.toThrow('failed');
    expect([slots.taken, slots.waiting]).toEqual([0, 0]);
    const late = termsOf('b', leaving.signal);
    await expect(runIn(slots, late, () => Promise.resolve('never'))).rejects.toThrow('gone');
    await expect(runIn(slots, termsOf('b'), () => Promise.resolve('free'))).resolves.toBe('free');
  });

  describe('come too late for a request', () => {
    test('when it has less time left than usual work takes', async () => {
      expect(await takeAfter(6000, 4000)).toBe('emulation_busy');
    });

    test('but not when it has more time left than it waited', async () => {
      expect(await takeAfter(4000, 6000)).toBe('begins');
    });
  });
});
