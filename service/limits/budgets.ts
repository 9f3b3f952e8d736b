import { refill } from './bucket.ts';
import { giveBack, quotaOf, spend, takeSlot, type Budget, type Shortage } from './budget.ts';
import type { Quota } from './limits.ts';
import type { LimitPlan } from './options.ts';

/** Source of tokens: this process, or a store shared by all pods. */
export type Budgets = {
  /**
   * Takes a slot among a subject's requests running at once. Returns undefined when a slot was free; the caller must free it. Settles at once unless
   * the store must be asked.
   */
  takeSlot(
    subject: string,
    budget: Budget,
    plan: LimitPlan,
    nowUs: number,
  ): Shortage | undefined | Promise<Shortage | undefined>;
  freeSlot(subject: string, budget: Budget, plan: LimitPlan): void;
  /**
   * Takes tokens for a subject (owner of a key, or address). Returns undefined when the tokens were available. A refusal takes nothing. Settles at
   * once unless the store must be asked.
   */
  take(
    subject: string,
    budget: Budget,
    plan: LimitPlan,
    nowUs: number,
    tokens: number,
  ): Shortage | undefined | Promise<Shortage | undefined>;
  /** Returns a shortage only if it is certain without asking the store that tokens are missing now. Takes nothing. */
  shortage(budget: Budget, plan: LimitPlan, nowUs: number, tokens: number): Shortage | undefined;
  /** Puts unused tokens back. */
  giveBack(budget: Budget, tokens: number): void;
  /** Returns the state of the subject's bucket; null for a plan without a rate limit. */
  quota(budget: Budget, plan: LimitPlan, nowUs: number): Quota | null;
};

/** Budgets of this process alone. */
export const ownBudgets: Budgets = {
  takeSlot: (_subject, budget, plan) => takeSlot(budget, plan),
  freeSlot: (_subject, budget) => void (budget.inFlight -= 1),
  take: (_subject, budget, plan, nowUs, tokens) => spend(budget, plan, nowUs, tokens),
  shortage: (budget, plan, nowUs, tokens) => spend({ ...budget }, plan, nowUs, tokens),
  giveBack,
  quota: (budget, plan, nowUs) =>
    plan.requestsPerSecond === 0 ? null : quotaOf(refill(budget.bucket, plan, nowUs), plan),
};
