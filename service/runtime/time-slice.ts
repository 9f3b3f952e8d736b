import { performance } from 'node:perf_hooks';
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

/** Lets other requests run between the parts of long work. */
export type TimeSlice = {
  /** Await it between two parts of the work. Undefined while the turn is not over. */
  pause(): Promise<void> | undefined;
};

/**
 * @param signal ends the work: a pause throws or rejects with its reason; undefined for work that nothing ends
 * @param nowMs a clock that only measures turns
 */
export function createTimeSlice(
  signal: AbortSignal | undefined,
  nowMs: () => number = () => performance.now(),
): TimeSlice {
  let endMs = nowMs() + TURN_MS;
  const rest = async (): Promise<void> => {
    await restTurns();
    await takeTurn(signal);
    signal?.throwIfAborted();
    endMs = nowMs() + TURN_MS;
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
    await slice.pause();
    mapped.push(map(item));
  }
  return mapped;
}
