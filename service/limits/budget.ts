import { bucketFullAt, fullBucket, fullInUs, refill, putBack, take, tokensLeft, type Bucket } from './bucket.ts';
import type { Quota } from './limits.ts';
import type { LimitPlan } from './options.ts';

/** Use of a plan by one subject (owner of a key, or address). */
export type Budget = {
  bucket: Bucket;
  /** Day counted by `usedToday`, in UTC days since 1970. */
  day: number;
  usedToday: number;
  inFlight: number;
};

/** Remainder of an evicted budget: when its bucket is full again, and the use of the day. */
export type BudgetRemains = { readonly fullAtUs: number; readonly day: number; readonly usedToday: number };

/** Reason of a refusal, and seconds until it ends. `unavailable`: the shared store does not answer. */
export type Shortage = {
  readonly reason: 'rate' | 'day' | 'concurrency' | 'unavailable';
  readonly retryAfterSeconds: number;
};

export const DAY_US = 86_400_000_000;
const SECOND_US = 1_000_000;

export function newBudget(nowUs: number): Budget {
  return { bucket: fullBucket(nowUs), day: dayOf(nowUs), usedToday: 0, inFlight: 0 };
}

/** Name of a number of a plan. */
type PlanNumber = {
  [Name in keyof LimitPlan]-?: NonNullable<LimitPlan[Name]> extends number ? Name : never;
}[keyof LimitPlan];

/** Numbers of a plan for several subjects together: `times` their count, or the `same`. A number without a rule is a type error. */
const rulesForSeveral: Readonly<Record<PlanNumber, 'times' | 'same'>> = {
  requestsPerSecond: 'times',
  burst: 'times',
  requestsPerDay: 'times',
  maxConcurrent: 'times',
};

const multiplied = (Object.keys(rulesForSeveral) as PlanNumber[]).filter((name) => rulesForSeveral[name] === 'times');

/** Returns a plan for several subjects together. */
export function timesPlan(plan: LimitPlan, count: number): LimitPlan {
  const numbers = multiplied.flatMap((name) => {
    const number = plan[name];
    return typeof number === 'number' ? [[name, number * count] as const] : [];
  });
  return { ...plan, ...Object.fromEntries(numbers) };
}

/** Takes a slot among the requests running at once. */
export function takeSlot(budget: Budget, plan: LimitPlan): Shortage | undefined {
  if (plan.maxConcurrent !== null && budget.inFlight >= plan.maxConcurrent) {
    // The end of a running request is unknown. One second is soon, but not at once.
    return { reason: 'concurrency', retryAfterSeconds: 1 };
  }
  budget.inFlight += 1;
  return undefined;
}

/** Takes tokens from the budget. A refusal takes nothing. */
export function spend(budget: Budget, plan: LimitPlan, nowUs: number, tokens: number): Shortage | undefined {
  const day = dayOf(nowUs);
  // If the clock went back, the day stays the latest one reached.
  if (day > budget.day) {
    budget.day = day;
    budget.usedToday = 0;
  }
  if (plan.requestsPerDay !== null && tokens > 0 && budget.usedToday + tokens > plan.requestsPerDay) {
    return { reason: 'day', retryAfterSeconds: wholeSeconds((budget.day + 1) * DAY_US - nowUs) };
  }
  if (plan.requestsPerSecond > 0) {
    const taking = take(budget.bucket, plan, nowUs, tokens);
    budget.bucket = taking.bucket;
    if (!taking.admitted) return { reason: 'rate', retryAfterSeconds: wholeSeconds(taking.waitUs) };
  }
  budget.usedToday += tokens;
  return undefined;
}

/** Puts unused tokens back. */
export function giveBack(budget: Budget, tokens: number): void {
  budget.bucket = putBack(budget.bucket, tokens);
  budget.usedToday = Math.max(0, budget.usedToday - tokens);
}

/** Returns null for a plan without a rate limit. */
export function quotaOf(bucket: Bucket, plan: LimitPlan): Quota | null {
  if (plan.requestsPerSecond === 0) return null;
  return {
    policy: plan.name,
    limit: plan.burst,
    remaining: tokensLeft(bucket, plan),
    resetSeconds: Math.ceil(fullInUs(bucket, plan) / SECOND_US),
    windowSeconds: Math.ceil(plan.burst / plan.requestsPerSecond),
  };
}

/** Returns true when a new budget would be equal. */
export function isUnused(budget: Budget, plan: LimitPlan, nowUs: number): boolean {
  const countsDay = plan.requestsPerDay !== null && budget.day >= dayOf(nowUs) && budget.usedToday > 0;
  const countsRate = plan.requestsPerSecond > 0 && refill(budget.bucket, plan, nowUs).deficit > 0;
  return budget.inFlight === 0 && !countsDay && !countsRate;
}

/** The part of a budget that outlives its eviction. `fullAtUs` is 0 for a plan without a rate. */
export function remainsOf(budget: Budget, plan: LimitPlan): BudgetRemains {
  const fullAtUs = plan.requestsPerSecond === 0 ? 0 : budget.bucket.updatedUs + fullInUs(budget.bucket, plan);
  return { fullAtUs, day: budget.day, usedToday: budget.usedToday };
}

/** Restores a budget from its remainder, never richer than the evicted budget. */
export function budgetFrom(remains: BudgetRemains, plan: LimitPlan, nowUs: number): Budget {
  const budget = newBudget(nowUs);
  if (plan.requestsPerSecond > 0) budget.bucket = bucketFullAt(remains.fullAtUs, plan, nowUs);
  if (remains.day >= budget.day) {
    budget.day = remains.day;
    budget.usedToday = remains.usedToday;
  }
  return budget;
}

/** Days since 1970, UTC. */
export function dayOf(nowUs: number): number {
  return Math.floor(nowUs / DAY_US);
}

/** Rounds a wait up to whole seconds, at least 1. */
export function wholeSeconds(waitUs: number): number {
  return Math.max(1, Math.ceil(waitUs / SECOND_US));
}
