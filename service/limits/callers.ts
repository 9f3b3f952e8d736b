import type { PlanCounts } from './metrics.ts';
import type { Budget } from './budget.ts';
import type { FoundKey } from './keyring.ts';
import type { Grants, LimitPlan } from './options.ts';

/** Plan with the values derived from it that a decision needs. */
export type PlanWithCosts = {
  readonly name: string;
  readonly plan: LimitPlan;
  readonly counts: PlanCounts;
  readonly grants: Grants;
  costOf(operation: string): number;
};

/** Subject of a request: the budget that pays, its prices, and the key. */
export type Subject = {
  readonly name: string;
  readonly budget: Budget;
  readonly priced: PlanWithCosts;
  readonly key: FoundKey | undefined;
  /** IPv6 /48 of a caller without a key. The budget of the /48 is charged too. */
  readonly site?: Subject;
};

/** Cache of the subjects of valid keys, by the key as sent. */
export type Callers = {
  get(key: string): Subject | undefined;
  set(key: string, subject: Subject): void;
  readonly clear: () => void;
};

/** Most keys in use at one pod: 20 MB. */
const CALLERS_MAX = 20_000;

/**
 * Caches valid keys as sent, so that a repeated key needs no hash. The cache is in memory only, bounded, and cleared when keys or plans change. A
 * caller cannot find a key by timing. A cache hit compares the whole text, and a miss falls back to the constant-time compare of hashes. When the
 * younger half of the cache is full, the older half is dropped. No order of use is needed.
 */
export function createCallers(): Callers {
  let young = new Map<string, Subject>();
  let old = new Map<string, Subject>();
  const set = (key: string, subject: Subject): void => {
    if (young.size >= CALLERS_MAX / 2) {
      old = young;
      young = new Map();
    }
    young.set(key, subject);
  };
  return {
    get(key) {
      const found = young.get(key);
      if (found !== undefined) return found;
      const older = old.get(key);
      if (older !== undefined) set(key, older);
      return older;
    },
    set,
    clear() {
      young.clear();
      old.clear();
    },
  };
}
