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

/** One lite server that is being asked. */
type Attempt = {
  readonly isOverdue: () => boolean;
  /** It is slow; heard once. */
  readonly slow: () => void;
  readonly abort: () => void;
};

type AttemptEvents<T> = {
  readonly onOverdue: (attempt: Attempt) => void;
  /** It ended, before it is told how. */
  readonly onEnd: (attempt: Attempt) => void;
  readonly onAnswer: (value: T) => void;
  readonly onError: (error: unknown) => void;
};

function startAttempt<T>(plan: AttemptsPlan<T>, liteServer: number, events: AttemptEvents<T>): Attempt {
  const stop = new AbortController();
  let isOverdue = false;
  let endSlow: (() => void) | undefined;
  const timer = setTimeout(() => {
    isOverdue = true;
    plan.onOverdue(liteServer);
    events.onOverdue(attempt);
  }, plan.overdueMs);
  const attempt: Attempt = {
    isOverdue: () => isOverdue,
    slow: () => void (endSlow ??= plan.onSlow(liteServer)),
    abort: () => stop.abort(),
  };
  const ending =
    <V>(told: (outcome: V) => void) =>
    (outcome: V): void => {
      clearTimeout(timer);
      endSlow?.();
      events.onEnd(attempt);
      told(outcome);
    };
  plan.start(liteServer, stop.signal).then(ending(events.onAnswer), ending(events.onError));
  return attempt;
}

type RoomEvents = {
  readonly onRoom: (liteServer: number) => void;
  /** There is none, or, without an error, nobody left who could have some. */
  readonly onRefused: (error?: Error) => void;
};

/** The wait of one race for a lite server with room: one at a time. */
function createRoomWait(plan: Pick<AttemptsPlan<unknown>, 'next' | 'queue'>, events: RoomEvents) {
  let isWaiting = false;
  let leave: (() => void) | undefined;

  return {
    isWaiting: () => isWaiting,
    leave: () => leave?.(),
    wait(cause: AttemptCause): void {
      isWaiting = true;
      const start = (): boolean => {
        const liteServer = plan.next(cause);
        if (liteServer === 'full') return false;
        isWaiting = false;
        if (liteServer === undefined) events.onRefused();
        else events.onRoom(liteServer);
        return true;
      };
      leave = plan.queue(start, (error) => {
        isWaiting = false;
        events.onRefused(error);
      });
    },
  };
}

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
    let slowTimer: NodeJS.Timeout | undefined;
    const room = createRoomWait(plan, { onRoom: launch, onRefused: giveUp });

    const decide = (settle: () => void): void => {
      decided = true;
      clearTimeout(slowTimer);
      room.leave();
      signal.removeEventListener('abort', onAbort);
      for (const attempt of running) if (attempt.isOverdue()) attempt.abort();
      settle();
    };
    const onAbort = (): void => {
      for (const attempt of running) attempt.abort();
      decide(() => reject(signal.reason as Error));
    };
    function onSlow(): void {
      for (const attempt of running) attempt.slow();
      advance('hedge');
    }

    function advance(cause: AttemptCause): void {
      if (decided) return;
      const inTime = [...running].filter((attempt) => !attempt.isOverdue()).length;
      if (exhausted || room.isWaiting() || inTime >= plan.runningMax) return;
      const liteServer = plan.next(cause);
      if (typeof liteServer === 'number') launch(liteServer);
      else if (cause === 'hedge') return;
      else if (liteServer === 'full') room.wait(cause);
      else giveUp();
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
      clearTimeout(slowTimer);
      slowTimer = setTimeout(onSlow, plan.slowAfterMs);
      running.add(
        startAttempt(plan, liteServer, {
          onOverdue: (attempt) => (decided ? attempt.abort() : advance('retry')),
          onEnd: (attempt) => running.delete(attempt),
          onAnswer: (value) => decided || decide(() => resolve({ value, liteServer })),
          onError,
        }),
      );
    }

    function onError(error: unknown): void {
      if (decided) return;
      errors.push(error);
      if (plan.isFinal(error)) decide(() => reject(error));
      else if (exhausted && running.size === 0) rejectAll();
      else advance('retry');
    }

    if (signal.aborted) return reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    advance('first');
  });
}
