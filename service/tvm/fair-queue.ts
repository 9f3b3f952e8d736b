import type { Bill } from './bill.ts';

/**
 * Bounded queue of runs that shares thread time among payers. The algorithm is start-time fair queueing for several servers, SFQ(D) (Goyal, Vin,
 * Cheng 1996; Jin, Chase, Kaur 2004). A run cannot be interrupted and its cost is known only at its end. Two rules are added for that.
 * - A start charges the expected length, and the end settles the difference. A debt stays with the payer while the payer is idle.
 * - Payers with long runs leave a thread free for short runs.
 */
export type FairQueue<T> = {
  /** Number of waiting entries. */
  readonly length: number;
  /**
   * Adds an entry.
   * @returns the entry without room: this one, or one of the payer with the most entries. Undefined while there is room.
   */
  push(bill: Bill, entry: T): T | undefined;
  /**
   * Starts the next run. Returns undefined when no run waits, or no run may have a thread now. The result can change with time alone.
   * @param ready threads that have started, busy or idle; default all. A long run must not take the only thread while others start.
   */
  start(ready?: number): Run<T> | undefined;
  /** Removes a waiting entry; returns false for an entry that does not wait. */
  remove(bill: Bill, entry: T): boolean;
  /** Removes all waiting entries. */
  clear(): T[];
};

/** Run with a thread. */
export type Run<T> = {
  readonly entry: T;
  /** Expected length of the payer's runs, in milliseconds. */
  readonly expectedMs: number;
  /** Charges the run. Further calls do nothing. @param usedMs thread time that the run took */
  end(usedMs: number): void;
};

export type FairQueueOptions = {
  /** Most waiting entries of all payers. */
  readonly lengthMax: number;
  /** Number of runs at a time; with 1, long runs block short runs. */
  readonly threads: number;
  /** Runs at a time of a payer that has not ended a run; default 1. */
  readonly firstRunsMax?: number;
};

/** Expected length of a payer's first run: a large get-method, cold. */
const NEWCOMER_MS = 10;

/** Least ratio between the lengths of long runs and short runs. */
const LONG_RATIO = 2;

/** Runs up to this length are never long, because a caller hardly notices the wait. */
const SHORT_MS = 5;

/** Free threads for short payers: this many times the threads that they use, and one more. */
const HEADROOM = 2;

/** Half-life of the measured length of a payer's runs. */
const HALF_LIFE_MS = 10_000;

/** Milliseconds after a payer's last run until it stops counting as a competitor. */
const ACTIVE_MS = 60_000;

/** Most idle payers, and most idle callers of a payer, whose debts stay. Each takes 100 bytes, and each start scans all payers. */
const IDLE_MAX = 256;

/** Payer, or caller of a payer. `tagMs` is the virtual start time of its next run. */
type Flow = { tagMs: number };

type Caller<T> = Flow & { readonly entries: T[]; running: number };

type Payer<T> = Flow & {
  readonly callers: Map<string, Caller<T>>;
  /** Virtual time of the payer's callers. */
  virtualMs: number;
  waiting: number;
  /** Start times of the runs in progress. */
  readonly starts: Set<{ readonly atMs: number }>;
  /** Thread time of ended runs and the sum of its squares, both halved each `HALF_LIFE_MS`. */
  usedMs: number;
  usedSquaredMs: number;
  usedAtMs: number;
};

