import type { Logger } from 'pino';

import { createAlarms } from './alarms.ts';
import { backoffMs, type Clock } from './clock.ts';
import { isApiError } from './errors.ts';
import type { QueueMetrics, QueueReadings, ReconcileResult } from './metrics.ts';
import type { ObjectKey } from './object.ts';

/** Priority of a key. `initial` keys of a start wait behind `live` keys, so that a restart delays no person's edit. */
type Priority = 'live' | 'initial';

/**
 * Outcome of a reconcile. `terminal`: as a rule only a person can mend it. An event starts the next reconcile, or a pause that grows.
 * `unfinished`: a dependency was unreachable or not ready; the queue retries with growing pauses.
 */
export type Outcome =
  | { readonly type: 'done'; readonly requeueAfterMs?: number }
  | { readonly type: 'terminal'; readonly requeueAfterMs?: number }
  | { readonly type: 'unfinished' };

/** Set of keys. A single worker at a time reconciles a key, until it succeeds. */
export type Queue = {
  /** Adds a key that is not queued yet. A key in work is reconciled once more afterwards. */
  add(key: ObjectKey, priority: Priority): void;
  addAfter(key: ObjectKey, delayMs: number): void;
  /** Ends retries of the key. */
  forget(key: ObjectKey): void;
  /** Lets workers begin. */
  start(): void;
  /** Takes no more keys and waits for the running ones; after `graceMs` they are aborted. */
  close(graceMs: number): Promise<void>;
};

type QueueOptions = {
  /** Name of the controller in metrics. */
  readonly name: string;
  readonly concurrency: number;
  /** Limit of one reconcile of a key. */
  readonly workTimeoutMs: number;
  /** Interval after which every key is reconciled, plus or minus a fifth, regardless of events. */
  readonly lookMs: number;
};

export type Work = {
  readonly signal: AbortSignal;
  /** Failures in a row so far. */
  readonly failures: number;
};

type QueueDependencies = {
  readonly process: (key: ObjectKey, work: Work) => Promise<Outcome>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: (name: string, concurrency: number, readings: QueueReadings) => QueueMetrics;
};

/** Short at first: most failures are a restarting server. At most five minutes: people wait (operator/README.md#work-queue). */
const retryBackoff = { baseMs: 200, maxMs: 300_000, jitter: 0.2 };

/** A terminal failure may end without an event to us, such as a taken name that is free again. Our watches see only our own label. */
const terminalBackoff = { baseMs: 15_000, maxMs: 600_000, jitter: 0.2 };

/** Shortest pause before a key without an event is due again. It bounds the cost of a wrong due time. */
const LOOK_AGAIN_MIN_MS = 1000;

/** Jitter of periodic reconciles. Otherwise keys of one start would come together for ever. */
const LOOK_JITTER = 0.2;

/** Retries of all keys together: many that fail at once must not flood the API server. */
const RETRIES_PER_SECOND = 20;
const RETRIES_BURST = 100;

