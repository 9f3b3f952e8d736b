import type { Span, Tracer } from '@opentelemetry/api';

import type { Decision, Entered, Limits, Quota, Refused } from '../limits/limits.ts';
import type { Grants, MethodTerms, StreamingGrant } from '../limits/options.ts';
import type { Usage } from '../limits/usage.ts';
import { refusedBy } from './errors.ts';
import { inChildSpan } from './tracing.ts';

/** Identity of a caller. */
export type Caller = { readonly key: string | undefined; readonly clientAddress: string };

/** Checks of one request against the limits. Uses at most one slot of `maxConcurrent`, however many operations the request carries. */
export type Admission = {
  /** Takes the operation's tokens. Throws HttpError with a refusal's code. */
  charge(operation: string): Promise<void>;
  /**
   * Refuses a caller with a bad key or without tokens before the body is read. Used for requests that name their operations in the body.
   * The first charge costs no more than without this call.
   */
  enter(): Promise<void>;
  /** Permissions of the caller's plan; undefined before admission. */
  grants(): Grants | undefined;
  /** Bounds of get-methods; undefined before admission. */
  getMethods(): MethodTerms | undefined;
  /** Plan and bounds of streams; undefined before admission. */
  streaming(): (StreamingGrant & { readonly plan: string }) | undefined;
  /** Returns today's usage of the caller's key. Throws as `charge`. */
  usage(): Promise<{ readonly keyId: string; readonly plan: string; readonly usage: Usage }>;
  /** `RateLimit` headers of the last decision; empty for a plan without a rate. */
  headers(): Readonly<Record<string, string>>;
  release(): void;
};

export type AdmissionDependencies = { readonly limits: Limits; readonly tracer: Tracer };

export function createAdmission(caller: Caller, parent: Span, { limits, tracer }: AdmissionDependencies): Admission {
  let last: Decision | Entered | undefined;
  let entered: Entered | undefined;
  const releases: (() => void)[] = [];

  /** Asks, remembers the answer, and throws when it is no. */
  const ask = <T extends Decision | Entered>(decide: () => Promise<T>): Promise<Exclude<T, Refused>> =>
    inChildSpan(tracer, parent, 'limits.decide', async (span) => {
      const decision = await decide();
      last = decision;
      span.setAttributes({ 'ton.plan': decision.plan ?? 'none', 'ton.allowed': decision.allowed });
      if (!decision.allowed) throw refusedBy(decision);
      releases.push(() => decision.release());
      return decision as Exclude<T, Refused>;
    });

  return {
    async charge(operation) {
      await ask(() => entered?.charge(operation) ?? limits.decide({ ...caller, operation }));
    },
    async enter() {
      entered = await ask(() => limits.enter(caller));
    },
    grants: () => (last?.allowed === true ? last.grants : undefined),
    getMethods: () => (last?.allowed === true ? last.getMethods : undefined),
    streaming: () => (last?.allowed === true ? { ...last.streaming, plan: last.plan } : undefined),
    usage: () => ask(() => limits.usage(caller)),
    headers: () => quotaHeaders(last?.quota ?? null),
    release() {
      for (const release of releases.splice(0)) release();
    },
  };
}

/**
 * Returns the quota headers of the IETF draft, and the three headers of its earlier form, which clients still read. `RateLimit-Policy` has
 * the tokens of a full bucket and the seconds in which an empty bucket fills. `RateLimit` has the tokens left and the seconds until the
 * bucket is full.
 */
export function quotaHeaders(quota: Quota | null): Readonly<Record<string, string>> {
  if (quota === null) return {};
  const { policy, limit, remaining, resetSeconds, windowSeconds } = quota;
  return {
    'ratelimit-policy': `"${policy}";q=${limit};w=${windowSeconds}`,
    ratelimit: `"${policy}";r=${remaining};t=${resetSeconds}`,
    'ratelimit-limit': limit.toString(),
    'ratelimit-remaining': remaining.toString(),
    'ratelimit-reset': resetSeconds.toString(),
  };
}
