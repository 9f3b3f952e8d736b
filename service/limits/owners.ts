import { isUnused, newBudget, type Budget } from './budget.ts';
import type { LimitPlan } from './options.ts';

/** Budgets of keys that are gone, kept before they are looked through. */
const ownersSpare = 1000;

/** Budgets of keys and owners. Those of keys that are gone are swept out once they are unused and outnumber the keys there are. */
export function createOwners(keys: () => number, onSweep: () => void) {
  const owners = new Map<string, { readonly budget: Budget; readonly plan: LimitPlan }>();
  let sweepAt = 0;
  const sweep = (nowUs: number): void => {
    for (const [name, { budget, plan }] of owners) if (isUnused(budget, plan, nowUs)) owners.delete(name);
    // Whoever holds a budget that is no longer here would count apart from who asks for it next.
    onSweep();
    sweepAt = owners.size + ownersSpare;
  };
  return {
    budget(name: string, plan: LimitPlan, nowUs: number): Budget {
      const known = owners.get(name);
      if (known !== undefined) return known.budget;
      if (owners.size >= Math.max(sweepAt, keys() + ownersSpare)) sweep(nowUs);
      const budget = newBudget(nowUs);
      owners.set(name, { budget, plan });
      return budget;
    },
  };
}
