import { randomInt } from 'node:crypto';

import type { Registry } from 'prom-client';

import { createAnonymousCallers } from './anonymous.ts';
import type { Shortage } from './budget.ts';
import { ownBudgets, type Budgets } from './budgets.ts';
import { createCallers, type Subject } from './callers.ts';
import { inSources } from './key-terms.ts';
import type { Keyring } from './keyring.ts';
import { countResult, createLimitsMetrics } from './metrics.ts';
import {
  DEFAULT_ADDRESSES_MAX,
  type Grants,
  type LimitsOptions,
  type MethodTerms,
  type OnRedisFailure,
  type PlanOptions,
} from './options.ts';
import { createOwnerBudgets } from './owner-budgets.ts';
import { createPlans, refuseUnknownPlans } from './plans.ts';
import { createSubjectBudgets } from './subject-budgets.ts';
import { createOwnUsage, type Usage, type UsageCounter } from './usage.ts';

/** Caller of a request, as far as limits need it. */
export type LimitCaller = {
  /** API key as sent, even if malformed; undefined when none was sent. */
  readonly key: string | undefined;
  /** The caller's IP address as text, from `clientAddress`. */
  readonly clientAddress: string;
};

/** Request for a decision: may this caller run this operation now? */
export type LimitRequest = LimitCaller & {
  /** Operation name as in a plan's `methodCosts`, e.g. `getAddressInformation`. */
  readonly operation: string;
};

/** State of the caller's bucket after the decision; null for a plan without a rate limit. */
export type Quota = {
  readonly policy: string;
  /** Tokens of a full bucket (the plan's burst). */
  readonly limit: number;
  /** Whole tokens left, never negative. */
  readonly remaining: number;
  /** Whole seconds, rounded up, until the bucket is full again. */
  readonly resetSeconds: number;
  /** Whole seconds, rounded up, in which an empty bucket fills. */
  readonly windowSeconds: number;
};

/**
 * Decision that admits the request. The caller must call `release` when the request ends; it frees a slot of `maxConcurrent`. Further calls do
 * nothing.
 */
export type Allowed = {
  readonly allowed: true;
  readonly plan: string;
  readonly grants: Grants;
  readonly getMethods: MethodTerms;
  readonly quota: Quota | null;
  release(): void;
};

/**
 * Reason of a refusal.
 * - `unknown_key` (401 `API key does not exist`): malformed, unknown, wrong secret, expired or revoked.
 * - `key_required` (401): no key, and the service has no anonymous plan.
 * - `network_not_allowed` (403 `Network not allowed`).
 * - `source_not_allowed` and `operation_not_allowed` (403): the key is for other addresses or operations.
 * - `rate_limited` (429 `Ratelimit exceeded`).
 * - `limits_unavailable` (503): the shared limits are unavailable, and the manifest says to refuse in that case.
 */
export type RefusalCode =
  | 'unknown_key'
  | 'key_required'
  | 'network_not_allowed'
  | 'source_not_allowed'
  | 'operation_not_allowed'
  | 'rate_limited'
  | 'limits_unavailable';

/** Decision that refuses the request. Contains nothing of the key. */
export type Refused = {
  readonly allowed: false;
  readonly code: RefusalCode;
  /** Null when no plan applies (401). */
  readonly plan: string | null;
  /** State of the bucket. If no plan applies, the bucket is that of the address without a key. */
  readonly quota: Quota | null;
  /** Whole seconds, at least 1, until the same request may be allowed; null when waiting does not help. For `Retry-After`. */
  readonly retryAfterSeconds: number | null;
  /** Text that explains how to get a key, for a caller without a key (`LimitsOptions.keyHint`). */
  readonly keyHint?: string | undefined;
};

export type Decision = Allowed | Refused;

/**
 * Caller admitted before its operations are known. Takes one slot, and one token in advance if the plan has a rate. A refusal therefore comes before
 * the body is read, and the first operation needs no second query to the store.
 */
export type Entered = Omit<Allowed, 'release'> & {
  /** Takes the cost of the operation. The token taken in advance counts towards the first operation. The slot stays that of the entry. */
  charge(operation: string): Promise<Decision>;
  /** Frees the slot and puts back an unused token. Further calls do nothing. */
  release(): void;
};