/** @param now milliseconds of a clock that never goes back */
export function createFairQueue<T>(
  { lengthMax, threads, firstRunsMax = 1 }: FairQueueOptions,
  now: () => number,
): FairQueue<T> {
  /** Payers in the order of their last runs, the oldest first. */
  const payers = new Map<string, Payer<T>>();
  let virtualMs = 0;
  let length = 0;

  function payerOf(name: string): Payer<T> {
    const payer = payers.get(name) ?? {
      tagMs: virtualMs,
      callers: new Map(),
      virtualMs: 0,
      waiting: 0,
      starts: new Set(),
      usedMs: 0,
      usedSquaredMs: 0,
      usedAtMs: now(),
    };
    payers.delete(name);
    payers.set(name, payer);
    forgetIdle(payers, (one) => one.waiting === 0 && one.starts.size === 0);
    return payer;
  }

  function callerOf(payer: Payer<T>, name: string): Caller<T> {
    const caller = payer.callers.get(name) ?? { tagMs: payer.virtualMs, entries: [], running: 0 };
    payer.callers.delete(name);
    payer.callers.set(name, caller);
    forgetIdle(payer.callers, (one) => one.entries.length === 0 && one.running === 0);
    return caller;
  }

  /** Removes the newest entry of the longest line. A caller that floods the queue therefore loses its own entries only. */
  function dropLast(): T {
    const payer = longest(payers, ({ waiting }) => waiting);
    const caller = longest(payer.callers, ({ entries }) => entries.length);
    payer.waiting--;
    length--;
    return caller.entries.pop()!;
  }

  /** Returns the payer with the least virtual time among payers that may have a thread. Among equals it is the payer with the shortest runs. */
  function next(nowMs: number, ready: number): Payer<T> | undefined {
    const waiting = [...payers.values()].filter((payer) => payer.waiting > 0);
    if (waiting.length === 0) return undefined;
    const mayStart = longRule([...payers.values()], { threads, ready, firstRunsMax }, nowMs);
    // Payers blocked by their own long runs must not save up time. The order among them stays.
    const heldBack = waiting.filter((payer) => !mayStart(payer));
    const savedMs = virtualMs - Math.min(...heldBack.map(({ tagMs }) => tagMs));
    for (const payer of heldBack) payer.tagMs += Math.max(0, savedMs);
    const allowed = waiting.filter(mayStart);
    return allowed.toSorted((a, b) => a.tagMs - b.tagMs || lengthMs(a, nowMs) - lengthMs(b, nowMs))[0];
  }

  function run(payer: Payer<T>, caller: Caller<T>, startedMs: number): Run<T> {
    const entry = caller.entries.shift()!;
    const expectedMs = lengthMs(payer, startedMs);
    const started = { atMs: startedMs };
    payer.waiting--;
    length--;
    virtualMs = Math.max(virtualMs, payer.tagMs);
    payer.virtualMs = Math.max(payer.virtualMs, caller.tagMs);
    payer.tagMs += expectedMs;
    caller.tagMs += expectedMs;
    payer.starts.add(started);
    caller.running++;
    return {
      entry,
      expectedMs,
      end(usedMs) {
        if (!payer.starts.delete(started)) return;
        caller.running--;
        payer.tagMs += usedMs - expectedMs;
        caller.tagMs += usedMs - expectedMs;
        remember(payer, usedMs, now());
      },
    };
  }

  return {
    get length() {
      return length;
    },
    push(bill, entry) {
      const payer = payerOf(bill.payer);
      const caller = callerOf(payer, bill.caller);
      if (payer.waiting === 0) payer.tagMs = Math.max(payer.tagMs, virtualMs);
      if (caller.entries.length === 0) caller.tagMs = Math.max(caller.tagMs, payer.virtualMs);
      caller.entries.push(entry);
      payer.waiting++;
      length++;
      return length > lengthMax ? dropLast() : undefined;
    },
    start(ready = threads) {
      const nowMs = now();
      const payer = next(nowMs, ready);
      if (payer === undefined) return undefined;
      const waiting = [...payer.callers.values()].filter(({ entries }) => entries.length > 0);
      const caller = waiting.reduce((least, one) => (one.tagMs < least.tagMs ? one : least));
      return run(payer, caller, nowMs);
    },
    remove(bill, entry) {
      const payer = payers.get(bill.payer);
      const caller = payer?.callers.get(bill.caller);
      const at = caller?.entries.indexOf(entry) ?? -1;
      if (at < 0) return false;
      caller!.entries.splice(at, 1);
      payer!.waiting--;
      length--;
      return true;
    },
    clear() {
      const callers = [...payers.values()].flatMap((payer) => [...payer.callers.values()]);
      for (const payer of payers.values()) payer.waiting = 0;
      length = 0;
      return callers.flatMap(({ entries }) => entries.splice(0));
    },
  };
}

