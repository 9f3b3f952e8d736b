import { randomInt } from 'node:crypto';

import type { Registry } from 'prom-client';

import { createAddresses } from './addresses.ts';
import { isUnused, newBudget, takePlace, type Budget, type Shortage } from './budget.ts';
import { ownBudgets, type Budgets } from './budgets.ts';
import { addressSubject } from './client-address.ts';
import { LimitsError } from './errors.ts';
import type { KeyTerms } from './key-table.ts';
import { inSources } from './key-terms.ts';
import { planProblems, type FoundKey, type Keyring } from './keyring.ts';
import { parseKey } from './keys.ts';
import { createLimitsMetrics } from './metrics.ts';
import { defaultAddressesMax, type LimitPlan, type LimitsOptions } from './options.ts';
import { createOwnUsage, type Usage, type UsageCounter } from './usage.ts';

/** Who asks. */
export type LimitCaller = {
  /** The API key as sent, whatever it is; undefined when none was sent. */
  readonly key: string | undefined;
  /** The caller's IP address as text, from `clientAddress`. */
  readonly clientAddress: string;
};

/** What is asked: may this caller run this operation now? */
export type LimitRequest = LimitCaller & {
  /** Operation name as in a plan's `methodCosts`, e.g. `getAddressInformation`. */
  readonly operation: string;
};

/** Where the caller's bucket stands after the decision; null for a plan without a rate limit. */
export type Quota = {
  /** Tokens of a full bucket (the plan's burst). */
  readonly limit: number;
  /** Whole tokens left, never negative. */
  readonly remaining: number;
  /** Whole seconds, rounded up, until the bucket is full again. */
  readonly resetSeconds: number;
  /** Whole seconds, rounded up, in which an empty bucket fills. */
  readonly windowSeconds: number;
};

/** The request may run. `release` must be called once it ended (it frees a place under `maxConcurrent`); more calls do nothing. */
export type Allowed = {
  readonly allowed: true;
  readonly plan: string;
  readonly quota: Quota | null;
  release(): void;
};

/**
 * Why not: `unknown_key` (401 `API key does not exist`: malformed, unknown, wrong secret, expired or revoked), `key_required` (401: no key, and the
 * service has no anonymous plan), `network_not_allowed` (403 `Network not allowed`), `source_not_allowed` and `operation_not_allowed` (403: the key is
 * for other addresses or operations), `rate_limited` (429 `Ratelimit exceeded`), `limits_unavailable` (503: the shared limits are away and the
 * manifest says to refuse then).
 */
export type RefusalCode =
  | 'unknown_key'
  | 'key_required'
  | 'network_not_allowed'
  | 'source_not_allowed'
  | 'operation_not_allowed'
  | 'rate_limited'
  | 'limits_unavailable';

/** The request must not run. Holds nothing of the key. */
export type Refused = {
  readonly allowed: false;
  readonly code: RefusalCode;
  /** Null when no plan applies (401). */
  readonly plan: string | null;
  readonly quota: Quota | null;
  /** Whole seconds, at least 1, after which the same request may be allowed; null where waiting does not help. For `Retry-After`. */
  readonly retryAfterSeconds: number | null;
};

export type Decision = Allowed | Refused;

/**
 * A caller let in before it is known which operations it wants: holds one place, and one token in advance where the plan has a rate, so that a refusal
 * comes before the body is read and the first operation costs no second question.
 */
export type Entered = {
  readonly allowed: true;
  readonly plan: string;
  readonly quota: Quota | null;
  /** Takes what the operation costs; the token taken in advance counts towards the first. The place stays that of the entry. */
  charge(operation: string): Promise<Decision>;
  /** Frees the place and gives back a token that was not used; more calls do nothing. */
  release(): void;
};

/** Decides before any work is done. Asynchronous because shared limits may ask another process; in process it settles at once. */
export type Limits = {
  /** One step: for requests whose operation is known. */
  decide(request: LimitRequest): Promise<Decision>;
  /** Two steps: for requests that name their operations in the body. */
  enter(caller: LimitCaller): Promise<Entered | Refused>;
  /** What the caller's key did today; refused as any request with it would be, and takes a token. */
  usage(caller: LimitCaller): Promise<(Allowed & { readonly keyId: string; readonly usage: Usage }) | Refused>;
  close(): Promise<void>;
};

export type LimitsDependencies = {
  readonly keyring: Keyring;
  /** Unix milliseconds, fractions allowed; steps back are borne: `() => performance.timeOrigin + performance.now()`. */
  readonly now: () => number;
  readonly register: Registry;
  /** A whole number below 2^32; default `crypto.randomInt`. */
  readonly seed?: number;
  /** What all pods share; default: this process has limits of its own. */
  readonly shared?: SharedParts;
};

