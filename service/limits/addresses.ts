import { budgetFrom, isUnused, newBudget, remainsOf, type Budget } from './budget.ts';
import type { LimitPlan } from './options.ts';

/** Budgets of callers without a key, by address. Their number is bounded, because an attacker can use any number of addresses. */
export type Addresses = {
  /** Returns the budget of a subject. The object stays the same at least while requests of the subject are in flight. */
  budget(subject: string, nowUs: number): Budget;
  /** Replaces the plan. Use counted so far carries over to the new plan. */
  setPlan(plan: LimitPlan): void;
  readonly size: number;
};

/** Hash slots for the remainders of evicted budgets: 400 kB. */
const SLOT_COUNT = 16_384;

/**
 * Part of the budgets that leave together: 500 of 50,000 take some 0.1 ms. The search for the oldest budget passes all holes that earlier evictions
 * left in the map, so a search serves many evictions.
 */
const EVICTED_PART = 0.01;

/**
 * Caches the budgets of the `max` subjects seen last. A subject evicted before its budget refilled leaves the remainder in a hash slot. A new subject
 * in that slot inherits the remainder, so evicting a busy caller gains it nothing. A slot shared by several remainders keeps the poorest. Under a
 * flood new callers may start with less, never with more.
 *
 * @param seed 32 random bits, so that an attacker cannot choose names that share a slot with a victim
 */
export function createAddresses(given: LimitPlan, max: number, seed: number): Addresses {
  let plan = given;
  const budgets = new Map<string, Budget>();
  const fullAtUs = new Float64Array(SLOT_COUNT);
  const days = new Float64Array(SLOT_COUNT);
  const usedOnDay = new Float64Array(SLOT_COUNT);

  const recall = (subject: string, nowUs: number): Budget => {
    const slot = slotOf(subject, seed);
    const remains = { fullAtUs: fullAtUs[slot]!, day: days[slot]!, usedToday: usedOnDay[slot]! };
    return remains.fullAtUs === 0 && remains.day === 0 ? newBudget(nowUs) : budgetFrom(remains, plan, nowUs);
  };

  const leave = (subject: string, budget: Budget): void => {
    const slot = slotOf(subject, seed);
    const remains = remainsOf(budget, plan);
    fullAtUs[slot] = Math.max(fullAtUs[slot]!, remains.fullAtUs);
    const day = days[slot]!;
    if (remains.day >= day) {
      usedOnDay[slot] = remains.day === day ? Math.max(usedOnDay[slot]!, remains.usedToday) : remains.usedToday;
      days[slot] = remains.day;
    }
  };

  /**
   * Evicts the subjects unseen longest. Subjects with requests in flight are skipped and count as seen. The map exceeds `max` by at most the number
   * of requests in flight.
   */
  const evictOldest = (nowUs: number): void => {
    let left = Math.ceil(max * EVICTED_PART);
    let unchecked = budgets.size;
    for (const [subject, budget] of budgets) {
      budgets.delete(subject);
      if (budget.inFlight > 0) budgets.set(subject, budget);
      else {
        if (!isUnused(budget, plan, nowUs)) leave(subject, budget);
        left--;
      }
      if (left === 0 || --unchecked === 0) return;
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
      if (budgets.size >= max) evictOldest(nowUs);
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
  return (hash ^ (hash >>> 15)) & (SLOT_COUNT - 1);
}
