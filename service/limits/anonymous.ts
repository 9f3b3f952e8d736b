import { createAddresses } from './addresses.ts';
import { timesPlan } from './budget.ts';
import type { PlanWithCosts, Subject } from './callers.ts';
import { addressSubject, siteOf } from './client-address.ts';

/** Callers without a key, by address. */
export type AnonymousCallers = {
  /** Returns the subject whose budget counts for an address. The budget stays the same at least while requests of it are in flight. */
  subject(address: string, nowUs: number): Subject;
  /** Replaces the plan. Use counted so far carries over to the new plan. */
  setPlan(priced: PlanWithCosts): void;
  /** Number of addresses with a cached budget; sites are not counted. */
  readonly size: number;
};

/** A site is an IPv6 /48: the usual allocation to one customer, which has 65,536 networks of /64. */
const BUDGETS_OF_SITE = 16;

/**
 * @param max most addresses, and most sites, with a cached budget
 * @param seed 32 random bits
 */
export function createAnonymousCallers(given: PlanWithCosts, max: number, seed: number): AnonymousCallers {
  let priced = given;
  let sitePriced = pricedForSite(given);
  const addresses = createAddresses(priced.plan, max, seed);
  const sites = createAddresses(sitePriced.plan, max, seed);
  return {
    subject(address, nowUs) {
      const name = addressSubject(address);
      const site = siteOf(name);
      const own = { name, budget: addresses.budget(name, nowUs), priced, key: undefined };
      if (site === undefined) return own;
      return { ...own, site: { name: site, budget: sites.budget(site, nowUs), priced: sitePriced, key: undefined } };
    },
    setPlan(changed) {
      priced = changed;
      sitePriced = pricedForSite(changed);
      addresses.setPlan(priced.plan);
      sites.setPlan(sitePriced.plan);
    },
    get size() {
      return addresses.size;
    },
  };
}

function pricedForSite(priced: PlanWithCosts): PlanWithCosts {
  return { ...priced, plan: timesPlan(priced.plan, BUDGETS_OF_SITE) };
}
