import { setImmediate } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { createRunSlots } from '#service/emulate/run-slots.ts';

const DEADLINE_MS = 10_000;

/** A transaction of a large trace. */
const STEP_MS = 1.4;

type Sent = { readonly payer: string; readonly caller: string; readonly steps: number };

/** Runs requests that come at once on one thread, on a virtual clock. The thread serves the transactions of all runs in turn. */
async function emulateAtOnce(requests: readonly Sent[]) {
  let nowMs = 0;
  const slots = createRunSlots(() => nowMs);
  const thread: (() => void)[] = [];
  const endings: { readonly request: number; readonly end: string }[] = [];
  const deadline = new AbortController();

  async function emulate({ steps, ...bill }: Sent): Promise<string> {
    const terms = { bill, deadlineMs: DEADLINE_MS, signal: deadline.signal };
    return slots.run(terms, async (turn) => {
      for (let step = 0; step < steps; step++) {
        await turn(step * STEP_MS);
        await new Promise<void>((resolve) => void thread.push(resolve));
        deadline.signal.throwIfAborted();
      }
      return 'whole';
    });
  }

  const working = requests.map(async (sent, request) => {
    const end = await emulate(sent).catch((error: { readonly code?: string }) => error.code ?? 'deadline');
    endings.push({ request, end });
  });
  const all = Promise.all(working).then(() => true);
  for (let isOver = false; !isOver;) {
    nowMs += STEP_MS;
    if (nowMs >= DEADLINE_MS) deadline.abort(new Error('deadline'));
    thread.shift()?.();
    isOver = await Promise.race([all, setImmediate(false)]);
  }
  return endings;
}

type Payer = 'without keys' | 'each with a key';

const large = (count: number, payer: Payer): readonly Sent[] =>
  Array.from({ length: count }, (_, at) => ({
    payer: payer === 'without keys' ? 'anonymous' : `key ${at}`,
    caller: `caller ${at}`,
    steps: 256,
  }));

const wholeIn = (endings: Awaited<ReturnType<typeof emulateAtOnce>>): readonly number[] =>
  endings.filter(({ end }) => end === 'whole').map(({ request }) => request);

describe.each(['without keys', 'each with a key'] as const)(
  'large emulations that come at once, of callers %s',
  (payer) => {
    test('all end in time when a thread has the time for them', async () => {
      expect(wholeIn(await emulateAtOnce(large(24, payer)))).toHaveLength(24);
    });

    test('end in the order in which they came as long as time is left, and the others are refused', async () => {
      const endings = await emulateAtOnce(large(48, payer));
      const whole = wholeIn(endings);
      // A thread has the time for 27 of them, or for fewer beside the beginnings of all others.
      expect(whole.length).toBeGreaterThanOrEqual(18);
      expect(whole).toEqual(whole.toSorted((a, b) => a - b));
      const failed = endings.filter(({ end }) => end !== 'whole');
      expect(new Set(failed.map(({ end }) => end))).toEqual(new Set(['emulation_busy']));
    });

    test('let small emulations pass them', async () => {
      const small = { payer: 'key small', caller: 'small', steps: 6 };
      const endings = await emulateAtOnce([...large(15, payer), small]);
      expect(endings[0]).toEqual({ request: 15, end: 'whole' });
    });
  },
);

test('a run that fails while it waits for the turn of large runs leaves no turn behind', async () => {
  const slots = createRunSlots(() => 0);
  const becomeLarge = (caller: string, work: () => Promise<void>): Promise<void> => {
    const bill = { payer: 'anonymous', caller };
    const { signal } = new AbortController();
    return slots.run({ bill, deadlineMs: DEADLINE_MS, signal }, async (turn) => {
      const waiting = turn(DEADLINE_MS);
      await Promise.race([waiting, work()]);
      await work();
    });
  };
  const first = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const running = first.map(({ promise }, at) => becomeLarge(`first ${at}`, () => promise));
  await setImmediate();
  const failing = Array.from({ length: 4 }, (_, at) =>
    becomeLarge(`failing ${at}`, () => Promise.reject(new Error('no state'))),
  );
  await Promise.allSettled(failing);
  for (const { resolve } of first) resolve();
  await Promise.all(running);
  expect([slots.running, slots.paused]).toEqual([0, 0]);
  await becomeLarge('last', () => Promise.resolve());
});
