/**
 * Why one more lite server is asked: the read begins, another one failed or is overdue (`retry`), or another one is slow (`hedge`).
 */
export type AttemptCause = 'first' | 'retry' | 'hedge';

/** How one read may use several lite servers. */
export type AttemptsPlan<T> = {
  /**
   * The lite server to ask next, by index; `full` when there is one, without room; undefined when none is left, or for a hedge when it
   * is not worth one now.
   */
  readonly next: (cause: AttemptCause) => number | 'full' | undefined;
  /**
   * Waits for room: `start` is called whenever there may be some, until it gives true; or `refuse`, once, when none came. The function
   * given back ends the wait.
   */
  readonly queue: (start: () => boolean, refuse: (error: Error) => void) => () => void;
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
 * merely avoided. Where those that are left have no room, it waits for some. Rejects with a final error, with AttemptsExhausted, with
 * the refusal of the wait, or with the signal's reason.
 */
export function raceAttempts<T>(plan: AttemptsPlan<T>, signal: AbortSignal): Promise<{ value: T; liteServer: number }> {
  return new Promise((resolve, reject) => {
    const running = new Set<Attempt>();
    const errors: unknown[] = [];
    let decided = false;
    let exhausted = false;
    let refusal: Error | undefined;
    let isWaiting = false;
    let leave: (() => void) | undefined;
    let slowTimer: NodeJS.Timeout | undefined;

    const decide = (settle: () => void): void => {
      decided = true;
      clearTimeout(slowTimer);
      leave?.();
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
      if (exhausted || isWaiting || inTime >= plan.runningMax) return;
      const liteServer = plan.next(cause);
      if (typeof liteServer === 'number') launch(liteServer);
      else if (cause === 'hedge') return;
      else if (liteServer === 'full') waitForRoom(cause);
      else giveUp();
    }

    function waitForRoom(cause: AttemptCause): void {
      isWaiting = true;
      const start = (): boolean => {
        const liteServer = plan.next(cause);
        if (liteServer === 'full') return false;
        isWaiting = false;
        if (liteServer === undefined) giveUp();
        else launch(liteServer);
        return true;
      };
      leave = plan.queue(start, (error) => {
        isWaiting = false;
        giveUp(error);
      });
    }

    /** No other one is asked; those that run may still answer. */
    function giveUp(error?: Error): void {
      exhausted = true;
      refusal = error;
      if (running.size === 0) rejectAll();
    }

    function rejectAll(): void {
      decide(() => reject(refusal ?? new AttemptsExhausted(errors)));
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
        else if (exhausted && running.size === 0) rejectAll();
        else advance('retry');
      };
      plan.start(liteServer, abort.signal).then(onAnswer, onError);
    }

    if (signal.aborted) return reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    advance('first');
  });
}
