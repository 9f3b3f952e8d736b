import { createFairSlots, type SlotTerms } from './fair-slots.ts';

/** Bounds the emulations in progress, and the large emulations among them. */
export type RunSlots = {
  /** Emulations in progress. */
  readonly running: number;
  /** Requests that wait before their first transaction. */
  readonly waiting: number;
  /** Large emulations in progress that wait for the end of others. */
  readonly paused: number;
  /** Runs the work in a slot. Rejects as the work and `FairSlots.take` do. */
  run<T>(terms: SlotTerms, work: (turn: Turn) => Promise<T>): Promise<T>;
};

/** Waits for the turn of a run before its next transaction. A run that becomes large has its turn from then to its end. @param usedMs thread time so far */
export type Turn = (usedMs: number) => Promise<void>;

/**
 * Emulations in progress. Each takes at most 20 MB: 640 MB for the largest answers, some 30 MB for usual traces.
 * Usual runs wait for reads of lite servers, 50 to 200 ms each, more than for threads.
 */
const RUNS_AT_ONCE = 32;

/**
 * Large runs that go on at a time. Threads and the event loop serve all runs in turn, so many large runs would all end late together.
 * Four runs of the greatest thread time, 2 s each, end within a request's 10 s on one thread.
 */
const LARGE_AT_ONCE = 4;

/** Transactions after which a run is large: some 50 ms of all threads. A jetton transfer has 6, an exchange of tokens some 20. */
const LARGE_TRANSACTIONS = 32;

/** Thread time in milliseconds after which a run is large. */
const LARGE_MS = 100;

/** @param now milliseconds of a clock that never goes back */
export function createRunSlots(now: () => number): RunSlots {
  const all = createFairSlots(RUNS_AT_ONCE, now);
  const large = createFairSlots(LARGE_AT_ONCE, now);
  return {
    get running() {
      return all.taken;
    },
    get waiting() {
      return all.waiting;
    },
    get paused() {
      return large.waiting;
    },
    async run(terms, work) {
      const frees = [await all.take(terms)];
      const ending = new AbortController();
      /** Ends with the work: the work may fail while it waits for its turn. */
      const waiting = { ...terms, signal: AbortSignal.any([terms.signal, ending.signal]) };
      let transactions = 0;
      const turn: Turn = async (usedMs) => {
        const isLarge = transactions++ >= LARGE_TRANSACTIONS || usedMs > LARGE_MS;
        if (isLarge && frees.length === 1) frees.push(await large.take(waiting));
      };
      try {
        return await work(turn);
      } finally {
        ending.abort();
        for (const free of frees) free();
      }
    },
  };
}
