import { takeSlot as takeOwnSlot, type Budget, type Shortage } from '../budget.ts';
import type { Budgets } from '../budgets.ts';
import type { RedisMetrics } from '../metrics.ts';
import type { LimitPlan, OnRedisFailure } from '../options.ts';
import { scriptOf } from './script-batcher.ts';
import { slotsScript } from './script.ts';
import type { RedisSession } from './redis-session.ts';

/** Milliseconds until unreported slots of a pod are free again, because the pod is gone. */
const COUNTED_MS = 10_000;

/** Milliseconds between a pod's reports of its slots. */
const heartbeatMs = COUNTED_MS / 4;

/** Microseconds in which a subject without a free slot is refused without a query. A slot freed here ends the time. */
const FULL_US = 50_000;

/** The time when a slot is free, or Redis returns, is unknown. One second is soon, but not at once. */
const full: Shortage = { reason: 'concurrency', retryAfterSeconds: 1 };
const unavailable: Shortage = { reason: 'unavailable', retryAfterSeconds: 1 };

type ReportedSlots = { readonly name: string; fullUntilUs: number; isReporting: boolean };

export type SharedConcurrency = Pick<Budgets, 'takeSlot' | 'freeSlot'> & { readonly close: () => void };

/**
 * Slots under `maxConcurrent`, counted over all pods. Each pod reports its slots of a subject to Redis, and Redis grants one more if it is free. Only
 * plans with that limit ask.
 */
export function createSharedConcurrency(
  { api, pod, rule }: { readonly api: string; readonly pod: string; readonly rule: () => OnRedisFailure },
  { store, metrics }: { readonly store: RedisSession; readonly metrics: RedisMetrics },
): SharedConcurrency {
  const script = scriptOf(slotsScript);
  const questions = store.questions({ script, common: [pod, COUNTED_MS], answerLength: 2 });
  const ask = async (key: string, argument: string): Promise<number> => {
    const [granted = 0, wrong = 0] = await questions.ask(key, argument);
    if (wrong === 1) metrics.malformed('places');
    return granted;
  };
  /** Budgets with slots that Redis counts. */
  const reportedSlots = new Map<Budget, ReportedSlots>();

  const reportedOf = (name: string, budget: Budget): ReportedSlots => {
    let reported = reportedSlots.get(budget);
    if (reported === undefined) reportedSlots.set(budget, (reported = { name, fullUntilUs: 0, isReporting: false }));
    return reported;
  };

  const keyOf = (name: string): string => `places:${api}:{${name}}`;

  /** Reports the slots in use to Redis. The next heartbeat repeats a lost report. */
  const report = (budget: Budget, reported: ReportedSlots): void => {
    if (reported.isReporting || !store.here) return;
    reported.isReporting = true;
    // Slots freed in the same turn go into one report.
    setImmediate(() => {
      reported.isReporting = false;
      if (budget.inFlight === 0) reportedSlots.delete(budget);
      void ask(keyOf(reported.name), `${budget.inFlight},-1`).catch(() => undefined);
    });
  };

  /** Decides whether a slot already counted may stay while Redis is unavailable. */
  const slotAway = (budget: Budget, max: number): Shortage | undefined => {
    if (rule() === 'Open') return undefined;
    if (rule() === 'Closed') return refused(budget, unavailable);
    return budget.inFlight > Math.max(1, Math.floor(max / store.pods)) ? refused(budget, full) : undefined;
  };

  const askForSlot = async (
    name: string,
    budget: Budget,
    max: number,
    nowUs: number,
  ): Promise<Shortage | undefined> => {
    const reported = reportedOf(name, budget);
    try {
      if ((await ask(keyOf(name), `${budget.inFlight},${max}`)) === 1) return undefined;
    } catch {
      return slotAway(budget, max);
    }
    reported.fullUntilUs = nowUs + FULL_US;
    const shortage = refused(budget, full);
    // Slots may have been taken and freed since the query was sent.
    report(budget, reported);
    return shortage;
  };

  const timer = setInterval(() => {
    for (const [budget, reported] of reportedSlots) report(budget, reported);
  }, heartbeatMs);
  timer.unref();

  return {
    takeSlot(name, budget, plan: LimitPlan, nowUs) {
      const max = plan.maxConcurrent;
      const isFull = store.here && nowUs < (reportedSlots.get(budget)?.fullUntilUs ?? 0);
      const shortage = isFull ? full : takeOwnSlot(budget, plan);
      if (max === null || shortage !== undefined) return shortage;
      return store.here ? askForSlot(name, budget, max, nowUs) : slotAway(budget, max);
    },
    freeSlot(name, budget, plan) {
      budget.inFlight -= 1;
      if (plan.maxConcurrent === null) return;
      const reported = reportedOf(name, budget);
      reported.fullUntilUs = 0;
      report(budget, reported);
    },
    close: () => clearInterval(timer),
  };
}

/** Takes back the slot that was counted for the query. */
function refused(budget: Budget, shortage: Shortage): Shortage {
  budget.inFlight -= 1;
  return shortage;
}
