import type { PlanCounts } from './metrics.ts';
import type { Budget } from './budget.ts';
import type { FoundKey } from './keyring.ts';
import type { Grants, LimitPlan } from './options.ts';

/** A plan with what a decision needs of it at hand. */
export type PricedPlan = {
  readonly name: string;
  readonly plan: LimitPlan;
  readonly counts: PlanCounts;
  readonly grants: Grants;
  costOf(operation: string): number;
};

/** Whose budget a request is charged to, at what prices, by which key. */
export type Subject = {
  readonly name: string;
  readonly budget: Budget;
  readonly priced: PricedPlan;
  readonly key: FoundKey | undefined;
  /** The IPv6 /48 of a caller without a key: its budget counts too. */
  readonly site?: Subject;
};

/** Subjects of keys that were found good, by the key as sent. */
export type Callers = {
  get(key: string): Subject | undefined;
  set(key: string, subject: Subject): void;
  readonly clear: () => void;
};

/** 20 MB at most: the keys in use at one pod. */
const callersMax = 20_000;

/**
 * Spares a key that is asked about again its hash. It holds keys as sent: in memory only, bounded, and dropped when keys or plans change. Whoever does
 * not know a key does not find it: a look compares the whole text, and a first look goes by the constant-time compare of hashes. Two halves, of
 * which the older is dropped when the younger is full: the bound costs no order of use.
 */
export function createCallers(): Callers {
  let young = new Map<string, Subject>();
  let old = new Map<string, Subject>();
  const set = (key: string, subject: Subject): void => {
    if (young.size >= callersMax / 2) {
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
