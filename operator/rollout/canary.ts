import type { CanaryState } from '../desired/references.ts';
import { secondsTime } from '../kubernetes/object.ts';
import { errorRatio, type Counts } from './error-window.ts';

/** Requests that a judgement needs: with fewer, five failures would be more than a percent. */
export const REQUESTS_MIN = 500;

/** Failures above the ratio of the stable pods that end a canary, if the manifest sets no ratio. */
export const DEFAULT_MAX_ERROR_RATIO = 0.01;

/** `holdMs` undefined: the hold cannot be read, and the step does not end. */
type CanaryStep = { readonly weight: number; readonly holdMs: number | undefined };

export type CanaryInput = {
  readonly steps: readonly CanaryStep[];
  readonly maxErrorRatio: number;
  /** Hash of the template that is wanted. */
  readonly wantedHash: string;
  /** Live pods of the stable Deployment. */
  readonly stableReplicas: number;
  /** State as last written; undefined before the first step. */
  readonly state: CanaryState | undefined;
  /** `failed`: the pods of the canary did not become ready in their time. */
  readonly pods: 'starting' | 'ready' | 'failed';
  /** Since the step began. */
  readonly canary: Counts;
  readonly stable: Counts;
  readonly nowMs: number;
};

export type CanaryDecision =
  /** The canary has this share; `why` is the reason for which the next step waits. */
  | {
      readonly phase: 'step';
      readonly state: CanaryState;
      readonly weight: number;
      readonly replicas: number;
      readonly why: string;
      /** When time alone could change the decision; undefined when only traffic or pods can. */
      readonly retryAfterMs: number | undefined;
    }
  /** Every step went well: the template becomes the stable one. */
  | { readonly phase: 'promote' }
  /** Given up: no canary pods, the stable template stays until another one is wanted. */
  | { readonly phase: 'rolledBack'; readonly state: CanaryState; readonly why: string };

/**
 * Decides the next step of a canary (operator/README.md#rollouts). A rolled-back template stays so; another template starts at the first step.
 * A step ends after its hold and enough good requests.
 */
export function decideCanary(input: CanaryInput): CanaryDecision {
  const { steps, state, wantedHash } = input;
  if (state === undefined || state.hash !== wantedHash)
    return stepAt(input, 0, secondsTime(input.nowMs), 'its pods start');
  if (state.rolledBack !== undefined) return { phase: 'rolledBack', state, why: state.rolledBack };
  const failure = failureOf(input);
  if (failure !== undefined) return { phase: 'rolledBack', state: { ...state, rolledBack: failure }, why: failure };
  const waits = waitsFor(input, state);
  if (waits !== undefined) return stepAt(input, state.step, state.since, waits.why, waits.retryAfterMs);
  const next = state.step + 1;
  return next >= steps.length
    ? { phase: 'promote' }
    : stepAt(input, next, secondsTime(input.nowMs), 'the step has begun');
}

/** Reason to end the canary, as a sentence; undefined without a reason. */
function failureOf({ pods, canary, stable, maxErrorRatio }: CanaryInput): string | undefined {
  if (pods === 'failed') return 'its pods did not become ready';
  const allowed = errorRatio(stable) + maxErrorRatio;
  // Before there are enough requests: would it be too many failures even if all others up to enough went well?
  const judged = Math.max(canary.requests, REQUESTS_MIN);
  if (canary.errors <= allowed * judged) return undefined;
  return `${canary.errors} of ${canary.requests} requests failed (${percent(errorRatio(canary))}), of the stable pods ${percent(errorRatio(stable))}; ${percent(maxErrorRatio)} more are allowed`;
}

function waitsFor(
  { steps, pods, canary, nowMs }: CanaryInput,
  state: CanaryState,
): { readonly why: string; readonly retryAfterMs?: number } | undefined {
  if (pods === 'starting') return { why: 'its pods start' };
  const step = steps[state.step];
  if (step !== undefined && step.holdMs === undefined)
    return { why: `the hold of step ${state.step + 1} is no duration` };
  const leftMs = Date.parse(state.since) + (step?.holdMs ?? 0) - nowMs;
  if (leftMs > 0) return { why: `holds until ${secondsTime(nowMs + leftMs)}`, retryAfterMs: leftMs };
  if (canary.requests >= REQUESTS_MIN) return undefined;
  return { why: `waits for ${REQUESTS_MIN} requests to the canary before it is judged` };
}

function stepAt(input: CanaryInput, step: number, since: string, why: string, retryAfterMs?: number): CanaryDecision {
  const { weight } = input.steps[Math.min(step, input.steps.length - 1)] ?? { weight: 0 };
  return {
    phase: 'step',
    state: { hash: input.wantedHash, step, since },
    weight,
    replicas: Math.max(1, Math.ceil((input.stableReplicas * weight) / 100)),
    why,
    retryAfterMs,
  };
}

function percent(ratio: number): string {
  return `${(ratio * 100).toFixed(2)} %`;
}
