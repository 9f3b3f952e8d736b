/**
 * Delays refusals of callers who persistently exceed their limit. Each of their connections then asks at most once a second, and other
 * callers get their turns.
 */
export type RefusalThrottle = {
  /** Resolves when the refusal may be sent; undefined when it may be sent at once. `signal` ends the wait. */
  wait(caller: string, signal: AbortSignal): Promise<void> | undefined;
  /** True when some caller has persistent refusals in this second. */
  isPressed(): boolean;
  /** True when a refusal of this caller would be delayed. */
  isPressing(caller: string): boolean;
  /** Callback form of `wait`. Undefined when the refusal may be sent at once, else a function that ends the wait. */
  hold(caller: string, send: () => void): (() => void) | undefined;
};

/**
 * Prompt refusals of one caller in a second. A client that respects `Retry-After` sees a few, a client that tests its limit some dozens.
 */
const PROMPT_PER_SECOND = 100;

/**
 * Delay of further refusals in milliseconds. It equals the least value of `Retry-After`, so that no answer comes later than a useful retry.
 * With a tenth of this delay, refusals still raised the p99 of other callers by half.
 */
const DELAY_MS = 1000;

/** Delayed refusals at a time: a small part of the requests in flight. Further refusals are sent at once, which costs 0.1 ms each. */
const DELAYED_MAX = 256;

/** Callers counted in a second. Refusals of further callers are not delayed. */
const CALLERS_MAX = 10_000;

export function createRefusalThrottle(nowMs: () => number): RefusalThrottle {
  const refusals = new Map<string, number>();
  let second = 0;
  let delayed = 0;
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
    if (refused > 1 || refusals.size < CALLERS_MAX) refusals.set(caller, refused);
    if (refused === PROMPT_PER_SECOND) pressing++;
    return refused;
  };

  const hold = (caller: string, send: () => void): (() => void) | undefined => {
    if (count(caller) <= PROMPT_PER_SECOND || delayed >= DELAYED_MAX) return undefined;
    delayed++;
    let isOver = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      delayed--;
      send();
    };
    const timer = setTimeout(end, DELAY_MS);
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
      return (refusals.get(caller) ?? 0) >= PROMPT_PER_SECOND;
    },
    hold,
  };
}