/** Decides before any work is done. The result is asynchronous because shared limits may ask Redis; limits in process settle at once. */
export type Limits = {
  /** Decides in one step, for requests whose operation is known. */
  decide(request: LimitRequest): Promise<Decision>;
  /**
   * Returns a refusal for lack of tokens that is certain without asking the store, and counts it. Returns undefined, and counts nothing, if `decide`
   * must be called.
   */
  readonly refusal: (request: LimitRequest) => Refused | undefined;
  /** Admits in two steps, for requests that name their operations in the body. */
  enter(caller: LimitCaller): Promise<Entered | Refused>;
  /** Returns today's use of the caller's key. Takes a token, and refuses like any request with the key. */
  usage(caller: LimitCaller): Promise<(Allowed & { readonly keyId: string; readonly usage: Usage }) | Refused>;
  /** Returns the caller's quota for answers to free requests; null when no limit applies. Takes and counts nothing. */
  standing(caller: LimitCaller): Quota | null;
  /**
   * Replaces the plans. Use counted so far carries over.
   * @throws LimitsError `limit_plan_unknown` like `createLimits`; nothing changes then
   */
  setPlans(plans: PlanOptions): void;
  setOnRedisFailure(rule: OnRedisFailure): void;
  close(): Promise<void>;
};

export type LimitsDependencies = {
  readonly keyring: Keyring;
  /** Unix milliseconds, fractions allowed. The clock may step back: `() => performance.timeOrigin + performance.now()`. */
  readonly now: () => number;
  readonly register: Registry;
  /** A whole number below 2^32; default `crypto.randomInt`. */
  readonly seed?: number;
  /** State shared by all pods. By default this process has limits of its own. */
  readonly shared?: SharedParts;
};

/** Parts of limits that are provided by a store shared by all pods. */
export type SharedParts = {
  readonly budgets: Budgets;
  readonly usage: UsageCounter;
  isRevoked(keyId: string): boolean;
  setOnRedisFailure(rule: OnRedisFailure): void;
  close(): Promise<void>;
};

/** Operation name of a usage request, for its price and for `allowedMethods`. */
export const usageOperation = 'usage';

