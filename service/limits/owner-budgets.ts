import { isUnused, newBudget, type Budget } from './budget.ts';
import type { LimitPlan } from './options.ts';

/** Budgets of removed keys that stay before the next sweep. */
const OWNERS_SPARE = 1000;

/** Budgets of keys and owners. A sweep removes unused budgets of removed keys once they outnumber the keys in force. */
export function createOwnerBudgets(keys: () => number, onSweep: () => void) {
  const owners = new Map<string, { readonly budget: Budget; readonly plan: LimitPlan }>();
  let sweepAt = 0;
  const sweep = (nowUs: number): void => {
    for (const [name, { budget, plan }] of owners) if (isUnused(budget, plan, nowUs)) owners.delete(name);
    // A cached subject with a swept budget would count apart from the next request of the key.
    onSweep();
    sweepAt = owners.size + OWNERS_SPARE;
  };
  return {
    budget(name: string, plan: LimitPlan, nowUs: number): Budget {
      const known = owners.get(name);
      if (known !== undefined) return known.budget;
      if (owners.size >= Math.max(sweepAt, keys() + OWNERS_SPARE)) sweep(nowUs);
      const budget = newBudget(nowUs);
      owners.set(name, { budget, plan });
      return budget;
    },
  };
}
