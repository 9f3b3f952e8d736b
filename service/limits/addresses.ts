import { budgetFrom, isUnused, newBudget, remainsOf, type Budget } from './budget.ts';
import type { LimitPlan } from './options.ts';

/** Budgets of callers without a key, by address: bounded, though anyone can come from ever new addresses. */
export type Addresses = {
  /** The budget of a subject; stays the same object at least while requests of it are in flight. */
  budget(subject: string, nowUs: number): Budget;
  /** What is left of a budget is counted by another plan from now on. */
  setPlan(plan: LimitPlan): void;
  readonly size: number;
};

/** Slots for what was forgotten: 400 kB. */
const slotCount = 16_384;

/**
 * Remembers the `max` subjects seen last. One that is pushed out before its budget is unused again leaves its remains in a slot chosen by a hash of its
 * name, and whoever is new and falls on that slot starts from there: pushing a busy caller out wins it nothing. Several remains in one slot keep
 * the poorest, so under a flood new callers may start with less, never with more.
 *
 * @param seed 32 random bits, so that nobody can choose names that share a slot with a victim
 */
export function createAddresses(given: LimitPlan, max: number, seed: number): Addresses {
  let plan = given;
  const budgets = new Map<string, Budget>();
  const fullAtUs = new Float64Array(slotCount);
  const days = new Float64Array(slotCount);
  const usedOnDay = new Float64Array(slotCount);

  const recall = (subject: string, nowUs: number): Budget => {
    const slot = slotOf(subject, seed);
    const remains = { fullAtUs: fullAtUs[slot] ?? 0, day: days[slot] ?? 0, usedToday: usedOnDay[slot] ?? 0 };
    return remains.fullAtUs === 0 && remains.day === 0 ? newBudget(nowUs) : budgetFrom(remains, plan, nowUs);
  };

  const leave = (subject: string, budget: Budget): void => {
    const slot = slotOf(subject, seed);
    const remains = remainsOf(budget, plan);
    fullAtUs[slot] = Math.max(fullAtUs[slot] ?? 0, remains.fullAtUs);
    const day = days[slot] ?? 0;
    if (remains.day >= day) {
      usedOnDay[slot] = remains.day === day ? Math.max(usedOnDay[slot] ?? 0, remains.usedToday) : remains.usedToday;
      days[slot] = remains.day;
    }
  };

  /**
   * Points at the one unseen longest: whatever it has passed was dropped or put back at the end. A new iterator for each drop would walk over the places
   * of all that were dropped since the map last grew.
   */
  let oldest = budgets.entries();
  const nextOldest = (): [string, Budget] | undefined => {
    const step = oldest.next();
    if (step.done !== true) return step.value;
    oldest = budgets.entries();
    return oldest.next().value;
  };

  /** Drops the one unseen longest; those with requests in flight are passed over and count as seen, so the overhang is at most what is in flight. */
  const dropOldest = (nowUs: number): void => {
    for (let rest = budgets.size; rest > 0; rest--) {
      const [subject, budget] = nextOldest() ?? [];
      if (subject === undefined || budget === undefined) return;
      budgets.delete(subject);
      if (budget.inFlight === 0) {
        if (!isUnused(budget, plan, nowUs)) leave(subject, budget);
        return;
      }
      budgets.set(subject, budget);
    }
  };

  return {
    budget(subject, nowUs) {
      const known = budgets.get(subject);
      if (known !== undefined) {
        budgets.delete(subject);
        budgets.set(subject, known);
        return known;
      }
      if (budgets.size >= max) dropOldest(nowUs);
      const budget = recall(subject, nowUs);
      budgets.set(subject, budget);
      return budget;
    },
    setPlan(changed) {
      plan = changed;
    },
    get size() {
      return budgets.size;
    },
  };
}

/** FNV-1a over the subject's characters, started from the seed. */
function slotOf(subject: string, seed: number): number {
  let hash = seed ^ 0x811c9dc5;
  for (let index = 0; index < subject.length; index++) {
    hash = Math.imul(hash ^ subject.charCodeAt(index), 0x01000193);
  }
  return (hash ^ (hash >>> 15)) & (slotCount - 1);
}
