import { HttpError } from './errors.ts';

/** The time a request has, as a signal and as a promise. Costs one timer while the request runs. */
export type Deadline = {
  /** Monotonic milliseconds. */
  readonly atMs: number;
  /** Aborted with the reason's HttpError: the time is over or the caller is gone. */
  readonly signal: AbortSignal;
  /** Settles like `work`, or rejects with the reason at once when the signal is aborted first. */
  race<T>(work: Promise<T>): Promise<T>;
  /** The caller hung up, or the process must end. */
  abort(code: 'caller_gone' | 'request_timeout'): void;
  /** Frees the timer. */
  end(): void;
};

/** A deadline `timeoutMs` from now. */
export function createDeadline(timeoutMs: number, nowMs: () => number): Deadline {
  const controller = new AbortController();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  // The signal may come when no race is waiting for it.
  aborted.catch(() => undefined);
  const abort = (code: 'caller_gone' | 'request_timeout'): void => {
    clearTimeout(timer);
    if (controller.signal.aborted) return;
    const reason = new HttpError(code);
    controller.abort(reason);
    reject(reason);
  };
  const timer = setTimeout(() => abort('request_timeout'), timeoutMs);
  return {
    atMs: nowMs() + timeoutMs,
    signal: controller.signal,
    race: (work) => Promise.race([work, aborted]),
    abort,
    end: () => clearTimeout(timer),
  };
}
