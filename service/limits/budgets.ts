import { refill } from './bucket.ts';
import { giveBack, quotaOf, spend, takePlace, type Budget, type Shortage } from './budget.ts';
import type { Quota } from './limits.ts';
import type { LimitPlan } from './options.ts';

/** Where tokens come from: this process, or a store that all pods share. */
export type Budgets = {
  /**
   * Takes a place among a subject's requests running at once; undefined when there was one. It must be freed. Settles at once unless the store must be
   * asked.
   */
  takePlace(
    subject: string,
    budget: Budget,
    plan: LimitPlan,
    nowUs: number,
  ): Shortage | undefined | Promise<Shortage | undefined>;
  freePlace(subject: string, budget: Budget, plan: LimitPlan): void;
  /**
   * Takes tokens for a subject (a key's owner, an address); undefined when they were there. A refusal takes nothing. Settles at once unless the store
   * must be asked.
   */
  take(
    subject: string,
    budget: Budget,
    plan: LimitPlan,
    nowUs: number,
    tokens: number,
  ): Shortage | undefined | Promise<Shortage | undefined>;
  /** Why it is certain, without asking, that the tokens are not there for a request of this moment; takes nothing. */
  shortage(budget: Budget, plan: LimitPlan, nowUs: number, tokens: number): Shortage | undefined;
  /** Puts back tokens that were taken and not used. */
  giveBack(budget: Budget, tokens: number): void;
  /** Where the subject's bucket stands; null for a plan without a rate limit. */
  quota(budget: Budget, plan: LimitPlan, nowUs: number): Quota | null;
};

/** Budgets of this process alone. */
export const ownBudgets: Budgets = {
  takePlace: (_subject, budget, plan) => takePlace(budget, plan),
  freePlace: (_subject, budget) => void (budget.inFlight -= 1),
  take: (_subject, budget, plan, nowUs, tokens) => spend(budget, plan, nowUs, tokens),
  shortage: (budget, plan, nowUs, tokens) => spend({ ...budget }, plan, nowUs, tokens),
  giveBack,
  quota: (budget, plan, nowUs) =>
    plan.requestsPerSecond === 0 ? null : quotaOf(refill(budget.bucket, plan, nowUs), plan),
};