/**
 * Returns the length of the run that a newcomer meets: the mean, weighted by the time that a run takes. Runs in progress count with their time so
 * far.
 * @returns milliseconds
 */
function lengthMs<T>({ usedMs, usedSquaredMs, starts }: Payer<T>, nowMs: number): number {
  let [time, squares] = [usedMs, usedSquaredMs];
  for (const { atMs } of starts) {
    time += nowMs - atMs;
    squares += (nowMs - atMs) ** 2;
  }
  return time === 0 ? NEWCOMER_MS : squares / time;
}

function remember<T>(payer: Payer<T>, ranMs: number, nowMs: number): void {
  const left = halved(nowMs - payer.usedAtMs);
  payer.usedMs = payer.usedMs * left + ranMs;
  payer.usedSquaredMs = payer.usedSquaredMs * left + ranMs ** 2;
  payer.usedAtMs = nowMs;
}

/**
 * Returns the rule for threads of long payers. Long payers have the longest runs, down to the first payer with runs at most half as long. Long payers
 * leave threads free for all others. The number is `HEADROOM` times the threads that others use, or all threads beyond the share of the long payers.
 * It is at least one. A payer that has not ended a run has `firstRunsMax` threads.
 */
function longRule<T>(
  payers: Payer<T>[],
  { threads, ready, firstRunsMax }: { readonly threads: number; readonly ready: number; readonly firstRunsMax: number },
  nowMs: number,
): (payer: Payer<T>) => boolean {
  const active = payers.filter(
    ({ usedAtMs, waiting, starts }) => waiting > 0 || starts.size > 0 || nowMs - usedAtMs < ACTIVE_MS,
  );
  const lengths = new Map(active.map((payer) => [payer, lengthMs(payer, nowMs)]));
  const longMs = shortestLong([...lengths.values()]);
  const long = active.filter((payer) => lengths.get(payer)! >= longMs);
  const short = active.filter((payer) => lengths.get(payer)! < longMs);
  const running = long.reduce((sum, { starts }) => sum + starts.size, 0);
  const used = short.reduce((sum, payer) => sum + threadsUsed(payer, nowMs), 0);
  const share = Math.max(1, Math.floor((threads * long.length) / active.length));
  const longMax = Math.max(share, threads - 1 - Math.floor(HEADROOM * used));
  const room = threads === 1 ? 1 : Math.min(ready - 1, threads - 1, longMax);
  return (payer) => {
    if (payer.usedMs === 0 && payer.starts.size >= firstRunsMax) return false;
    return lengths.get(payer)! < longMs || running < room;
  };
}

/**
 * Returns the shortest length that is far longer than all other lengths; infinite if none is. The next payer is expected to have runs of
 * `NEWCOMER_MS`.
 */
function shortestLong(lengths: readonly number[]): number {
  const falling = [...lengths, Math.min(NEWCOMER_MS, ...lengths)].toSorted((a, b) => b - a);
  const long = falling.find((length, at) => at + 1 < falling.length && falling[at + 1]! * LONG_RATIO <= length);
  return Math.max(SHORT_MS, long ?? Infinity);
}

/** Returns the average number of threads that a payer used in the last `HALF_LIFE_MS`. */
function threadsUsed<T>({ usedMs, usedAtMs }: Payer<T>, nowMs: number): number {
  return ((usedMs * Math.LN2) / HALF_LIFE_MS) * halved(nowMs - usedAtMs);
}

/** Returns the part of 1 that remains after this time. */
function halved(ms: number): number {
  return 0.5 ** (ms / HALF_LIFE_MS);
}

/** Removes the oldest idle flows beyond the bound. */
function forgetIdle<V>(flows: Map<string, V>, isIdle: (flow: V) => boolean): void {
  if (flows.size <= IDLE_MAX) return;
  for (const [name, flow] of flows) {
    if (!isIdle(flow)) continue;
    flows.delete(name);
    return;
  }
}

function longest<V>(flows: ReadonlyMap<string, V>, lengthOf: (flow: V) => number): V {
  return [...flows.values()].reduce((most, one) => (lengthOf(one) >= lengthOf(most) ? one : most));
}
