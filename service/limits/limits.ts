import { randomInt } from 'node:crypto';

import type { Registry } from 'prom-client';

import { ownBudgets, type Budgets } from './budgets.ts';
import type { Subject } from './callers.ts';
import { createDecisions } from './decisions.ts';
import type { Keyring } from './keyring.ts';
import { createLimitsMetrics } from './metrics.ts';
import type { Grants, LimitsOptions, MethodTerms, OnRedisFailure, PlanOptions, StreamingGrant } from './options.ts';
import { forbiddenTo, mayCall } from './permission.ts';
import { refuseUnknownPlans } from './plans.ts';
import { createSubjectBudgets } from './subject-budgets.ts';
import { createSubjects } from './subjects.ts';
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
  readonly streaming: StreamingGrant;
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
  /** Reports whether the caller's key, or its lack of one, may still be used. Takes and counts nothing. */
  readonly isInForce: (caller: LimitCaller) => boolean;
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
  const metrics = createLimitsMetrics(register, { keys: () => keyring.size, addresses: () => subjects.addresses });
  const seed = dependencies.seed ?? randomInt(2 ** 32);
  const subjects = createSubjects(
    { ...options, seed },
    { keyring, countsOf: metrics.countsOf, isRevoked: (keyId) => shared?.isRevoked(keyId) === true },
  );
  const decisions = createDecisions(options, { budgets, usage, noPlan: metrics.countsOf(null), now });

  /** Returns the subject whose budget counts, or a refusal. */
  const identify = ({ key: sent, clientAddress }: LimitCaller, nowMs: number): Subject | Refused => {
    if (sent === undefined) {
      return subjects.ofAddress(clientAddress, nowMs) ?? decisions.refuseUnknown('key_required', undefined, nowMs);
    }
    const subject = subjects.ofKey(sent, nowMs);
    if (subject?.key === undefined) {
      return decisions.refuseUnknown('unknown_key', subjects.ofAddress(clientAddress, nowMs), nowMs);
    }
    const forbidden = forbiddenTo(subject.key, options.network, clientAddress);
    return forbidden === undefined ? subject : decisions.forbid(forbidden, subject, nowMs);
  };

  const decide = (request: LimitRequest): Decision | Promise<Decision> => {
    const nowMs = now();
    const subject = identify(request, nowMs);
    if ('allowed' in subject) return subject;
    if (!mayCall(subject, request.operation)) return decisions.forbid('operation_not_allowed', subject, nowMs);
    return decisions.admit(subject, nowMs, request.operation);
  };

  /** Returns the subject of a caller that nothing forbids; undefined otherwise. */
  const known = ({ key, clientAddress }: LimitCaller, nowMs: number): Subject | undefined => {
    const subject = key === undefined ? subjects.ofAddress(clientAddress, nowMs) : subjects.ofKey(key, nowMs);
    if (subject?.key === undefined) return subject;
    return forbiddenTo(subject.key, options.network, clientAddress) === undefined ? subject : undefined;
  };

  return {
    decide: async (request) => decide(request),
    refusal({ key, clientAddress, operation }) {
      const nowMs = now();
      const subject = known({ key, clientAddress }, nowMs);
      if (subject === undefined || !mayCall(subject, operation)) return undefined;
      const shortage = budgets.shortage(subject, Math.floor(nowMs * 1000), subject.priced.costOf(operation));
      return shortage && decisions.refuse(subject, shortage);
    },
    async enter(caller) {
      const nowMs = now();
      const subject = identify(caller, nowMs);
      if ('allowed' in subject) return subject;
      const entry = await decisions.admit(subject, nowMs, null);
      return entry.allowed ? decisions.charging(subject, entry) : entry;
    },
    async usage(caller) {
      const nowMs = now();
      if (caller.key === undefined) {
        return decisions.refuseUnknown('key_required', subjects.ofAddress(caller.clientAddress, nowMs), nowMs);
      }
      const subject = identify(caller, nowMs);
      if ('allowed' in subject) return subject;
      if (!mayCall(subject, usageOperation)) return decisions.forbid('operation_not_allowed', subject, nowMs);
      const decision = await decisions.admit(subject, nowMs, usageOperation);
      if (!decision.allowed) return decision;
      const keyId = subject.key?.id ?? '';
      return { ...decision, keyId, usage: await usage.read(keyId, now()) };
    },
    isInForce: (caller) => known(caller, now()) !== undefined,
    standing({ key, clientAddress }) {
      const nowMs = now();
      const ofKey = key === undefined ? undefined : subjects.ofKey(key, nowMs);
      const subject = ofKey ?? subjects.ofAddress(clientAddress, nowMs);
      return subject === undefined ? null : budgets.quota(subject, Math.floor(nowMs * 1000));
    },
    setPlans(changed) {
      refuseUnknownPlans(changed, keyring);
      subjects.setPlans(changed);
      keyring.setPlans(new Set(changed.plans.map(({ name }) => name)));
    },
    setOnRedisFailure: (rule) => shared?.setOnRedisFailure(rule),
    async close() {
      keyring.close();
      await usage.close();
      await shared?.close();
    },
  };
}
