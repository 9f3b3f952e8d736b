import { scaledObjectKind } from '../desired/autoscaler.ts';
import type { Condition, KubernetesObject } from '../kubernetes/object.ts';
import type { TonApi } from '../resource.ts';
import { conditionOf, type Finding } from './conditions.ts';
import type { Observed } from './observed.ts';

const type = 'ScalingActive';

/** Reason of Ready while an autoscaler is waited for. */
export const pendingReason = 'AutoscalerPending';

/** Metrics of new pods take a minute or two. A restarting Prometheus is unavailable as long. */
const GRACE_MS = 300_000;

type Metric = { readonly type?: string; readonly pods?: { readonly metric?: { readonly name?: string } } };

/** Reports if the autoscaler of the spec can scale, in its own words. Empty for a TonApi without an autoscaler, and in hibernation. */
export function scaling({ spec }: TonApi, { live, scalingProblem }: Observed): Finding[] {
  if (spec.autoscaling === undefined || spec.hibernate) return [];
  if (scalingProblem !== undefined) return [{ type, status: 'False', ...scalingProblem, waits: true }];
  const kind = spec.autoscaling.provider === 'HPA' ? 'HorizontalPodAutoscaler' : scaledObjectKind;
  const autoscaler = live.find((child) => child.kind === kind);
  const found = autoscaler && (kind === scaledObjectKind ? ofScaledObject(autoscaler) : ofAutoscaler(autoscaler));
  const message = `waits for the ${kind} to be looked at by its controller`;
  return [found ?? { type, status: 'Unknown', reason: pendingReason, message, waits: true }];
}

/**
 * Part of `scaling` that Ready depends on. Within the grace a TonApi that could scale stays Ready, and a new TonApi waits for its autoscaler.
 * After the grace its autoscaler is broken. There is no grace for features that the cluster or the operator lacks.
 */
export function scalingForReady(
  findings: readonly Finding[],
  { scalingProblem }: Observed,
  previous: readonly Condition[] | undefined,
  nowMs: number,
): Finding[] {
  if (scalingProblem !== undefined) return [...findings];
  return findings.flatMap((finding) => {
    const before = conditionOf(previous, type);
    const isNew = before === undefined || before.status !== finding.status;
    if (finding.status === 'True' || (!isNew && scalingGraceMs(previous, nowMs) === undefined)) return [finding];
    if (before !== undefined && conditionOf(previous, 'Ready')?.status === 'True') return [];
    return [{ ...finding, reason: pendingReason }];
  });
}

/** True where the end of the grace changes Ready. */
export function waitsForScaling({ conditions }: { readonly conditions?: readonly Condition[] | undefined }): boolean {
  const ready = conditionOf(conditions, 'Ready');
  return ready?.status === 'True' || ready?.reason === pendingReason;
}

/** Milliseconds until an autoscaler that does not scale counts as broken; undefined where no grace runs. */
export function scalingGraceMs(conditions: readonly Condition[] | undefined, nowMs: number): number | undefined {
  const condition = conditionOf(conditions, type);
  if (condition === undefined || condition.status === 'True') return undefined;
  const leftMs = Date.parse(condition.lastTransitionTime) + GRACE_MS - nowMs;
  return leftMs > 0 ? leftMs : undefined;
}

function ofAutoscaler(autoscaler: KubernetesObject): Finding | undefined {
  const conditions = conditionsOf(autoscaler);
  const failing = ['AbleToScale', type].map((name) => conditions.get(name)).find((found) => found?.status === 'False');
  if (failing !== undefined) return bad(failing.reason, failing.message);
  if (conditions.get(type)?.status !== 'True') return undefined;
  const missing = missingMetrics(autoscaler);
  if (missing.length === 0) return well('HorizontalPodAutoscaler');
  return bad('MetricMissing', `scales without a metric that is not served: ${missing.join(', ')}`);
}

/** A missing metric leaves the other metrics in force. The controller leaves its position in the status empty. */
function missingMetrics({ spec, status }: KubernetesObject): string[] {
  const wanted = (spec?.['metrics'] ?? []) as readonly Metric[];
  const current = (status?.['currentMetrics'] ?? []) as readonly (Metric | null)[];
  if (current.length === 0) return [];
  return wanted
    .filter((metric, at) => current[at]?.type !== metric.type)
    .map((metric) => metric.pods?.metric?.name ?? metric.type ?? '');
}

function ofScaledObject(scaledObject: KubernetesObject): Finding | undefined {
  const conditions = conditionsOf(scaledObject);
  const [ready, fallback] = [conditions.get('Ready'), conditions.get('Fallback')];
  if (ready?.status === 'False') return bad(ready.reason, ready.message);
  if (fallback?.status === 'True') return bad(fallback.reason, fallback.message);
  return ready?.status === 'True' ? well(scaledObjectKind) : undefined;
}

function well(kind: string): Finding {
  return { type, status: 'True', reason: 'Scaling', message: `the ${kind} scales the pods` };
}

/** Finding in the words of another component. An invalid reason is replaced. */
function bad(reason: string | undefined, message: string | undefined): Finding {
  const word = /^[A-Za-z][A-Za-z0-9]*$/.test(reason ?? '') ? reason : undefined;
  return { type, status: 'False', reason: word ?? 'NotScaling', message: message ?? '', waits: true };
}

function conditionsOf({ status }: KubernetesObject): ReadonlyMap<string, Partial<Condition>> {
  const conditions = (status?.['conditions'] ?? []) as readonly Partial<Condition>[];
  return new Map(conditions.map((condition) => [condition.type ?? '', condition]));
}
