import type { Span, Tracer } from '@opentelemetry/api';

import type { Decision, Limits, Quota } from '../limits/limits.ts';
import { HttpError } from './errors.ts';
import { inChildSpan } from './tracing.ts';

/** Who asks. */
export type Caller = { readonly key: string | undefined; readonly clientAddress: string };

/** One request's way past the limits. Holds at most one place under `maxConcurrent`, however many operations the request carries. */
export type Admission = {
  /** Takes the operation's tokens. Throws HttpError with a refusal's code. */
  charge(operation: string): Promise<void>;
  /**
   * Takes nothing: refuses a caller whose key is not good, or who has no token left for anything, before its body is read. For requests that name their
   * operations in the body.
   */
  precheck(): Promise<void>;
  /** `RateLimit-*` of the last decision; empty for a plan without a rate. */
  headers(): Readonly<Record<string, string>>;
  release(): void;
};

export type AdmissionDependencies = { readonly limits: Limits; readonly tracer: Tracer };

/** What a precheck is charged as: nothing, whatever it costs. */
const anyOperation = 'jsonRPC';

export function createAdmission(caller: Caller, parent: Span, { limits, tracer }: AdmissionDependencies): Admission {
  let quota: Quota | null = null;
  let release: (() => void) | undefined;

  const decide = (operation: string, count: number): Promise<Decision> =>
    inChildSpan(tracer, parent, 'limits.decide', async (span) => {
      release?.();
      const decision = await limits.decide({ ...caller, operation, count });
      span.setAttributes({ 'ton.plan': decision.plan ?? 'none', 'ton.allowed': decision.allowed });
      quota = decision.quota;
      if (decision.allowed) release = () => decision.release();
      return decision;
    });

  const enter = async (operation: string, count: number): Promise<void> => {
    const decision = await decide(operation, count);
    if (decision.allowed) return;
    const { code, retryAfterSeconds } = decision;
    throw new HttpError(code, code, retryAfterSeconds === null ? {} : { retryAfterSeconds });
  };

  return {
    charge: (operation) => enter(operation, 1),
    async precheck() {
      await enter(anyOperation, 0);
      if (quota === null || quota.remaining > 0) return;
      release?.();
      throw new HttpError('rate_limited', 'rate_limited', { retryAfterSeconds: secondsToOneToken(quota) });
    },
    headers: () => (quota === null ? {} : quotaHeaders(quota)),
    release: () => release?.(),
  };
}

/** An empty bucket fills evenly: one token's share of the time to full. */
function secondsToOneToken(quota: Quota): number {
  return Math.max(1, Math.ceil(quota.resetSeconds / quota.limit));
}

function quotaHeaders(quota: Quota): Readonly<Record<string, string>> {
  return {
    'ratelimit-limit': quota.limit.toString(),
    'ratelimit-remaining': quota.remaining.toString(),
    'ratelimit-reset': quota.resetSeconds.toString(),
  };
}
