import { abandonment, PoolError } from './errors.ts';

/** What a waiter waits under. */
export type Waiter = {
  /** When it stops waiting, ms of the clock given. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
};

export type SingleFlight = {
  /**
   * The result of the work under way for `key`, started if there is none. The work is aborted when nobody waits for it any more;
   * one waiter's end never ends another's wait. Rejects with PoolError `deadline` or `aborted` for this waiter alone.
   */
  run<T>(
    key: string,
    waiter: Waiter,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<{ value: T; joined: boolean }>;
  /** Pieces of work under way. */
  size(): number;
};

type Flight = { readonly result: Promise<unknown>; readonly abort: AbortController; waiters: number };

/** Identical concurrent work is done once. The map holds what is under way and nothing else. */
export function createSingleFlight(dependencies: { now: () => number }): SingleFlight {
  const flights = new Map<string, Flight>();

  function takeOff(key: string, work: (signal: AbortSignal) => Promise<unknown>): Flight {
    const abort = new AbortController();
    const result = work(abort.signal);
    const flight: Flight = { result, abort, waiters: 0 };
    flights.set(key, flight);
    const land = (): void => {
      if (flights.get(key) === flight) flights.delete(key);
    };
    result.then(land, land);
    return flight;
  }

  async function run<T>(
    key: string,
    waiter: Waiter,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<{ value: T; joined: boolean }> {
    if (waiter.signal.aborted) throw abandonment(waiter.signal);
    if (waiter.deadlineMs <= dependencies.now()) throw new PoolError('deadline');
    const underWay = flights.get(key);
    const flight = underWay ?? takeOff(key, work);
    flight.waiters += 1;
    try {
      // The key holds the function, its arguments and the check, so the work under one key has one type.
      const value = (await waitFor(flight.result, waiter, dependencies.now)) as T;
      return { value, joined: underWay !== undefined };
    } finally {
      flight.waiters -= 1;
      // One that has landed has nothing to abort, and an abort is not cheap: its reason takes a stack trace.
      if (flight.waiters === 0 && flights.get(key) === flight) {
        flights.delete(key);
        flight.abort.abort();
      }
    }
  }

  return { run, size: () => flights.size };
}

/** `result`, or PoolError `deadline` / `aborted` when the waiter's time is over first. */
function waitFor<T>(result: Promise<T>, waiter: Waiter, now: () => number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => end(() => reject(new PoolError('deadline', { attempts: 1 }))),
      waiter.deadlineMs - now(),
    );
    const onAbort = (): void => end(() => reject(abandonment(waiter.signal)));
    waiter.signal.addEventListener('abort', onAbort, { once: true });
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      waiter.signal.removeEventListener('abort', onAbort);
      settle();
    };
    result.then(
      (value) => end(() => resolve(value)),
      (error: Error) => end(() => reject(error)),
    );
  });
}
