import { randomInt } from 'node:crypto';

import type { Registry } from 'prom-client';

import { createAddresses } from './addresses.ts';
import { newBudget, quotaOf, spend, type Budget } from './budget.ts';
import { addressSubject } from './client-address.ts';
import { LimitsError } from './errors.ts';
import type { Keyring, KeyRow } from './keyring.ts';
import { createLimitsMetrics } from './metrics.ts';
import { defaultAddressesMax, type LimitPlan, type LimitsOptions } from './options.ts';

/** What is asked: may this caller run this operation now? */
export type LimitRequest = {
  /** The API key as sent, whatever it is; undefined when none was sent. */
  readonly key: string | undefined;
  /** The caller's IP address as text, from `clientAddress`. */
  readonly clientAddress: string;
  /** Operation name as in a plan's `methodCosts`, e.g. `getAddressInformation`. */
  readonly operation: string;
  /** How many operations the request holds (elements of a batch); default 1. Multiplies the operation's cost; 0 takes no token and only checks the key. */
  readonly count?: number;
};

/** Where the caller's bucket stands after the decision; null for a plan without a rate limit. */
export type Quota = {
  /** Tokens of a full bucket (the plan's burst). */
  readonly limit: number;
  /** Whole tokens left, never negative. */
  readonly remaining: number;
  /** Whole seconds, rounded up, until the bucket is full again. */
  readonly resetSeconds: number;
};

/** The request may run. `release` must be called once it ended (it frees a place under `maxConcurrent`); more calls do nothing. */
export type Allowed = {
  readonly allowed: true;
  readonly plan: string;
  readonly quota: Quota | null;
  release(): void;
};

/**
 * Why not: `unknown_key` (401 `API key does not exist`: malformed, unknown, wrong secret or expired), `key_required` (401: no key, and the service has no
 * anonymous plan), `network_not_allowed` (403 `Network not allowed`), `rate_limited` (429 `Ratelimit exceeded`).
 */
export type RefusalCode = 'unknown_key' | 'key_required' | 'network_not_allowed' | 'rate_limited';

/** The request must not run. Holds nothing of the key. */
export type Refused = {
  readonly allowed: false;
  readonly code: RefusalCode;
  /** Null when no plan applies (401). */
  readonly plan: string | null;
  readonly quota: Quota | null;
  /** Whole seconds, at least 1, after which the same request may be allowed; null unless `rate_limited`. For `Retry-After`. */
  readonly retryAfterSeconds: number | null;
};

export type Decision = Allowed | Refused;

/** Decides before any work is done. Asynchronous because shared limits may ask another process; in process it settles at once. */
export type Limits = {
  decide(request: LimitRequest): Promise<Decision>;
  close(): Promise<void>;
};

export type LimitsDependencies = {
  readonly keyring: Keyring;
  /** Unix milliseconds, fractions allowed; steps back are borne: `() => performance.timeOrigin + performance.now()`. */
  readonly now: () => number;
  readonly register: Registry;
  /** A whole number below 2^32; default `crypto.randomInt`. */
  readonly seed?: number;
};

/** Limits kept in this process. Throws LimitsError `limit_plan_unknown` when the anonymous plan or a key names a plan that does not exist. */
export function createLimits(options: LimitsOptions, dependencies: LimitsDependencies): Limits {
  const { keyring, now, register } = dependencies;
  const plans = new Map(options.plans.map((plan) => [plan.name, priced(plan)]));
  refuseUnknownPlans(options, keyring, plans);
  const anonymous = options.anonymousPlan === null ? undefined : plans.get(options.anonymousPlan);
  const addresses =
    anonymous &&
    createAddresses(
      anonymous.plan,
      options.addressesMax ?? defaultAddressesMax,
      dependencies.seed ?? randomInt(2 ** 32),
    );
  /** Bounded by the keyring: only keys in it get a budget. */
  const owners = new Map<string, Budget>();
  const metrics = createLimitsMetrics(register, { keys: () => keyring.size, addresses: () => addresses?.size ?? 0 });

  const refuse = (code: Exclude<RefusalCode, 'rate_limited'>, plan: string | null): Refused => {
    metrics.count(plan, code);
    return { allowed: false, code, plan, quota: null, retryAfterSeconds: null };
  };

  const ownerBudget = (row: KeyRow, nowUs: number): Budget => {
    const subject = row.owner === undefined ? `key ${row.id}` : `owner ${row.owner}`;
    let budget = owners.get(subject);
    if (budget === undefined) owners.set(subject, (budget = newBudget(nowUs)));
    return budget;
  };

  const charge = (budget: Budget, { plan, costs }: PricedPlan, request: LimitRequest, nowUs: number): Decision => {
    const tokens = (costs.get(request.operation) ?? 1) * (request.count ?? 1);
    const shortage = spend(budget, plan, nowUs, tokens);
    const quota = quotaOf(budget, plan);
    metrics.count(plan.name, shortage?.reason ?? 'allowed');
    if (shortage !== undefined) {
      const { retryAfterSeconds } = shortage;
      return { allowed: false, code: 'rate_limited', plan: plan.name, quota, retryAfterSeconds };
    }
    return { allowed: true, plan: plan.name, quota, release: releaseOnce(budget) };
  };

  const decide = (request: LimitRequest): Decision => {
    const nowMs = now();
    const nowUs = Math.floor(nowMs * 1000);
    if (request.key === undefined) {
      if (anonymous === undefined || addresses === undefined) return refuse('key_required', null);
      return charge(addresses.budget(addressSubject(request.clientAddress), nowUs), anonymous, request, nowUs);
    }
    const row = keyring.find(request.key, nowMs);
    const plan = row && plans.get(row.plan);
    if (row === undefined || plan === undefined) return refuse('unknown_key', null);
    if (row.networks !== undefined && !row.networks.includes(options.network)) {
      return refuse('network_not_allowed', row.plan);
    }
    return charge(ownerBudget(row, nowUs), plan, request, nowUs);
  };

  return {
    decide: async (request) => decide(request),
    close: async () => owners.clear(),
  };
}

/** Costs as a map: an operation's name comes from outside and must not find what every object inherits. */
type PricedPlan = { readonly plan: LimitPlan; readonly costs: ReadonlyMap<string, number> };

function priced(plan: LimitPlan): PricedPlan {
  return { plan, costs: new Map(Object.entries(plan.methodCosts)) };
}

function releaseOnce(budget: Budget): () => void {
  let held = true;
  return () => {
    if (held) budget.inFlight -= 1;
    held = false;
  };
}

function refuseUnknownPlans(options: LimitsOptions, keyring: Keyring, plans: ReadonlyMap<string, unknown>): void {
  const problems = [...keyring.rows()]
    .filter((row) => !plans.has(row.plan))
    .map((row) => `key ${row.id}: expected a plan that exists, got ${JSON.stringify(row.plan)}`);
  if (options.anonymousPlan !== null && !plans.has(options.anonymousPlan)) {
    problems.unshift(`anonymousPlan: expected a plan that exists, got ${JSON.stringify(options.anonymousPlan)}`);
  }
  if (problems.length > 0) throw new LimitsError('limit_plan_unknown', problems);
}
