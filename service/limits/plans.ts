import { operationNamed } from '../config/operation-names.ts';
import type { PlanWithCosts } from './callers.ts';
import { LimitsError } from './errors.ts';
import type { KeyTerms } from './key-terms.ts';
import { planProblems, type Keyring } from './keyring.ts';
import type { PlanCounts } from './metrics.ts';
import { grantsOf, type LimitPlan, type PlanOptions } from './options.ts';

/** The plans in force. */
export type Plans = {
  readonly anonymous: PlanWithCosts | undefined;
  /** Returns the plan that terms name, with their overrides; undefined when it does not exist. */
  of(terms: KeyTerms): PlanWithCosts | undefined;
};

export function createPlans(options: PlanOptions, countsOf: (plan: string) => PlanCounts): Plans {
  const plans = new Map(options.plans.map((plan) => [plan.name, priced(plan, countsOf(plan.name))]));
  const ofTerms = new WeakMap<KeyTerms, PlanWithCosts>();
  return {
    anonymous: options.anonymousPlan === null ? undefined : plans.get(options.anonymousPlan),
    of(terms) {
      const known = ofTerms.get(terms);
      if (known !== undefined) return known;
      const plan = plans.get(terms.plan);
      if (plan !== undefined) ofTerms.set(terms, overridden(plan, terms));
      return ofTerms.get(terms);
    },
  };
}

/** Throws LimitsError `limit_plan_unknown` when the anonymous plan or a key names a plan that does not exist. */
export function refuseUnknownPlans({ plans, anonymousPlan }: PlanOptions, keyring: Keyring): void {
  const names = new Set(plans.map(({ name }) => name));
  const problems = [...planProblems(keyring.withOtherPlans(names)).data.problems];
  if (anonymousPlan !== null && !names.has(anonymousPlan)) {
    problems.unshift(`anonymousPlan: expected a plan that exists, got ${JSON.stringify(anonymousPlan)}`);
  }
  if (problems.length > 0) throw new LimitsError('limit_plan_unknown', problems);
}

/**
 * Costs as a map. An operation name is input from outside and must not find properties inherited from Object. A cost may name an alias. The
 * operation's own name comes first.
 */
function priced(plan: LimitPlan, counts: PlanCounts): PlanWithCosts {
  const given = Object.entries(plan.methodCosts);
  const ofAliases = given.map(([name, cost]): [string, number] => [operationNamed(name) ?? name, cost]);
  const costs = new Map([...ofAliases, ...given]);
  const costOf = costs.size === 0 ? () => 1 : (operation: string) => costs.get(operation) ?? 1;
  return { name: plan.name, plan, counts, grants: grantsOf(plan), costOf };
}

/** Applies the overrides of a key. A burst below the rate would make the rate unreachable, so the burst is raised to the rate. */
function overridden(base: PlanWithCosts, { overrides }: KeyTerms): PlanWithCosts {
  if (overrides === undefined) return base;
  const requestsPerSecond = overrides.requestsPerSecond ?? base.plan.requestsPerSecond;
  const burst = Math.max(requestsPerSecond, overrides.burst ?? base.plan.burst);
  return { ...base, plan: { ...base.plan, requestsPerSecond, burst } };
}