export function createQueue(options: QueueOptions, dependencies: QueueDependencies): Queue {
  const { clock, random, logger } = dependencies;
  /** Waiting keys in order of coming, since when. */
  const waiting = { live: new Map<ObjectKey, number>(), initial: new Map<ObjectKey, number>() };
  /** Keys being worked on, since when. */
  const running = new Map<ObjectKey, number>();
  /** Added while they were worked on. */
  const again = new Set<ObjectKey>();
  const failures = new Map<ObjectKey, number>();
  /** Terminal outcomes in a row. */
  const terminals = new Map<ObjectKey, number>();
  const alarms = createAlarms<ObjectKey>(clock, (key) => add(key, 'live'));
  const throttleMs = createRetryThrottle(clock);
  const abort = new AbortController();
  const drained = Promise.withResolvers<void>();
  let open = false;
  let closed = false;
  const metrics = dependencies.metrics(options.name, options.concurrency, {
    depth: () => ({ live: waiting.live.size, initial: waiting.initial.size }),
    runningSinceMs: () => [...running.values()],
    nowMs: clock.now,
  });

  function add(key: ObjectKey, priority: Priority): void {
    if (closed || waiting.live.has(key)) return;
    if (running.has(key)) {
      again.add(key);
      return;
    }
    if (waiting.initial.has(key)) {
      if (priority === 'initial') return;
      waiting.initial.delete(key);
    }
    waiting[priority].set(key, clock.now());
    metrics.added();
    takeUp();
  }

  /** The earlier of two delays counts. */
  function addAfter(key: ObjectKey, delayMs: number): void {
    if (!closed) alarms.set(key, delayMs);
  }

  /** A delay that is no number counts as the shortest. */
  function lookAgain(key: ObjectKey, delayMs: number): void {
    addAfter(key, delayMs >= LOOK_AGAIN_MIN_MS ? delayMs : LOOK_AGAIN_MIN_MS);
  }

  function takeUp(): void {
    if (!open || closed) return;
    while (running.size < options.concurrency) {
      const next = first(waiting.live) ?? first(waiting.initial);
      if (next === undefined) return;
      const [key, sinceMs] = next;
      waiting.live.delete(key);
      waiting.initial.delete(key);
      alarms.cancel(key);
      running.set(key, clock.now());
      metrics.started((clock.now() - sinceMs) / 1000);
      void work(key);
    }
  }

  async function work(key: ObjectKey): Promise<void> {
    const startedMs = clock.now();
    const timeout = new AbortController();
    const cancel = clock.after(options.workTimeoutMs, () => {
      metrics.failed('timeout');
      timeout.abort(Object.assign(new Error('the look at the key took too long'), { name: 'TimeoutError' }));
    });
    let result: ReconcileResult = 'error';
    try {
      const signal = AbortSignal.any([abort.signal, timeout.signal]);
      const outcome = await dependencies.process(key, { signal, failures: failures.get(key) ?? 0 });
      result = settle(key, outcome);
    } catch (error) {
      fail(key, error);
    } finally {
      cancel();
      running.delete(key);
      metrics.finished(result, (clock.now() - startedMs) / 1000);
      if (again.delete(key)) add(key, 'live');
      takeUp();
      if (closed && running.size === 0) drained.resolve();
    }
  }

  function settle(key: ObjectKey, outcome: Outcome): ReconcileResult {
    if (outcome.type === 'unfinished') {
      retry(key, undefined);
      return 'requeue';
    }
    failures.delete(key);
    if (outcome.type === 'terminal') {
      metrics.failed('terminal');
      const count = terminals.get(key) ?? 0;
      terminals.set(key, count + 1);
      lookAgain(key, Math.min(outcome.requeueAfterMs ?? Infinity, backoffMs(terminalBackoff, count, random)));
      return 'error';
    }
    terminals.delete(key);
    lookAgain(key, Math.min(outcome.requeueAfterMs ?? Infinity, jittered(options.lookMs, random)));
    return outcome.requeueAfterMs === undefined ? 'success' : 'requeue_after';
  }

  function fail(key: ObjectKey, error: unknown): void {
    if (closed && abort.signal.aborted) return;
    if (!isApiError(error)) metrics.failed('panic');
    const attempt = (failures.get(key) ?? 0) + 1;
    const known = isApiError(error);
    logger[known ? 'warn' : 'error'](
      { err: known ? error.message : error, controller: options.name, key, attempt },
      'failed',
    );
    retry(key, known ? error.data.retryAfterMs : undefined);
  }

  function retry(key: ObjectKey, askedMs: number | undefined): void {
    const count = failures.get(key) ?? 0;
    failures.set(key, count + 1);
    metrics.retried();
    addAfter(key, (askedMs ?? backoffMs(retryBackoff, count, random)) + throttleMs());
  }

  return {
    add,
    addAfter,
    forget(key) {
      failures.delete(key);
      terminals.delete(key);
      alarms.cancel(key);
    },
    start() {
      open = true;
      takeUp();
    },
    async close(graceMs) {
      closed = true;
      alarms.cancelAll();
      if (running.size === 0) return;
      const cancel = clock.after(graceMs, () => abort.abort());
      await drained.promise;
      cancel();
    },
  };
}

/** Bucket of retries. The returned function takes a token and returns the milliseconds until the token is there. */
function createRetryThrottle(clock: Pick<Clock, 'now'>): () => number {
  let tokens = RETRIES_BURST;
  let tokensAtMs = clock.now();
  return () => {
    const nowMs = clock.now();
    tokens = Math.min(RETRIES_BURST, tokens + ((nowMs - tokensAtMs) * RETRIES_PER_SECOND) / 1000);
    tokensAtMs = nowMs;
    tokens -= 1;
    return tokens >= 0 ? 0 : (-tokens * 1000) / RETRIES_PER_SECOND;
  };
}

/** Returns `ms` plus or minus up to a fifth. */
function jittered(ms: number, random: () => number): number {
  return ms * (1 + LOOK_JITTER * (2 * random() - 1));
}

function first<K, V>(map: ReadonlyMap<K, V>): [K, V] | undefined {
  return map.entries().next().value;
}
