import { abandonment, PoolError } from './errors.ts';

/** Bounds of a waiter. */
export type Waiter = {
  /** Time at which it stops waiting, in milliseconds of the given clock. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
};

export type SingleFlight = {
  /**
   * Returns the result of the work for `key`, and starts the work if none is in progress. The work is aborted when its last waiter leaves; one
   * waiter's end never ends another's wait. Rejects with PoolError `deadline` or `aborted` for this waiter alone.
   */
  run<T>(
    key: string,
    waiter: Waiter,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<{ value: T; joined: boolean }>;
  /** Returns the number of works in progress. */
  size(): number;
};

type Flight = { readonly result: Promise<unknown>; readonly abort: AbortController; waiters: number };

/** Does identical concurrent work once. The map contains work in progress only. */
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
      // The key names the function, its arguments and the check, so the work under one key has one type.
      const value = (await waitFor(flight.result, waiter, dependencies.now)) as T;
      return { value, joined: underWay !== undefined };
    } finally {
      flight.waiters -= 1;
      // A finished flight has nothing to abort, and an abort is not cheap: its reason takes a stack trace.
      if (flight.waiters === 0 && flights.get(key) === flight) {
        flights.delete(key);
        flight.abort.abort();
      }
    }
  }

  return { run, size: () => flights.size };
}

/** Returns `result`, or rejects with PoolError `deadline` / `aborted` when the waiter's time is over first. */
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
