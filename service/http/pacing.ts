/** Holds back refusals of callers who ask on and on, so that each of their connections asks ten times a second at most and others keep their turns. */
export type Pacing = {
  /** Resolves when the refusal may be sent; undefined where that is at once. `signal` ends the wait. */
  wait(caller: string, signal: AbortSignal): Promise<void> | undefined;
};

/** Refusals of one caller in a second that are told at once: a client that respects `Retry-After` sees a few, one that tests its limit some dozens. */
const promptPerSecond = 100;

/** How long one beyond that is held back: short against the second that `Retry-After` asks for at least, long against a round trip. */
const delayMs = 100;

/** Held back at once: a small part of what may be in flight. What comes beyond is answered at once, which costs 0.1 ms each. */
const heldMax = 256;

/** Callers counted in a second; those beyond are not held back. */
const callersMax = 10_000;

export function createPacing(nowMs: () => number): Pacing {
  const refusals = new Map<string, number>();
  let second = 0;
  let held = 0;

  const count = (caller: string): number => {
    const now = Math.floor(nowMs() / 1000);
    if (now !== second) refusals.clear();
    second = now;
    const refused = (refusals.get(caller) ?? 0) + 1;
    if (refused > 1 || refusals.size < callersMax) refusals.set(caller, refused);
    return refused;
  };

  return {
    wait(caller, signal) {
      if (count(caller) <= promptPerSecond || held >= heldMax || signal.aborted) return undefined;
      held++;
      const { promise, resolve } = Promise.withResolvers<void>();
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        held--;
        resolve();
      };
      const timer = setTimeout(end, delayMs);
      signal.addEventListener('abort', end);
      return promise;
    },
  };
}
