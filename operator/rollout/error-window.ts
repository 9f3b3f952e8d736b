/** Requests and how many of them failed (5xx). */
export type Counts = { readonly requests: number; readonly errors: number };

/** Counters of pods at the last reading, and the increase since the window began. */
export type ErrorWindow = {
  readonly seen: ReadonlyMap<string, Counts>;
  readonly sum: Counts;
};

export const emptyWindow: ErrorWindow = { seen: new Map(), sum: { requests: 0, errors: 0 } };

/**
 * Adds a reading of the pods' counters to the window. A new pod counts from now on, unless it started within the window.
 * Counters that decreased have restarted. Pods that are gone keep their share.
 */
export function addLook(
  window: ErrorWindow,
  counters: ReadonlyMap<string, Counts>,
  startedInWindow: boolean,
): ErrorWindow {
  let { requests, errors } = window.sum;
  for (const [pod, now] of counters) {
    const before = window.seen.get(pod) ?? (startedInWindow ? zero : now);
    const base = now.requests < before.requests || now.errors < before.errors ? zero : before;
    requests += now.requests - base.requests;
    errors += now.errors - base.errors;
  }
  return { seen: counters, sum: { requests, errors } };
}

/** Share of failed requests; 0 without requests. */
export function errorRatio({ requests, errors }: Counts): number {
  return requests === 0 ? 0 : errors / requests;
}

const zero: Counts = { requests: 0, errors: 0 };
