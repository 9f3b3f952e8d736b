import type { Bill } from '#service/tvm/bill.ts';
import { createFairQueue } from '#service/tvm/fair-queue.ts';
import { createDraw } from '#test/support/draw.ts';

/** Returns a random number from 0 up to 1. */
type Draw = () => number;

/** Load that sends the next run as soon as one ends, after a pause. */
type Closed = {
  readonly bill: Bill;
  readonly costMs: number;
  readonly concurrency: number;
  readonly pauseMs?: number;
  /** Part of `costMs` by which costs vary, less and more. */
  readonly spread?: number;
};

/** Load that sends a run each second, whether earlier runs have ended or not. */
type Open = { readonly bill: Bill; readonly costMs: number; readonly offsetMs: number };

type Scene = {
  readonly threads: number;
  readonly seconds: number;
  readonly closed?: readonly Closed[];
  readonly open?: readonly Open[];
  readonly draw?: Draw;
};

type Job = {
  readonly bill: Bill;
  readonly costMs: number;
  readonly sentMs: number;
  readonly done: (() => void) | undefined;
};

/** Milliseconds that a caller waits. */
const DEADLINE_MS = 10_000;

/** Milliseconds between queries of the queue, as in the service. */
const LOOK_MS = 10;

/** The queue's bound in the service. */
const LENGTH_MAX = 512;

/** Runs the queue over simulated threads on a virtual clock. */
export function simulate({ threads, seconds, closed = [], open = [], draw = () => 0.5 }: Scene): {
  /** Times from sending to the end, by payer. */
  readonly waitsMs: ReadonlyMap<string, readonly number[]>;
  readonly usedMs: ReadonlyMap<string, number>;
} {
  const events = createEvents();
  const queue = createFairQueue<Job>({ lengthMax: LENGTH_MAX, threads }, events.now);
  const waitsMs = new Map<string, number[]>();
  const usedMs = new Map<string, number>();
  let idle = threads;
  let looks = false;

  const dispatch = (): void => {
    for (; idle > 0; idle--) {
      const run = queue.start();
      if (run === undefined) {
        if (queue.length > 0 && !looks) events.after(LOOK_MS, look);
        looks ||= queue.length > 0;
        return;
      }
      events.after(run.entry.costMs, () => {
        const { bill, costMs, sentMs, done } = run.entry;
        run.end(costMs);
        idle++;
        usedMs.set(bill.payer, (usedMs.get(bill.payer) ?? 0) + costMs);
        const waits = waitsMs.get(bill.payer) ?? [];
        waitsMs.set(bill.payer, waits);
        waits.push(events.now() - sentMs);
        done?.();
        dispatch();
      });
    }
  };
  const look = (): void => {
    looks = false;
    dispatch();
  };
  const send = (bill: Bill, costMs: number, done?: () => void): void => {
    const job: Job = { bill, costMs, sentMs: events.now(), done };
    queue.push(bill, job);
    events.after(DEADLINE_MS, () => queue.remove(bill, job));
    dispatch();
  };
  for (const { bill, costMs, concurrency, pauseMs = 0, spread = 0 } of closed) {
    const next = (): void => {
      const pause = pauseMs * 2 * draw();
      events.after(pause, () => send(bill, costMs * (1 - spread + 2 * spread * draw()), next));
    };
    for (let slot = 0; slot < concurrency; slot++) next();
  }
  for (const { bill, costMs, offsetMs } of open) {
    for (let second = 0; second < seconds; second++) {
      events.after(offsetMs + second * 1000, () => send(bill, costMs));
    }
  }
  events.runUntil(seconds * 1000);
  return { waitsMs, usedMs };
}

/** Returns the median wait of an honest key next to anonymous addresses that loop at one request a second each. */
export function medianBeside(scene: {
  readonly threads: number;
  readonly honestMs: number;
  readonly concurrency: number;
  readonly loopMs: number;
  readonly spread: number;
  readonly addresses: number;
  readonly seed: number;
}): number {
  const drawn = createDraw(scene.seed | 1);
  const draw = (): number => drawn(1_000_000) / 1_000_000;
  const honest = {
    bill: { payer: 'key a', caller: 'key a' },
    costMs: scene.honestMs,
    concurrency: scene.concurrency,
  };
  const { waitsMs } = simulate({
    threads: scene.threads,
    seconds: 30,
    closed: [{ ...honest, pauseMs: 20, spread: scene.spread }],
    open: Array.from({ length: scene.addresses }, (_, at) => ({
      bill: { payer: 'anonymous', caller: `address ${at}` },
      costMs: scene.loopMs,
      offsetMs: draw() * 1000,
    })),
    draw,
  });
  const waits = waitsMs.get('key a')!.toSorted((a, b) => a - b);
  return waits[Math.floor(waits.length / 2)]!;
}

/** Creates a list of events in the order of their times. Events of one time stay in the order of insertion. */
function createEvents() {
  let nowMs = 0;
  const events: { readonly atMs: number; readonly act: () => void }[] = [];

  /** Returns the index of the first later event. */
  function placeOf(atMs: number): number {
    let [low, high] = [0, events.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (events[middle]!.atMs <= atMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    now: () => nowMs,
    after(ms: number, act: () => void): void {
      events.splice(placeOf(nowMs + ms), 0, { atMs: nowMs + ms, act });
    },
    runUntil(endMs: number): void {
      for (let event = events.shift(); event !== undefined && event.atMs <= endMs; event = events.shift()) {
        nowMs = event.atMs;
        event.act();
      }
    },
  };
}
