import { bucketFullAt, fullBucket, fullInUs, refill, putBack, take, tokensLeft, type Bucket } from './bucket.ts';
import type { Quota } from './limits.ts';
import type { LimitPlan } from './options.ts';

/** What one subject (a key's owner, an address) has used of its plan. */
export type Budget = {
  bucket: Bucket;
  /** UTC days since 1970 that `usedToday` counts. */
  day: number;
  usedToday: number;
  inFlight: number;
};

/** What is left of a budget when nobody holds it: when its bucket is full again, and the day's use. */
export type BudgetRemains = { readonly fullAtUs: number; readonly day: number; readonly usedToday: number };

/** Why a budget refuses, and after how long it would not; `unavailable`: nobody can tell what is left of it. */
export type Shortage = {
  readonly reason: 'rate' | 'day' | 'concurrency' | 'unavailable';
  readonly retryAfterSeconds: number;
};

export const dayUs = 86_400_000_000;
const secondUs = 1_000_000;

export function newBudget(nowUs: number): Budget {
  return { bucket: fullBucket(nowUs), day: dayOf(nowUs), usedToday: 0, inFlight: 0 };
}

/** Takes a place among the requests running at once. */
export function takePlace(budget: Budget, plan: LimitPlan): Shortage | undefined {
  if (plan.maxConcurrent !== null && budget.inFlight >= plan.maxConcurrent) {
    // When one of the running requests ends is unknown; a second is soon and not at once.
    return { reason: 'concurrency', retryAfterSeconds: 1 };
  }
  budget.inFlight += 1;
  return undefined;
}

/** Takes tokens from the budget; a refusal takes nothing. */
export function spend(budget: Budget, plan: LimitPlan, nowUs: number, tokens: number): Shortage | undefined {
  const day = dayOf(nowUs);
  // A clock that went back stays in the day it had reached.
  if (day > budget.day) {
    budget.day = day;
    budget.usedToday = 0;
  }
  if (plan.requestsPerDay !== null && tokens > 0 && budget.usedToday + tokens > plan.requestsPerDay) {
    return { reason: 'day', retryAfterSeconds: wholeSeconds((budget.day + 1) * dayUs - nowUs) };
  }
  if (plan.requestsPerSecond > 0) {
    const taking = take(budget.bucket, plan, nowUs, tokens);
    budget.bucket = taking.bucket;
    if (!taking.admitted) return { reason: 'rate', retryAfterSeconds: wholeSeconds(taking.waitUs) };
  }
  budget.usedToday += tokens;
  return undefined;
}

/** Puts back tokens that were taken and not used. */
export function giveBack(budget: Budget, tokens: number): void {
  budget.bucket = putBack(budget.bucket, tokens);
  budget.usedToday = Math.max(0, budget.usedToday - tokens);
}

/** Null for a plan without a rate limit. */
export function quotaOf(bucket: Bucket, plan: LimitPlan): Quota | null {
  if (plan.requestsPerSecond === 0) return null;
  return {
    policy: plan.name,
    limit: plan.burst,
    remaining: tokensLeft(bucket, plan),
    resetSeconds: Math.ceil(fullInUs(bucket, plan) / secondUs),
    windowSeconds: Math.ceil(plan.burst / plan.requestsPerSecond),
  };
}

/** True when a new budget would be the same. */
export function isUnused(budget: Budget, plan: LimitPlan, nowUs: number): boolean {
  const countsDay = plan.requestsPerDay !== null && budget.day >= dayOf(nowUs) && budget.usedToday > 0;
  const countsRate = plan.requestsPerSecond > 0 && refill(budget.bucket, plan, nowUs).deficit > 0;
  return budget.inFlight === 0 && !countsDay && !countsRate;
}

export function remainsOf(budget: Budget, plan: LimitPlan): BudgetRemains {
  const fullAtUs = plan.requestsPerSecond === 0 ? 0 : budget.bucket.updatedUs + fullInUs(budget.bucket, plan);
  return { fullAtUs, day: budget.day, usedToday: budget.usedToday };
}

/** A budget that goes on where the remains ended; never richer than the one they are of. */
export function budgetFrom(remains: BudgetRemains, plan: LimitPlan, nowUs: number): Budget {
  const budget = newBudget(nowUs);
  if (plan.requestsPerSecond > 0) budget.bucket = bucketFullAt(remains.fullAtUs, plan, nowUs);
  if (remains.day >= budget.day) {
    budget.day = remains.day;
    budget.usedToday = remains.usedToday;
  }
  return budget;
}

export function dayOf(nowUs: number): number {
  return Math.floor(nowUs / dayUs);
}

/** Of a wait; at least 1. */
export function wholeSeconds(waitUs: number): number {
  return Math.max(1, Math.ceil(waitUs / secondUs));
}
