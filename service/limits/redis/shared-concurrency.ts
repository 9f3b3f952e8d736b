import { takePlace as takeOwnPlace, type Budget, type Shortage } from '../budget.ts';
import type { Budgets } from '../budgets.ts';
import type { RedisMetrics } from '../metrics.ts';
import type { LimitPlan, OnRedisFailure } from '../options.ts';
import { scriptOf } from './script-batcher.ts';
import { placesScript } from './script.ts';
import type { RedisSession } from './redis-session.ts';

/** Milliseconds until unreported slots of a pod are free again, because the pod is gone. */
const KEPT_MS = 10_000;

/** Milliseconds between a pod's reports of its slots. */
const heartbeatMs = KEPT_MS / 4;

/** Microseconds in which a subject without a free slot is refused without a query. A slot freed here ends the time. */
const FULL_US = 50_000;

/** The time when a slot is free, or Redis returns, is unknown. One second is soon, but not at once. */
const full: Shortage = { reason: 'concurrency', retryAfterSeconds: 1 };
const unavailable: Shortage = { reason: 'unavailable', retryAfterSeconds: 1 };

type Held = { readonly name: string; fullUntilUs: number; isTelling: boolean };

export type SharedConcurrency = Pick<Budgets, 'takePlace' | 'freePlace'> & { readonly close: () => void };

/**
 * Slots under `maxConcurrent`, counted over all pods. Each pod reports its slots of a subject to Redis, and Redis grants one more if it is free. Only
 * plans with that limit ask.
 */
export function createSharedConcurrency(
  { api, pod, rule }: { readonly api: string; readonly pod: string; readonly rule: () => OnRedisFailure },
  { store, metrics }: { readonly store: RedisSession; readonly metrics: RedisMetrics },
): SharedConcurrency {
  const script = scriptOf(placesScript);
  const questions = store.questions({ script, common: [pod, KEPT_MS], answerLength: 2 });
  const ask = async (key: string, argument: string): Promise<number> => {
    const [granted = 0, wrong = 0] = await questions.ask(key, argument);
    if (wrong === 1) metrics.malformed('places');
    return granted;
  };
  /** Budgets with slots that Redis counts. */
  const holding = new Map<Budget, Held>();

  const heldOf = (name: string, budget: Budget): Held => {
    let held = holding.get(budget);
    if (held === undefined) holding.set(budget, (held = { name, fullUntilUs: 0, isTelling: false }));
    return held;
  };

  const keyOf = (name: string): string => `places:${api}:{${name}}`;

  /** Reports the slots in use to Redis. The next heartbeat repeats a lost report. */
  const tell = (budget: Budget, held: Held): void => {
    if (held.isTelling || !store.here) return;
    held.isTelling = true;
    // Slots freed in the same turn go into one report.
    setImmediate(() => {
      held.isTelling = false;
      if (budget.inFlight === 0) holding.delete(budget);
      void ask(keyOf(held.name), `${budget.inFlight},-1`).catch(() => undefined);
    });
  };

  /** Decides whether a slot already counted may stay while Redis is unavailable. */
  const placeAway = (budget: Budget, max: number): Shortage | undefined => {
    if (rule() === 'Open') return undefined;
    if (rule() === 'Closed') return refused(budget, unavailable);
    return budget.inFlight > Math.max(1, Math.floor(max / store.pods)) ? refused(budget, full) : undefined;
  };

  const askForPlace = async (
    name: string,
    budget: Budget,
    max: number,
    nowUs: number,
  ): Promise<Shortage | undefined> => {
    const held = heldOf(name, budget);
    try {
      if ((await ask(keyOf(name), `${budget.inFlight},${max}`)) === 1) return undefined;
    } catch {
      return placeAway(budget, max);
    }
    held.fullUntilUs = nowUs + FULL_US;
    const shortage = refused(budget, full);
    // Slots may have been taken and freed since the query was sent.
    tell(budget, held);
    return shortage;
  };

  const timer = setInterval(() => {
    for (const [budget, held] of holding) tell(budget, held);
  }, heartbeatMs);
  timer.unref();

  return {
    takePlace(name, budget, plan: LimitPlan, nowUs) {
      const max = plan.maxConcurrent;
      const isFull = store.here && nowUs < (holding.get(budget)?.fullUntilUs ?? 0);
      const shortage = isFull ? full : takeOwnPlace(budget, plan);
      if (max === null || shortage !== undefined) return shortage;
      return store.here ? askForPlace(name, budget, max, nowUs) : placeAway(budget, max);
    },
    freePlace(name, budget, plan) {
      budget.inFlight -= 1;
      if (plan.maxConcurrent === null) return;
      const held = heldOf(name, budget);
      held.fullUntilUs = 0;
      tell(budget, held);
    },
    close: () => clearInterval(timer),
  };
}

/** Takes back the slot that was counted for the query. */
function refused(budget: Budget, shortage: Shortage): Shortage {
  budget.inFlight -= 1;
  return shortage;
}