/** The parts of limits that a store shared by all pods gives. */
export type SharedParts = {
  readonly budgets: Budgets;
  readonly usage: UsageCounter;
  isRevoked(keyId: string): boolean;
  close(): Promise<void>;
};

/** What the usage of a key is charged as, and known by in `allowedMethods`. */
export const usageOperation = 'usage';

/** Throws LimitsError `limit_plan_unknown` when the anonymous plan or a key names a plan that does not exist. */
export function createLimits(options: LimitsOptions, dependencies: LimitsDependencies): Limits {
  const { keyring, now, register, shared } = dependencies;
  const budgets = shared?.budgets ?? ownBudgets;
  const usage = shared?.usage ?? createOwnUsage();
  const plans = new Map(options.plans.map((plan) => [plan.name, priced(plan)]));
  refuseUnknownPlans(options, keyring, new Set(plans.keys()));
  const anonymous = options.anonymousPlan === null ? undefined : plans.get(options.anonymousPlan);
  const addresses =
    anonymous &&
    createAddresses(
      anonymous.plan,
      options.addressesMax ?? defaultAddressesMax,
      dependencies.seed ?? randomInt(2 ** 32),
    );
  const plansOfTerms = new WeakMap<KeyTerms, PricedPlan>();
  const owners = createOwners(() => keyring.size);
  const metrics = createLimitsMetrics(register, { keys: () => keyring.size, addresses: () => addresses?.size ?? 0 });

  const refuse = (code: RefusalCode, plan: string | null): Refused => {
    metrics.count(plan, code);
    return { allowed: false, code, plan, quota: null, retryAfterSeconds: null };
  };

  const planOf = (terms: KeyTerms): PricedPlan | undefined => {
    const known = plansOfTerms.get(terms);
    if (known !== undefined) return known;
    const plan = plans.get(terms.plan);
    if (plan !== undefined) plansOfTerms.set(terms, overridden(plan, terms));
    return plansOfTerms.get(terms);
  };

  /** Whose budget counts, or why the caller gets none. */
  const identify = (caller: LimitCaller, nowMs: number): Subject | Refused => {
    const nowUs = Math.floor(nowMs * 1000);
    if (caller.key === undefined) {
      if (anonymous === undefined || addresses === undefined) return refuse('key_required', null);
      const name = addressSubject(caller.clientAddress);
      return { name, budget: addresses.budget(name, nowUs), priced: anonymous, key: undefined };
    }
    const key = keyring.find(caller.key, nowMs);
    const plan = key && planOf(key.terms);
    if (key === undefined || plan === undefined || shared?.isRevoked(key.id) === true) {
      return refuse('unknown_key', null);
    }
    const { networks, allowedSources, owner } = key.terms;
    if (networks !== undefined && !networks.includes(options.network)) return refuse('network_not_allowed', plan.name);
    if (allowedSources !== undefined && !inSources(allowedSources, caller.clientAddress)) {
      return refuse('source_not_allowed', plan.name);
    }
    const name = owner === undefined ? `key ${key.id}` : `owner ${owner}`;
    return { name, budget: owners.budget(name, plan.plan, nowUs), priced: plan, key };
  };

  const answer = (subject: Subject, shortage: Shortage | undefined, operation: string | null): Decision => {
    const { budget, priced: plan, key } = subject;
    const nowMs = now();
    const quota = budgets.quota(budget, plan.plan, Math.floor(nowMs * 1000));
    if (shortage === undefined) {
      if (operation !== null) {
        metrics.count(plan.name, 'allowed');
        if (key !== undefined) usage.count(key.id, operation, nowMs);
      }
      return { allowed: true, plan: plan.name, quota, release: nothing };
    }
    metrics.count(plan.name, shortage.reason);
    if (key !== undefined) usage.count(key.id, null, nowMs);
    const code = shortage.reason === 'unavailable' ? 'limits_unavailable' : 'rate_limited';
    return { allowed: false, code, plan: plan.name, quota, retryAfterSeconds: shortage.retryAfterSeconds };
  };

  const take = (subject: Subject, tokens: number) => {
    const nowUs = Math.floor(now() * 1000);
    return budgets.take(subject.name, subject.budget, subject.priced.plan, nowUs, tokens);
  };

  /** Takes a place, then tokens; `operation` null: one token in advance. */
  const admit = async (subject: Subject, operation: string | null): Promise<Decision> => {
    const { budget, priced: plan } = subject;
    const full = takePlace(budget, plan.plan);
    if (full !== undefined) return answer(subject, full, operation);
    let shortage: Shortage | undefined;
    try {
      const taken = take(subject, operation === null ? 1 : plan.costOf(operation));
      shortage = taken instanceof Promise ? await taken : taken;
    } catch (error) {
      budget.inFlight -= 1;
      throw error;
    }
    const decision = answer(subject, shortage, operation);
    if (!decision.allowed) {
      budget.inFlight -= 1;
      return decision;
    }
    return { ...decision, release: once(() => (budget.inFlight -= 1)) };
  };

  const charging = (subject: Subject, entry: Allowed): Entered => {
    let inAdvance = 1;
    const settle = (): void => {
      if (inAdvance > 0) budgets.giveBack(subject.budget, inAdvance);
      inAdvance = 0;
    };
    return {
      ...entry,
      async charge(operation) {
        settle();
        if (!mayCall(subject, operation)) return refuse('operation_not_allowed', subject.priced.name);
        return answer(subject, await take(subject, subject.priced.costOf(operation)), operation);
      },
      release() {
        settle();
        entry.release();
      },
    };
  };

  const decide = async (request: LimitRequest): Promise<Decision> => {
    const subject = identify(request, now());
    if ('allowed' in subject) return subject;
    if (!mayCall(subject, request.operation)) return refuse('operation_not_allowed', subject.priced.name);
    return admit(subject, request.operation);
  };

  return {
    decide,
    async enter(caller) {
      const subject = identify(caller, now());
      if ('allowed' in subject) return subject;
      const entry = await admit(subject, null);
      return entry.allowed ? charging(subject, entry) : entry;
    },
    async usage(caller) {
      if (caller.key === undefined) return refuse('key_required', null);
      const decision = await decide({ ...caller, operation: usageOperation });
      if (!decision.allowed) return decision;
      const id = parseKey(caller.key)?.id ?? '';
      return { ...decision, keyId: id, usage: await usage.read(id, now()) };
    },
    async close() {
      keyring.close();
      await usage.close();
      await shared?.close();
    },
  };
}

