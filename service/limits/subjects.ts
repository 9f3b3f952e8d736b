import { createAnonymousCallers } from './anonymous.ts';
import { createCallers, type Subject } from './callers.ts';
import type { Keyring } from './keyring.ts';
import type { PlanCounts } from './metrics.ts';
import { DEFAULT_ADDRESSES_MAX, type LimitsOptions, type PlanOptions } from './options.ts';
import { createOwnerBudgets } from './owner-budgets.ts';
import { createPlans } from './plans.ts';

/** Subjects of callers: the budgets of addresses, keys and owners, with their plans. */
export type Subjects = {
  /** Returns the subject of a caller without a key; undefined if a key is required. */
  ofAddress(address: string, nowMs: number): Subject | undefined;
  /** Returns the subject of a key in force. @param sent the key as sent */
  ofKey(sent: string, nowMs: number): Subject | undefined;
  /** Replaces the plans. Use counted so far carries over. */
  setPlans(plans: PlanOptions): void;
  /** Number of addresses with a cached budget. */
  readonly addresses: number;
};

export type SubjectsOptions = LimitsOptions & {
  /** 32 random bits. */
  readonly seed: number;
};

export type SubjectsDependencies = {
  readonly keyring: Keyring;
  readonly countsOf: (plan: string) => PlanCounts;
  readonly isRevoked: (keyId: string) => boolean;
};

export function createSubjects(
  options: SubjectsOptions,
  { keyring, countsOf, isRevoked }: SubjectsDependencies,
): Subjects {
  const callers = createCallers();
  const owners = createOwnerBudgets(() => keyring.size, callers.clear);
  let plans = createPlans(options, countsOf);
  let anonymous = createAnonymous();
  let keyringVersion = keyring.version;

  function createAnonymous() {
    const { addressesMax = DEFAULT_ADDRESSES_MAX, seed } = options;
    return plans.anonymous && createAnonymousCallers(plans.anonymous, addressesMax, seed);
  }

  /** Returns the subject of a valid key, also after the end of the key. */
  function find(sent: string, nowMs: number): Subject | undefined {
    const cached = callers.get(sent);
    if (cached !== undefined) return cached;
    const key = keyring.find(sent, nowMs);
    const priced = key && plans.of(key.terms);
    if (key === undefined || priced === undefined) return undefined;
    const { owner } = key.terms;
    const name = owner === undefined ? `key ${key.id}` : `owner ${owner}`;
    const subject = { name, budget: owners.budget(name, priced.plan, Math.floor(nowMs * 1000)), priced, key };
    callers.set(sent, subject);
    return subject;
  }

  return {
    ofAddress: (address, nowMs) => anonymous?.subject(address, Math.floor(nowMs * 1000)),
    ofKey(sent, nowMs) {
      if (keyringVersion !== keyring.version) {
        keyringVersion = keyring.version;
        callers.clear();
      }
      const subject = find(sent, nowMs);
      const key = subject?.key;
      const isOver = key?.terms.notAfterMs !== undefined && nowMs >= key.terms.notAfterMs;
      return isOver || (key !== undefined && isRevoked(key.id)) ? undefined : subject;
    },
    setPlans(changed) {
      plans = createPlans(changed, countsOf);
      callers.clear();
      if (plans.anonymous === undefined || anonymous === undefined) anonymous = createAnonymous();
      else anonymous.setPlan(plans.anonymous);
    },
    get addresses() {
      return anonymous?.size ?? 0;
    },
  };
}
