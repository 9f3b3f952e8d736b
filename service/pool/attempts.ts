/**
 * Why one more lite server is asked: the read begins, another one failed or is overdue (`retry`), or another one is slow (`hedge`).
 */
export type AttemptCause = 'first' | 'retry' | 'hedge';

/** How one read may use several lite servers. */
export type AttemptsPlan<T> = {
  /** The lite server to ask next, by index; undefined when none is left, or for a hedge when it is not worth one now. */
  readonly next: (cause: AttemptCause) => number | undefined;
  readonly start: (liteServer: number, signal: AbortSignal) => Promise<T>;
  /** True when asking another lite server cannot help: the error is the answer. */
  readonly isFinal: (error: unknown) => boolean;
  /** An attempt gave no answer for `overdueMs`. */
  readonly onOverdue: (liteServer: number) => void;
  /** An attempt gave no answer for `slowAfterMs`; the function given back is called when it ends. */
  readonly onSlow: (liteServer: number) => () => void;
  /** No answer for this long: the next lite server is asked as well. */
  readonly slowAfterMs: number;
  /** No answer for this long: the attempt no longer holds a place among `runningMax`, and is given up once the read is decided. */
  readonly overdueMs: number;
  /** Attempts at a time that are not overdue. */
  readonly runningMax: number;
};

/** Every lite server that could be asked was, and none gave a good answer. */
export class AttemptsExhausted extends Error {
  readonly errors: readonly unknown[];

  constructor(errors: readonly unknown[]) {
    super('no lite server gave a good answer');
    this.name = 'AttemptsExhausted';
    this.errors = errors;
  }
}

type Attempt = {
  readonly liteServer: number;
  readonly abort: AbortController;
  readonly timer: NodeJS.Timeout;
  overdue: boolean;
  /** Set once it is slow. */
  endSlow: (() => void) | undefined;
};

/**
 * Asks lite servers one after another, each at most once, until one answers well: the next one at once after a failure, and early
 * when one is slow. An attempt that lost the race runs on until it is overdue, so that a silent lite server is noticed and not
 * merely avoided. Rejects with a final error, with AttemptsExhausted, or with the signal's reason.
 */
export function raceAttempts<T>(plan: AttemptsPlan<T>, signal: AbortSignal): Promise<{ value: T; liteServer: number }> {
  return new Promise((resolve, reject) => {
    const running = new Set<Attempt>();
    const errors: unknown[] = [];
    let decided = false;
    let exhausted = false;
    let slowTimer: NodeJS.Timeout | undefined;

    const decide = (settle: () => void): void => {
      decided = true;
      clearTimeout(slowTimer);
      signal.removeEventListener('abort', onAbort);
      for (const attempt of running) if (attempt.overdue) attempt.abort.abort();
      settle();
    };
    const onAbort = (): void => {
      for (const attempt of running) attempt.abort.abort();
      decide(() => reject(signal.reason as Error));
    };
    const armSlow = (): void => {
      clearTimeout(slowTimer);
      slowTimer = setTimeout(onSlow, plan.slowAfterMs);
    };

    function onSlow(): void {
      for (const attempt of running) attempt.endSlow ??= plan.onSlow(attempt.liteServer);
      advance('hedge');
    }

    function advance(cause: AttemptCause): void {
      if (decided) return;
      const inTime = [...running].filter((attempt) => !attempt.overdue).length;
      if (exhausted || inTime >= plan.runningMax) return;
      const liteServer = plan.next(cause);
      if (liteServer !== undefined) launch(liteServer);
      else if (cause !== 'hedge') exhausted = true;
      if (exhausted && running.size === 0) decide(() => reject(new AttemptsExhausted(errors)));
    }

    function launch(liteServer: number): void {
      const abort = new AbortController();
      const timer = setTimeout(() => {
        attempt.overdue = true;
        plan.onOverdue(liteServer);
        if (decided) abort.abort();
        else advance('retry');
      }, plan.overdueMs);
      const attempt: Attempt = { liteServer, abort, timer, overdue: false, endSlow: undefined };
      running.add(attempt);
      armSlow();
      const end = (): void => {
        clearTimeout(timer);
        attempt.endSlow?.();
        running.delete(attempt);
      };
      const onAnswer = (value: T): void => {
        end();
        if (!decided) decide(() => resolve({ value, liteServer }));
      };
      const onError = (error: unknown): void => {
        end();
        if (decided) return;
        errors.push(error);
        if (plan.isFinal(error)) decide(() => reject(error));
        else if (exhausted && running.size === 0) decide(() => reject(new AttemptsExhausted(errors)));
        else advance('retry');
      };
      plan.start(liteServer, abort.signal).then(onAnswer, onError);
    }

    if (signal.aborted) return reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    advance('first');
  });
}