/** Whose budget a request is charged to, at what prices, by which key. */
type Subject = {
  readonly name: string;
  readonly budget: Budget;
  readonly priced: PricedPlan;
  readonly key: FoundKey | undefined;
};

function mayCall({ key }: Subject, operation: string): boolean {
  return key?.terms.allowedMethods?.has(operation) ?? true;
}

type PricedPlan = { readonly name: string; readonly plan: LimitPlan; costOf(operation: string): number };

/** Costs as a map: an operation's name comes from outside and must not find what every object inherits. */
function priced(plan: LimitPlan): PricedPlan {
  const costs = new Map(Object.entries(plan.methodCosts));
  return { name: plan.name, plan, costOf: (operation) => costs.get(operation) ?? 1 };
}

/** A burst below the rate would make the rate out of reach: it is raised to it. */
function overridden(base: PricedPlan, { overrides }: KeyTerms): PricedPlan {
  if (overrides === undefined) return base;
  const requestsPerSecond = overrides.requestsPerSecond ?? base.plan.requestsPerSecond;
  const burst = Math.max(requestsPerSecond, overrides.burst ?? base.plan.burst);
  return { ...base, plan: { ...base.plan, requestsPerSecond, burst } };
}

/** Budgets of keys and owners. Those of keys that are gone are swept out once they are unused and outnumber the keys there are. */
function createOwners(keys: () => number) {
  const owners = new Map<string, { readonly budget: Budget; readonly plan: LimitPlan }>();
  const sweep = (nowUs: number): void => {
    for (const [name, { budget, plan }] of owners) if (isUnused(budget, plan, nowUs)) owners.delete(name);
  };
  return {
    budget(name: string, plan: LimitPlan, nowUs: number): Budget {
      const known = owners.get(name);
      if (known !== undefined) return known.budget;
      if (owners.size >= keys() + ownersSpare) sweep(nowUs);
      const budget = newBudget(nowUs);
      owners.set(name, { budget, plan });
      return budget;
    },
  };
}

/** Budgets of keys that are gone, kept before they are looked through. */
const ownersSpare = 1000;

const nothing = (): void => undefined;

function once(act: () => void): () => void {
  let done = false;
  return () => {
    if (!done) act();
    done = true;
  };
}

function refuseUnknownPlans(options: LimitsOptions, keyring: Keyring, plans: ReadonlySet<string>): void {
  const problems = [...planProblems(keyring.withOtherPlans(plans)).data.problems];
  if (options.anonymousPlan !== null && !plans.has(options.anonymousPlan)) {
    problems.unshift(`anonymousPlan: expected a plan that exists, got ${JSON.stringify(options.anonymousPlan)}`);
  }
  if (problems.length > 0) throw new LimitsError('limit_plan_unknown', problems);
}