/** Throws LimitsError `limit_plan_unknown` when the anonymous plan or a key names a plan that does not exist. */
export function createLimits(options: LimitsOptions, dependencies: LimitsDependencies): Limits {
  const { keyring, now, register, shared } = dependencies;
  const budgets = createSubjectBudgets(shared?.budgets ?? ownBudgets);
  const usage = shared?.usage ?? createOwnUsage();
  refuseUnknownPlans(options, keyring);
  const metrics = createLimitsMetrics(register, { keys: () => keyring.size, addresses: () => anonymous?.size ?? 0 });
  const seed = dependencies.seed ?? randomInt(2 ** 32);
  const callers = createCallers();
  const owners = createOwnerBudgets(() => keyring.size, callers.clear);
  let plans = createPlans(options, metrics.countsOf);
  let anonymous = anonymousOf();
  let keyringVersion = keyring.version;
  const noPlan = metrics.countsOf(null);

  function anonymousOf() {
    return (
      plans.anonymous && createAnonymousCallers(plans.anonymous, options.addressesMax ?? DEFAULT_ADDRESSES_MAX, seed)
    );
  }

  const quotaOfSubject = (subject: Subject, nowMs: number): Quota | null =>
    budgets.quota(subject, Math.floor(nowMs * 1000));

  /** Returns the subject of a caller without a key; undefined if a key is required. */
  const addressOf = (address: string, nowMs: number): Subject | undefined =>
    anonymous?.subject(address, Math.floor(nowMs * 1000));

  /** Returns the subject of a key in force. */
  const keyOf = (sent: string, nowMs: number): Subject | undefined => {
    if (keyringVersion !== keyring.version) {
      keyringVersion = keyring.version;
      callers.clear();
    }
    let subject = callers.get(sent);
    if (subject === undefined) {
      const key = keyring.find(sent, nowMs);
      const priced = key && plans.of(key.terms);
      if (key === undefined || priced === undefined) return undefined;
      const { owner } = key.terms;
      const name = owner === undefined ? `key ${key.id}` : `owner ${owner}`;
      subject = { name, budget: owners.budget(name, priced.plan, Math.floor(nowMs * 1000)), priced, key };
      callers.set(sent, subject);
    }
    const { key } = subject;
    const isOver = key?.terms.notAfterMs !== undefined && nowMs >= key.terms.notAfterMs;
    return isOver || (key !== undefined && shared?.isRevoked(key.id) === true) ? undefined : subject;
  };

  const refuseUnknown = (code: 'unknown_key' | 'key_required', caller: LimitCaller, nowMs: number): Refused => {
    countResult(noPlan, code);
    const address = addressOf(caller.clientAddress, nowMs);
    const quota = address === undefined ? null : quotaOfSubject(address, nowMs);
    return { allowed: false, code, plan: null, quota, retryAfterSeconds: null };
  };

  const forbid = (code: Forbidden, subject: Subject, nowMs: number): Refused => {
    const { priced } = subject;
    countResult(priced.counts, code);
    return { allowed: false, code, plan: priced.name, quota: quotaOfSubject(subject, nowMs), retryAfterSeconds: null };
  };

  const forbiddenTo = ({ terms }: NonNullable<Subject['key']>, clientAddress: string): Forbidden | undefined => {
    const { networks, allowedSources } = terms;
    if (networks !== undefined && !networks.includes(options.network)) return 'network_not_allowed';
    if (allowedSources !== undefined && !inSources(allowedSources, clientAddress)) return 'source_not_allowed';
    return undefined;
  };

  /** Returns the subject whose budget counts, or a refusal. */
  const identify = (caller: LimitCaller, nowMs: number): Subject | Refused => {
    const { key: sent, clientAddress } = caller;
    if (sent === undefined) return addressOf(clientAddress, nowMs) ?? refuseUnknown('key_required', caller, nowMs);
    const subject = keyOf(sent, nowMs);
    if (subject?.key === undefined) return refuseUnknown('unknown_key', caller, nowMs);
    const forbidden = forbiddenTo(subject.key, clientAddress);
    return forbidden === undefined ? subject : forbid(forbidden, subject, nowMs);
  };

  const refuse = (subject: Subject, { reason, retryAfterSeconds }: Shortage): Refused => {
    const { priced, key } = subject;
    const nowMs = now();
    countResult(priced.counts, reason);
    if (key !== undefined) usage.count(key.id, null, nowMs);
    const code = reason === 'unavailable' ? 'limits_unavailable' : 'rate_limited';
    const keyHint = key === undefined ? options.keyHint : undefined;
    const quota = quotaOfSubject(subject, nowMs);
    return { allowed: false, code, plan: priced.name, quota, retryAfterSeconds, keyHint };
  };

  /** Turns a shortage into a decision. `operation` null: admitted before it is known. `release` frees a slot already counted. */
  const answer = (subject: Subject, shortage: Shortage | undefined, operation: string | null): Decision => {
    if (shortage !== undefined) return refuse(subject, shortage);
    const { priced, key } = subject;
    const nowMs = now();
    if (operation !== null) {
      countResult(priced.counts, 'allowed');
      if (key !== undefined) usage.count(key.id, operation, nowMs);
    }
    const quota = quotaOfSubject(subject, nowMs);
    const getMethods = methodTermsOf(subject);
    return { allowed: true, plan: priced.name, grants: priced.grants, getMethods, quota, release: nothing };
  };

  const take = (subject: Subject, nowMs: number, tokens: number) =>
    budgets.take(subject, Math.floor(nowMs * 1000), tokens);

  const settle = (subject: Subject, shortage: Shortage | undefined, operation: string | null): Decision => {
    const decision = answer(subject, shortage, operation);
    if (!decision.allowed) {
      budgets.freePlace(subject);
      return decision;
    }
    let held = true;
    const release = (): void => {
      if (held) budgets.freePlace(subject);
      held = false;
    };
    return { ...decision, release };
  };

  /** Takes tokens for a request that has its slot. `operation` null: one token in advance. */
  const takeTokens = (subject: Subject, nowMs: number, operation: string | null): Decision | Promise<Decision> => {
    const taken = take(subject, nowMs, operation === null ? 1 : subject.priced.costOf(operation));
    if (!(taken instanceof Promise)) return settle(subject, taken, operation);
    return taken.then(
      (shortage) => settle(subject, shortage, operation),
      (error: unknown) => {
        budgets.freePlace(subject);
        throw error;
      },
    );
  };

  /** Takes a slot, then tokens. */
  const admit = (subject: Subject, nowMs: number, operation: string | null): Decision | Promise<Decision> => {
    const full = budgets.takePlace(subject, Math.floor(nowMs * 1000));
    if (full === undefined) return takeTokens(subject, nowMs, operation);
    if (!(full instanceof Promise)) return answer(subject, full, operation);
    return full.then((shortage) =>
      shortage === undefined ? takeTokens(subject, now(), operation) : answer(subject, shortage, operation),
    );
  };

  const charging = (subject: Subject, entry: Allowed): Entered => {
    let inAdvance = 1;
    const giveBack = (): void => {
      if (inAdvance > 0) budgets.giveBack(subject, inAdvance);
      inAdvance = 0;
    };
    return {
      ...entry,
      async charge(operation) {
        giveBack();
        const nowMs = now();
        if (!mayCall(subject, operation)) return forbid('operation_not_allowed', subject, nowMs);
        return answer(subject, await take(subject, nowMs, subject.priced.costOf(operation)), operation);
      },
      release() {
        giveBack();
        entry.release();
      },
    };
  };

  const decide = (request: LimitRequest): Decision | Promise<Decision> => {
    const nowMs = now();
    const subject = identify(request, nowMs);
    if ('allowed' in subject) return subject;
    if (!mayCall(subject, request.operation)) return forbid('operation_not_allowed', subject, nowMs);
    return admit(subject, nowMs, request.operation);
  };

  return {
    decide: async (request) => decide(request),
    refusal(request) {
      const nowMs = now();
      const subject = request.key === undefined ? addressOf(request.clientAddress, nowMs) : keyOf(request.key, nowMs);
      if (subject === undefined || !mayCall(subject, request.operation)) return undefined;
      if (subject.key !== undefined && forbiddenTo(subject.key, request.clientAddress) !== undefined) return undefined;
      const tokens = subject.priced.costOf(request.operation);
      const shortage = budgets.shortage(subject, Math.floor(nowMs * 1000), tokens);
      return shortage && refuse(subject, shortage);
    },
    async enter(caller) {
      const nowMs = now();
      const subject = identify(caller, nowMs);
      if ('allowed' in subject) return subject;
      const entry = await admit(subject, nowMs, null);
      return entry.allowed ? charging(subject, entry) : entry;
    },
    async usage(caller) {
      const nowMs = now();
      if (caller.key === undefined) return refuseUnknown('key_required', caller, nowMs);
      const subject = identify(caller, nowMs);
      if ('allowed' in subject) return subject;
      if (!mayCall(subject, usageOperation)) return forbid('operation_not_allowed', subject, nowMs);
      const decision = await admit(subject, nowMs, usageOperation);
      if (!decision.allowed) return decision;
      const keyId = subject.key?.id ?? '';
      return { ...decision, keyId, usage: await usage.read(keyId, now()) };
    },
    standing(caller) {
      const nowMs = now();
      const known = caller.key === undefined ? undefined : keyOf(caller.key, nowMs);
      const subject = known ?? addressOf(caller.clientAddress, nowMs);
      return subject === undefined ? null : quotaOfSubject(subject, nowMs);
    },
    setPlans(changed) {
      refuseUnknownPlans(changed, keyring);
      plans = createPlans(changed, metrics.countsOf);
      callers.clear();
      keyring.setPlans(new Set(changed.plans.map(({ name }) => name)));
      if (plans.anonymous === undefined || anonymous === undefined) anonymous = anonymousOf();
      else anonymous.setPlan(plans.anonymous);
    },
    setOnRedisFailure: (rule) => shared?.setOnRedisFailure(rule),
    async close() {
      keyring.close();
      await usage.close();
      await shared?.close();
    },
  };
}

type Forbidden = 'network_not_allowed' | 'source_not_allowed' | 'operation_not_allowed';

function mayCall({ key }: Subject, operation: string): boolean {
  return key?.terms.allowedMethods?.has(operation) ?? true;
}

/** Returns the terms of get-methods. All callers without a key share one payer, because their number has no bound. */
function methodTermsOf({ name, key, priced }: Subject): MethodTerms {
  return { payer: key === undefined ? 'anonymous' : name, ...priced.plan.getMethods };
}

const nothing = (): void => undefined;
