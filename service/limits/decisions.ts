import type { Shortage } from './budget.ts';
import type { Subject } from './callers.ts';
import type { Allowed, Decision, Entered, Quota, Refused } from './limits.ts';
import { countResult, type PlanCounts } from './metrics.ts';
import { streamingTermsOf, type LimitsOptions, type MethodTerms } from './options.ts';
import { mayCall, type Forbidden } from './permission.ts';
import type { SubjectBudgets } from './subject-budgets.ts';
import type { UsageCounter } from './usage.ts';

/** Decisions on subjects. Each decision is counted by plan, and by key in the usage. */
export type Decisions = {
  /** Refuses a caller without a valid key. @param address subject of the caller's address, for the quota */
  refuseUnknown(code: 'unknown_key' | 'key_required', address: Subject | undefined, nowMs: number): Refused;
  forbid(code: Forbidden, subject: Subject, nowMs: number): Refused;
  refuse(subject: Subject, shortage: Shortage): Refused;
  /** Takes a slot, then tokens. @param operation null: not known yet, takes one token in advance */
  admit(subject: Subject, nowMs: number, operation: string | null): Decision | Promise<Decision>;
  /** Extends an admission whose operations come later. */
  charging(subject: Subject, entry: Allowed): Entered;
};

export type DecisionsDependencies = {
  readonly budgets: SubjectBudgets;
  readonly usage: UsageCounter;
  /** Counts of decisions where no plan applies. */
  readonly noPlan: PlanCounts;
  /** Unix milliseconds. */
  readonly now: () => number;
};

export function createDecisions(
  { keyHint }: Pick<LimitsOptions, 'keyHint'>,
  { budgets, usage, noPlan, now }: DecisionsDependencies,
): Decisions {
  const quotaOf = (subject: Subject, nowMs: number): Quota | null => budgets.quota(subject, Math.floor(nowMs * 1000));

  const take = (subject: Subject, nowMs: number, tokens: number) =>
    budgets.take(subject, Math.floor(nowMs * 1000), tokens);

  const forbid = (code: Forbidden, subject: Subject, nowMs: number): Refused => {
    const { priced } = subject;
    countResult(priced.counts, code);
    return { allowed: false, code, plan: priced.name, quota: quotaOf(subject, nowMs), retryAfterSeconds: null };
  };

  const refuse = (subject: Subject, { reason, retryAfterSeconds }: Shortage): Refused => {
    const { priced, key } = subject;
    const nowMs = now();
    countResult(priced.counts, reason);
    if (key !== undefined) usage.count(key.id, null, nowMs);
    const code = reason === 'unavailable' ? 'limits_unavailable' : 'rate_limited';
    const hint = key === undefined ? keyHint : undefined;
    const quota = quotaOfRefusal(quotaOf(subject, nowMs), { reason, retryAfterSeconds });
    return { allowed: false, code, plan: priced.name, quota, retryAfterSeconds, keyHint: hint };
  };

  /** Turns a shortage into a decision, without a slot to free. */
  const answer = (subject: Subject, shortage: Shortage | undefined, operation: string | null): Decision => {
    if (shortage !== undefined) return refuse(subject, shortage);
    const { priced, key } = subject;
    const nowMs = now();
    if (operation !== null) {
      countResult(priced.counts, 'allowed');
      if (key !== undefined) usage.count(key.id, operation, nowMs);
    }
    const quota = quotaOf(subject, nowMs);
    const getMethods = methodTermsOf(subject);
    const streaming = { owner: subject.name, ...streamingTermsOf(priced.plan, key !== undefined) };
    return { allowed: true, plan: priced.name, grants: priced.grants, getMethods, streaming, quota, release: nothing };
  };

  /** Turns a shortage into a decision. The subject has its slot, which a refusal frees. */
  const settle = (subject: Subject, shortage: Shortage | undefined, operation: string | null): Decision => {
    const decision = answer(subject, shortage, operation);
    if (!decision.allowed) {
      budgets.freeSlot(subject);
      return decision;
    }
    let isTaken = true;
    const release = (): void => {
      if (isTaken) budgets.freeSlot(subject);
      isTaken = false;
    };
    return { ...decision, release };
  };

  /** Takes tokens for a request that has its slot. */
  const takeTokens = (subject: Subject, nowMs: number, operation: string | null): Decision | Promise<Decision> => {
    const taken = take(subject, nowMs, operation === null ? 1 : subject.priced.costOf(operation));
    if (!(taken instanceof Promise)) return settle(subject, taken, operation);
    return taken.then(
      (shortage) => settle(subject, shortage, operation),
      (error: unknown) => {
        budgets.freeSlot(subject);
        throw error;
      },
    );
  };

  return {
    forbid,
    refuse,
    refuseUnknown(code, address, nowMs) {
      countResult(noPlan, code);
      const quota = address === undefined ? null : quotaOf(address, nowMs);
      return { allowed: false, code, plan: null, quota, retryAfterSeconds: null };
    },
    admit(subject, nowMs, operation) {
      const full = budgets.takeSlot(subject, Math.floor(nowMs * 1000));
      if (full === undefined) return takeTokens(subject, nowMs, operation);
      if (!(full instanceof Promise)) return answer(subject, full, operation);
      return full.then((shortage) =>
        shortage === undefined ? takeTokens(subject, now(), operation) : answer(subject, shortage, operation),
      );
    },
    charging(subject, entry) {
      let inAdvance = 1;
      const giveBack = (): void => {
        if (inAdvance > 0) budgets.giveBack(subject, inAdvance);
        inAdvance = 0;
      };
      return {
        ...entry,
        async charge(operation) {
          giveBack();
          const nowMs = now();
          if (!mayCall(subject, operation)) return forbid('operation_not_allowed', subject, nowMs);
          return answer(subject, await take(subject, nowMs, subject.priced.costOf(operation)), operation);
        },
        release() {
          giveBack();
          entry.release();
        },
      };
    },
  };
}

/** The quota is of the rate. A day that is used up leaves nothing of it until its end. */
function quotaOfRefusal(quota: Quota | null, { reason, retryAfterSeconds }: Shortage): Quota | null {
  if (quota === null || reason !== 'day') return quota;
  return { ...quota, remaining: 0, resetSeconds: retryAfterSeconds };
}

/** Returns the terms of get-methods. All callers without a key share one payer, because their number has no bound. */
function methodTermsOf({ name, key, priced }: Subject): MethodTerms {
  return { payer: key === undefined ? 'anonymous' : name, ...priced.plan.getMethods };
}

const nothing = (): void => undefined;
