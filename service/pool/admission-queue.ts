import { PoolError } from './errors.ts';

/** Read or message that waits for a lite server with room. */
export type Waiter = {
  /** Caller, of a bounded length. Callers take turns when many wait. */
  readonly caller: string;
  /** True for a message, or for work that the pool itself needs; served before all others. */
  readonly isUrgent: boolean;
  /** Kind of waiters that need the same room. If one finds none, no other of its kind does. */
  readonly kind: string;
  /** Time at which it stops waiting, in milliseconds of the pool's clock. */
  readonly deadlineMs: number;
  /** Takes a slot and leaves the line; returns false while there is no room. */
  readonly start: () => boolean;
  /** Called when it leaves the line without room, or without room in time. */
  readonly refuse: (error: PoolError) => void;
};

/** Line of waiters for room, bounded in number and time. Callers take turns. */
export type AdmissionQueue = {
  /** Adds the waiter, or refuses it at once. The returned function removes it. */
  readonly join: (waiter: Waiter) => () => void;
  /** Called when there may be room; starts as many waiters as fit. */
  readonly offer: () => void;
  readonly length: () => number;
  /** Refuses all waiters with PoolError `closed`. */
  close(): void;
};

/** Reason why a waiter got no slot. */
export type ShedReason = 'full' | 'hopeless' | 'late';

export type AdmissionQueueOptions = {
  /** Most waiters at a time. */
  readonly waitersMax: number;
  /** Longest wait, in milliseconds. */
  readonly waitMsMax: number;
};

export type AdmissionQueueDependencies = {
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  readonly onWaited: (seconds: number) => void;
  readonly onShed: (reason: ShedReason) => void;
};

/** Milliseconds over which the pace of service is measured. */
const PACE_MS = 1_000;

/** Most seconds of `Retry-After`. A longer number does not predict longer overload better. */
const RETRY_AFTER_SECONDS_MAX = 30;

type Waiting = Waiter & { readonly sinceMs: number; readonly timer: NodeJS.Timeout };

export function createAdmissionQueue(
  options: AdmissionQueueOptions,
  dependencies: AdmissionQueueDependencies,
): AdmissionQueue {
  const { now } = dependencies;
  // Lines in the order of turns: a served caller moves behind all others.
  const urgent = new Map<string, Waiting[]>();
  const ordinary = new Map<string, Waiting[]>();
  const kinds = new Map<string, number>();
  let length = 0;
  let paceSinceMs = 0;
  let starts = 0;
  let gapMs = 0;

  const turnsOf = ({ isUrgent }: Waiter): Map<string, Waiting[]> => (isUrgent ? urgent : ordinary);

  function takeOut(waiting: Waiting): boolean {
    const turns = turnsOf(waiting);
    const own = turns.get(waiting.caller) ?? [];
    const at = own.indexOf(waiting);
    if (at < 0) return false;
    own.splice(at, 1);
    if (own.length === 0) turns.delete(waiting.caller);
    clearTimeout(waiting.timer);
    const left = (kinds.get(waiting.kind) ?? 1) - 1;
    if (left === 0) kinds.delete(waiting.kind);
    else kinds.set(waiting.kind, left);
    length -= 1;
    if (length === 0) gapMs = 0;
    return true;
  }

  function measurePace(): void {
    const passedMs = now() - paceSinceMs;
    if (length === 0 || passedMs >= PACE_MS) {
      if (length > 0 && starts > 0) gapMs = passedMs / starts;
      paceSinceMs = now();
      starts = 0;
    }
  }

  function saturated(reason: ShedReason, waitMs: number): PoolError {
    dependencies.onShed(reason);
    const retryAfterSeconds = Math.min(RETRY_AFTER_SECONDS_MAX, Math.max(1, Math.ceil(waitMs / 1000)));
    return new PoolError('saturated', { attempts: 0, retryAfterSeconds });
  }

  function hasStarted({ kind, start }: Waiting, withoutRoom: Set<string>): boolean {
    const started = start();
    if (!started) withoutRoom.add(kind);
    return started;
  }

  /** Starts one waiter, of the next caller in turn; returns false when none finds room. */
  function startOne(turns: Map<string, Waiting[]>, withoutRoom: Set<string>): boolean {
    for (const [caller, own] of turns) {
      if (withoutRoom.size >= kinds.size) return false;
      const waiting = own.find((one) => !withoutRoom.has(one.kind) && hasStarted(one, withoutRoom));
      if (waiting === undefined) continue;
      takeOut(waiting);
      const others = turns.get(caller);
      if (others !== undefined) {
        turns.delete(caller);
        turns.set(caller, others);
      }
      starts += 1;
      dependencies.onWaited((now() - waiting.sinceMs) / 1000);
      return true;
    }
    return false;
  }

  return {
    join(waiter) {
      measurePace();
      const leftMs = Math.min(options.waitMsMax, waiter.deadlineMs - now());
      const expectedMs = length * gapMs;
      if (length >= options.waitersMax || (!waiter.isUrgent && expectedMs > leftMs)) {
        waiter.refuse(saturated(length >= options.waitersMax ? 'full' : 'hopeless', expectedMs));
        return () => undefined;
      }
      const timer = setTimeout(() => {
        if (takeOut(waiting)) waiter.refuse(saturated('late', length * gapMs));
      }, options.waitMsMax);
      const waiting: Waiting = { ...waiter, sinceMs: now(), timer };
      const turns = turnsOf(waiter);
      const own = turns.get(waiter.caller);
      if (own === undefined) turns.set(waiter.caller, [waiting]);
      else own.push(waiting);
      kinds.set(waiter.kind, (kinds.get(waiter.kind) ?? 0) + 1);
      length += 1;
      return () => void takeOut(waiting);
    },
    offer() {
      if (length === 0) return;
      measurePace();
      const withoutRoom = new Set<string>();
      while (startOne(urgent, withoutRoom));
      while (startOne(ordinary, withoutRoom));
    },
    length: () => length,
    close() {
      for (const waiting of [...urgent.values(), ...ordinary.values()].flat()) {
        if (takeOut(waiting)) waiting.refuse(new PoolError('closed'));
      }
    },
  };
}
