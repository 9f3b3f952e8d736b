import { performance } from 'node:perf_hooks';
import { setImmediate as afterTurn } from 'node:timers';
import { setImmediate } from 'node:timers/promises';

/** Longest work without a pause. Another request waits at most for this time and one item. */
const TURN_MS = 4;

/** Turns of the event loop that long work leaves to other requests. A small request takes some three turns from its headers to its answer. */
const REST_TURNS = 4;

/** Leaves some turns of the event loop to other requests. */
export async function restTurns(): Promise<void> {
  for (let turn = 0; turn < REST_TURNS; turn++) await setImmediate();
}

type RestedWork = { readonly signal: AbortSignal | undefined; readonly resume: () => void };

/** Works that have rested, in the order of arrival. */
const rested: RestedWork[] = [];

/** Waits for a turn in which no other rested work goes on. Slices of many works in one turn would be one long stop. */
function takeTurn(signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  rested.push({ signal, resume: resolve });
  if (rested.length === 1) void resumeRested();
  return promise;
}

async function resumeRested(): Promise<void> {
  while (rested.length > 0) {
    await setImmediate();
    let next: RestedWork | undefined;
    do {
      next = rested.shift();
      next?.resume();
      // Aborted work only ends, so the work behind has the same turn.
    } while (next?.signal?.aborted === true);
  }
}

/**
 * Waits for a turn in which no rested work goes on, after some turns for other requests. For work without pauses of some milliseconds, such as
 * the parse of a long body. Slices that begin in the same turn rest at their first pause once that work took the time of a slice.
 * Rejects with the reason of the signal.
 */
export async function restForTurn(signal: AbortSignal | undefined): Promise<void> {
  await restTurns();
  await takeTurn(signal);
  signal?.throwIfAborted();
  beginTurn(monotonicMs);
}

const monotonicMs = (): number => performance.now();

/** Ends of the slices of this turn of the event loop, by clock. */
const turnEnds = new Map<() => number, number>();

/** Begins the time of a turn for the slices of all works. */
function beginTurn(nowMs: () => number): number {
  const endMs = nowMs() + TURN_MS;
  turnEnds.set(nowMs, endMs);
  afterTurn(() => {
    if (turnEnds.get(nowMs) === endMs) turnEnds.delete(nowMs);
  });
  return endMs;
}

/** Lets other requests run between the parts of long work. */
export type TimeSlice = {
  /** Await it between two parts of the work. Undefined while the turn is not over. */
  pause(): Promise<void> | undefined;
};

/**
 * Slices that begin in one turn share its time. Many callers may wait for one read, and all go on in the turn of its answer.
 * @param signal ends the work: a pause throws or rejects with its reason; undefined for work that nothing ends
 * @param nowMs a clock that only measures turns
 */
export function createTimeSlice(signal: AbortSignal | undefined, nowMs: () => number = monotonicMs): TimeSlice {
  let endMs = turnEnds.get(nowMs) ?? beginTurn(nowMs);
  const rest = async (): Promise<void> => {
    await restTurns();
    await takeTurn(signal);
    signal?.throwIfAborted();
    endMs = beginTurn(nowMs);
  };
  return {
    pause() {
      signal?.throwIfAborted();
      return nowMs() < endMs ? undefined : rest();
    },
  };
}

/** Maps a long list one by one and lets other requests run in between. */
export async function mapInSlices<A, B>(items: Iterable<A>, map: (item: A) => B, slice: TimeSlice): Promise<B[]> {
  const mapped: B[] = [];
  for (const item of items) {
    const pause = slice.pause();
    // An await in any case would let each waiting work make an item after its look at the clock.
    if (pause !== undefined) await pause;
    mapped.push(map(item));
  }
  return mapped;
}
