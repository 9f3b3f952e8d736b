/**
 * Milliseconds of delay above which a timer is no basis to judge a lite server: this process stood still, and answers wait to be read. A container
 * above its CPU limit stands still for that long.
 */
export const LATE_TIMER_MS = 200;

/** Reason for asking one more lite server. `first`: the read begins. `retry`: an attempt failed or is overdue. `hedge`: an attempt is slow. */
export type AttemptCause = 'first' | 'retry' | 'hedge';

/** Rules for the attempts of one read. */
export type AttemptsPlan<T> = {
  /**
   * Returns the index of the lite server to ask next; `full` when servers are left, but without room. Undefined when none is left, or when a hedge is
   * not worthwhile now.
   */
  readonly next: (cause: AttemptCause) => number | 'full' | undefined;
  /**
   * Waits for room. Calls `start` whenever there may be room, until it returns true, or `refuse` once if none comes. The returned function ends the
   * wait.
   */
  readonly queue: (start: () => boolean, refuse: (error: Error) => void) => () => void;
  readonly start: (liteServer: number, signal: AbortSignal) => Promise<T>;
  /** True when another lite server cannot help: the error is the answer. */
  readonly isFinal: (error: unknown) => boolean;
  /** Called when an attempt has no answer after `overdueMs`. */
  readonly onOverdue: (liteServer: number) => void;
  /** Called when an attempt has no answer after `slowAfterMs`. The returned function is called when it ends. */
  readonly onSlow: (liteServer: number) => () => void;
  /** Milliseconds without an answer after which the next lite server is asked too. */
  readonly slowAfterMs: number;
  /**
   * Milliseconds without an answer after which the attempt frees its slot of `runningMax`. It is given up once the read is decided. After a late timer
   * the attempt has this time again.
   */
  readonly overdueMs: number;
  /** Most attempts at a time that are not overdue. */
  readonly runningMax: number;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
};

/** Error when every possible lite server was asked, and none gave a good answer. */
export class AttemptsExhausted extends Error {
  readonly errors: readonly unknown[];

  constructor(errors: readonly unknown[]) {
    super('no lite server gave a good answer');
    this.name = 'AttemptsExhausted';
    this.errors = errors;
  }
}

/** Attempt at one lite server. */
export type Attempt = {
  readonly isOverdue: () => boolean;
  /** Called once when the attempt is slow. */
  readonly slow: () => void;
  readonly abort: () => void;
};

/** Attempts that are not overdue. */
export function countInTime(running: ReadonlySet<Attempt>): number {
  return running.values().reduce((count, attempt) => count + (attempt.isOverdue() ? 0 : 1), 0);
}

type AttemptRules<T> = Pick<AttemptsPlan<T>, 'start' | 'onOverdue' | 'overdueMs' | 'now'> &
  Partial<Pick<AttemptsPlan<T>, 'onSlow'>>;

export type AttemptEvents<T> = {
  readonly onOverdue: (attempt: Attempt) => void;
  /** Called when the attempt ended, before its result is handled. */
  readonly onEnd: (attempt: Attempt) => void;
  readonly onAnswer: (value: T) => void;
  readonly onError: (error: unknown) => void;
};

/** Asks one lite server, for a read or a broadcast. Events come after the function returns. */
export function startAttempt<T>(plan: AttemptRules<T>, liteServer: number, events: AttemptEvents<T>): Attempt {
  const stop = new AbortController();
  let isOverdue = false;
  let endSlow: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  const watch = (): void => {
    const dueMs = plan.now() + plan.overdueMs;
    timer = setTimeout(() => {
      if (plan.now() - dueMs >= LATE_TIMER_MS) return watch();
      isOverdue = true;
      plan.onOverdue(liteServer);
      events.onOverdue(attempt);
    }, plan.overdueMs);
  };
  watch();
  const attempt: Attempt = {
    isOverdue: () => isOverdue,
    slow: () => void (endSlow ??= plan.onSlow?.(liteServer)),
    abort: () => stop.abort(),
  };
  const ending =
    <V>(report: (outcome: V) => void) =>
    (outcome: V): void => {
      clearTimeout(timer);
      endSlow?.();
      events.onEnd(attempt);
      report(outcome);
    };
  plan.start(liteServer, stop.signal).then(ending(events.onAnswer), ending(events.onError));
  return attempt;
}

type RoomEvents = {
  readonly onRoom: (liteServer: number) => void;
  /** Called when there is no room. Without an error no lite server is left to wait for. */
  readonly onRefused: (error?: Error) => void;
};

/** Creates the wait of one race for a lite server with room. There is one wait at a time. */
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
 * Asks lite servers one after another, each at most once, until one answers well. The next one is asked at once after a failure, and early when an
 * attempt is slow. An attempt that lost the race runs on until it is overdue. A silent lite server is thus noticed and not merely avoided. If the
 * remaining servers have no room, the race waits for room. Rejects with a final error, AttemptsExhausted, the refusal of the wait, or the signal's
 * reason.
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
      if (exhausted || room.isWaiting() || countInTime(running) >= plan.runningMax) return;
      const liteServer = plan.next(cause);
      if (typeof liteServer === 'number') launch(liteServer);
      else if (cause === 'hedge') return;
      else if (liteServer === 'full') room.wait(cause);
      else giveUp();
    }

    /** Asks no further server; running attempts may still answer. */
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
