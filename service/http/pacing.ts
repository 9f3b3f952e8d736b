/** Holds back refusals of callers who ask on and on, so that each of their connections asks once a second at most and others keep their turns. */
export type Pacing = {
  /** Resolves when the refusal may be sent; undefined where that is at once. `signal` ends the wait. */
  wait(caller: string, signal: AbortSignal): Promise<void> | undefined;
  /** Whether anybody is refused on and on in this second. */
  isPressed(): boolean;
  /** Whether a refusal of this caller would not be told at once. */
  isPressing(caller: string): boolean;
  /** As `wait`, by a callback; undefined where the refusal may be sent at once, else what ends the wait. */
  hold(caller: string, send: () => void): (() => void) | undefined;
};

/** Refusals of one caller in a second that are told at once: a client that respects `Retry-After` sees a few, one that tests its limit some dozens. */
const promptPerSecond = 100;

/**
 * How long one beyond that is held back: the least that `Retry-After` asks for, so that nobody is told later than it would be of use to ask again. With a
 * tenth of it the refused still moved the p99 of others by half.
 */
const delayMs = 1000;

/** Held back at once: a small part of what may be in flight. What comes beyond is answered at once, which costs 0.1 ms each. */
const heldMax = 256;

/** Callers counted in a second; those beyond are not held back. */
const callersMax = 10_000;

export function createPacing(nowMs: () => number): Pacing {
  const refusals = new Map<string, number>();
  let second = 0;
  let held = 0;
  /** Callers that are over it in this second. */
  let pressing = 0;

  const turn = (): void => {
    const now = Math.floor(nowMs() / 1000);
    if (now === second) return;
    second = now;
    refusals.clear();
    pressing = 0;
  };

  const count = (caller: string): number => {
    turn();
    const refused = (refusals.get(caller) ?? 0) + 1;
    if (refused > 1 || refusals.size < callersMax) refusals.set(caller, refused);
    if (refused === promptPerSecond) pressing++;
    return refused;
  };

  const hold = (caller: string, send: () => void): (() => void) | undefined => {
    if (count(caller) <= promptPerSecond || held >= heldMax) return undefined;
    held++;
    let isOver = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      held--;
      send();
    };
    const timer = setTimeout(end, delayMs);
    return end;
  };

  return {
    wait(caller, signal) {
      if (signal.aborted) return undefined;
      const { promise, resolve } = Promise.withResolvers<void>();
      const end = hold(caller, resolve);
      if (end === undefined) return undefined;
      signal.addEventListener('abort', end);
      return promise.finally(() => signal.removeEventListener('abort', end));
    },
    isPressed() {
      if (pressing > 0) turn();
      return pressing > 0;
    },
    isPressing(caller) {
      turn();
      return (refusals.get(caller) ?? 0) >= promptPerSecond;
    },
    hold,
  };
}
