import { context, propagation, trace, type Tracer } from '@opentelemetry/api';

import { contentHash } from '../desired/canonical.ts';
import { childNames } from '../desired/names.ts';
import { diff, type Change } from '../diff/diff.ts';
import type { KubernetesClient, RequestBounds } from '../kubernetes/client.ts';
import type { EventRecorder } from '../kubernetes/event-recorder.ts';
import { keyOf, type Condition, type KubernetesObject, type ObjectKey } from '../kubernetes/object.ts';
import type { Outcome, Work } from '../kubernetes/queue.ts';
import { annotationOf, type TonApi, type TonApiStatus } from '../resource.ts';
import { admitted, migrationState } from '../rollout/migration.ts';
import { startsInVain } from '../rollout/missing-mounts.ts';
import { conditionOf } from '../status/conditions.ts';
import { failedConditions } from '../status/failure.ts';
import type { Refusal } from '../status/observed.ts';
import { isReadyPod } from '../status/pods.ts';
import { scalingGraceMs, waitsForScaling } from '../status/scaling.ts';
import { summarize } from '../status/summarize.ts';
import { acknowledgementOf, type Acknowledgement } from './acknowledgement.ts';
import { act, type Acted } from './act.ts';
import { decide, type DecideDependencies, type Decision } from './decide.ts';
import type { DriftLog } from './drift-log.ts';
import type { ReconcileMetrics } from './metrics.ts';
import { internalErrorOf } from './internal-error.ts';
import { nameConflicts } from './name-conflicts.ts';
import { observe, type Observation, type ObserveDependencies } from './observation.ts';
import { apiOf, observedNow, workloads, type Done } from './observed-now.ts';
import { planObject, planSummary } from './plan-text.ts';
import type { PodRefresh } from './pod-refresh.ts';
import type { PodReport } from './pod-reports.ts';
import type { TimeToReady } from './time-to-ready.ts';
import type { RolloutQueue } from './rollout-queue.ts';
import { refusalOf } from './refusal.ts';
import { isRollingOut } from './rollout.ts';
import { spanning } from './spans.ts';
import { suspensionOf } from './suspension.ts';
import { writeStatus } from './status-writer.ts';
import type { Keyrings } from './keyrings.ts';
import type { Writer } from './writer.ts';

type TonApiDependencies = ObserveDependencies &
  Omit<DecideDependencies, 'rollouts'> & {
    readonly client: KubernetesClient;
    readonly writer: Writer;
    readonly events: EventRecorder;
    readonly rollouts: RolloutQueue;
    readonly drift: DriftLog;
    readonly nudge: PodRefresh;
    readonly keyrings: Keyrings;
    readonly readyTimes: TimeToReady;
    /** All pods have taken over another keyring: keys that wait for it can go on. */
    readonly onKeyringAcknowledged: (tonApi: TonApi) => void;
    readonly metrics: ReconcileMetrics;
    readonly tracer: Tracer;
  };

/** An index that is not up to date is asked for again this soon. */
const INDEXING_MS = 10_000;

/** Result of writing the status. */
type Told = {
  readonly acknowledgement: Acknowledgement;
  readonly live: readonly KubernetesObject[];
  /** Hash of what they are to take over. */
  readonly content: string;
  /** The index is not up to date. */
  readonly indexing: boolean;
  /** Milliseconds until an autoscaler that does not scale counts as broken. */
  readonly scalingGraceMs: number | undefined;
};

/** Reconciles a TonApi: observe, build, diff, act, status (operator/README.md#the-loop). */
export function createTonApiReconciler(
  dependencies: TonApiDependencies,
): (key: ObjectKey, work: Work) => Promise<Outcome> {
  const { caches, rollouts, metrics, tracer, clock } = dependencies;

  /**
   * A reconcile that fails before its new template is written gives its turn back: others must not wait for it. An unexpected error goes into
   * the status too. Otherwise a person would see it in the log alone.
   */
  async function look(tonApi: TonApi, work: Work): Promise<Outcome> {
    try {
      return await takeSteps(tonApi, work);
    } catch (error) {
      if (!rollouts.hasBegun(keyOf(tonApi))) rollouts.leave(keyOf(tonApi));
      const refusal = internalErrorOf(error, work.failures);
      if (refusal !== undefined) await reportFailure(tonApi, refusal, { signal: work.signal });
      throw error;
    }
  }

  async function takeSteps(tonApi: TonApi, work: Work): Promise<Outcome> {
    const { signal } = work;
    const bounds = { signal };
    const { seen, decision, changes, held } = await prepare(tonApi, work);
    const acted = await carryOut(tonApi, changes, dependencies, work);
    trace.getActiveSpan()?.setAttribute('ton.writes', acted.writes);
    if (changes.some((change) => isNewTemplate(change) && !acted.undone.includes(change)))
      rollouts.begin(keyOf(tonApi));
    // Nothing is reported of a first failure, so that no status of a new generation calls it Ready too early.
    if (acted.failure !== undefined && acted.refusals.length === 0) throw acted.failure;
    const after = await spanning(tracer, 'status', () => tell(tonApi, { seen, decision, acted, held }, bounds));
    await dependencies.nudge.pods(after.acknowledgement.behind, after.content, bounds);
    if (!needsTurn(tonApi, decision, after.live)) rollouts.leave(keyOf(tonApi));
    if (acted.failure !== undefined) throw acted.failure;
    const soonest = [
      seen.requeueAfterMs,
      decision.requeueAfterMs,
      acted.requeueAfterMs,
      after.acknowledgement.requeueAfterMs,
      after.indexing ? INDEXING_MS : undefined,
      after.scalingGraceMs,
    ].filter((ms) => ms !== undefined);
    const type = acted.refusals.length > 0 ? 'terminal' : 'done';
    return soonest.length === 0 ? { type } : { type, requeueAfterMs: Math.min(...soonest) };
  }

  /** True while the TonApi waits in the line, and from the write of its new template until its pods have it. */
  function needsTurn(tonApi: TonApi, { rollout: { phase } }: Decision, live: readonly KubernetesObject[]): boolean {
    if (phase === 'waiting') return true;
    const isTried = phase === 'canary' && suspensionOf(tonApi) === undefined;
    return rollouts.hasBegun(keyOf(tonApi)) && (isTried || isBusy(live));
  }

  /** All work before the first write. A refusal that ends it goes into the status, which would not report it otherwise. */
  async function prepare(tonApi: TonApi, work: Work): Promise<Prepared> {
    const { signal } = work;
    try {
      const seen = await spanning(tracer, 'observe', () => observe(tonApi, dependencies, { signal }));
      const decision = await spanning(tracer, 'build', () => decide(tonApi, seen, dependencies, signal));
      const planned = await spanning(tracer, 'diff', () => plan(tonApi, seen, decision, dependencies, { signal }));
      return { seen, decision, ...planned };
    } catch (error) {
      const refusal = refusalOf(error, work.failures);
      if (refusal !== undefined) await reportFailure(tonApi, refusal, { signal });
      throw error;
    }
  }

  async function reportFailure(tonApi: TonApi, refusal: Refusal, bounds: RequestBounds): Promise<void> {
    const { metadata, status: previous } = tonApi;
    const conditions = failedConditions(previous?.conditions, refusal, metadata.generation, clock.unixMs());
    const status = { ...previous, conditions };
    const written = await writeStatus(tonApi, status, dependencies.writer, bounds);
    note(tonApi, status, caches.children(metadata.uid ?? ''));
    if (written) await reportTransitions(tonApi, status, bounds);
  }

  /** The status from what is there after the work; and what pods are behind the configuration. */
  async function tell(tonApi: TonApi, done: Done, bounds: RequestBounds): Promise<Told> {
    const { seen } = done;
    const live = caches.children(tonApi.metadata.uid ?? '');
    const observed = observedNow(tonApi, live, done, dependencies);
    const status = summarize(tonApi, observed, clock.unixMs());
    const written = await writeStatus(tonApi, status, dependencies.writer, bounds);
    note(tonApi, status, live);
    dependencies.readyTimes.note(tonApi, status.conditions);
    if (written) await reportTransitions(tonApi, status, bounds);
    const ready = observed.pods.filter(isReadyPod);
    const reportOf = (pod: KubernetesObject): PodReport | undefined => seen.reports.get(pod.metadata.uid ?? '');
    if (dependencies.keyrings.note(tonApi, ready.map(reportOf))) dependencies.onKeyringAcknowledged(tonApi);
    const keyring = dependencies.keyrings.sha256(tonApi);
    const wanted = { hotHash: observed.hotHash, keyringSha256: keyring };
    const acknowledgement = acknowledgementOf(observed, seen.reports, wanted);
    const indexing = status.indexer !== 'Off' && status.indexer !== 'Live';
    return {
      acknowledgement,
      live,
      content: contentHash([observed.hotHash, keyring]),
      indexing,
      scalingGraceMs: waitsForScaling(status) ? scalingGraceMs(status.conditions, clock.unixMs()) : undefined,
    };
  }

  function note(tonApi: TonApi, status: TonApiStatus, live: readonly KubernetesObject[]): void {
    const wanted = apiOf(tonApi, live)?.spec?.['replicas'];
    metrics.tonApi(keyOf(tonApi), {
      conditions: status.conditions ?? [],
      replicas: {
        desired: typeof wanted === 'number' ? wanted : 0,
        ready: status.readyReplicas ?? 0,
        updated: status.updatedReplicas ?? 0,
      },
    });
  }

  /** Events report transitions only. */
  async function reportTransitions(tonApi: TonApi, status: TonApiStatus, bounds: RequestBounds): Promise<void> {
    const before = tonApi.status?.conditions;
    for (const condition of status.conditions ?? []) {
      const previous = conditionOf(before, condition.type);
      if (!reportedTypes.has(condition.type) || previous?.reason === condition.reason) continue;
      if (previous === undefined && condition.status === 'Unknown') continue;
      const type = isProblem(condition) ? 'Warning' : 'Normal';
      const happening = { type, reason: condition.reason, action: 'Reconcile', note: condition.message } as const;
      await dependencies.events.record(tonApi, happening, bounds.signal);
    }
  }

  return async (key, work) => {
    const tonApi = caches.tonApi(key);
    if (tonApi === undefined || tonApi.metadata.deletionTimestamp !== undefined) {
      rollouts.leave(key);
      dependencies.canaries.forget(key);
      dependencies.keyrings.forget(key);
      metrics.forget(key);
      return { type: 'done' };
    }
    const attributes = {
      'k8s.namespace.name': tonApi.metadata.namespace ?? '',
      'k8s.object.name': tonApi.metadata.name,
      'k8s.object.generation': tonApi.metadata.generation ?? 0,
    };
    const linked = linkedContext(tonApi);
    return context.with(linked, () => spanning(tracer, 'reconcile TonApi', () => look(tonApi, work), attributes));
  };
}

/** Conditions whose changes become events: the others follow from them. */
const reportedTypes: ReadonlySet<string> = new Set(['Ready', 'Progressing', 'Stalled', 'Paused']);

/** Reasons of a resource on its way: no problem, though it is not Ready. */
const underWay: ReadonlySet<string> = new Set([
  'AutoscalerPending',
  'CanaryHold',
  'CatchingUp',
  'ChangesSuspended',
  'GatewayPending',
  'Migrating',
  'MigrationRunning',
  'PodsEnding',
  'Propagating',
  'RollingOut',
]);

/** Reasons of Progressing that are a problem. */
const warnings: ReadonlySet<string> = new Set(['RolledBack', 'FieldFight', 'ProgressDeadlineExceeded']);

/** A problem is an event of type Warning, for any condition. */
function isProblem({ type, status, reason }: Condition): boolean {
  if (type === 'Stalled' || warnings.has(reason)) return true;
  return type === 'Ready' && status !== 'True' && !underWay.has(reason);
}

/** Joins the trace of the pipeline that put its `traceparent` on the resource (operator/README.md#annotations). */
function linkedContext(tonApi: TonApi): ReturnType<typeof context.active> {
  const traceparent = annotationOf(tonApi, 'traceparent');
  return traceparent === undefined
    ? context.active()
    : propagation.extract(trace.deleteSpan(context.active()), { traceparent });
}

/** A plan, and what of it has to wait. */
type Planned = { readonly changes: readonly Change[]; readonly held: readonly Change[] };

/** All facts before the first write. */
type Prepared = Planned & { readonly seen: Observation; readonly decision: Decision };

/**
 * Changes to make now, and changes that wait. Waiting changes need a schema, a mounted object, or a configuration that the pods accept.
 * Other changes are never delayed.
 */
export async function plan(
  tonApi: TonApi,
  seen: Observation,
  { desired }: Decision,
  { client, release }: Pick<TonApiDependencies, 'client' | 'release'>,
  bounds: RequestBounds,
): Promise<Planned> {
  const others = await nameConflicts(tonApi, desired, seen.children, client, bounds);
  const all = diff(tonApi, desired, [...seen.children, ...others]);
  const wanted = seen.isConfigUnfit ? all.filter((change) => !isOfConfig(tonApi, change)) : all;
  const startable = wanted.filter((change) => !startsInVain(change, seen.missing));
  const changes = admitted(startable, migrationState(tonApi, release.schemaVersion, seen.children));
  return { changes, held: all.filter((change) => !changes.includes(change)) };
}

/** The configuration, and network policies that let pods reach the lite servers in it. A policy that is not there yet only closes what would be open. */
function isOfConfig(tonApi: TonApi, change: Change): boolean {
  const { kind, metadata } = change.action === 'delete' ? change.live : change.desired.object;
  if (kind === 'NetworkPolicy') return change.action !== 'create';
  return kind === 'ConfigMap' && metadata.name === childNames(tonApi).config;
}

/** Makes the writes: none while paused, and only the plan in plan mode. */
async function carryOut(
  tonApi: TonApi,
  changes: readonly Change[],
  dependencies: TonApiDependencies,
  { signal, failures }: Work,
): Promise<Acted> {
  const undone = changes.filter(isOfAuthor);
  const nothing: Acted = { writes: 0, refusals: [], undone, failure: undefined, requeueAfterMs: undefined };
  const suspension = suspensionOf(tonApi);
  if (suspension === undefined) return act(tonApi, changes, dependencies, { signal }, failures);
  if (suspension === 'the pause') return { ...nothing, refusals: refusalsOf(changes) };
  await showPlan(tonApi, changes, dependencies, { signal });
  return nothing;
}

/** Not a foreign edit that is to be undone, nor an object that is another's. */
function isOfAuthor(change: Change): boolean {
  return change.action === 'update' ? change.cause === 'edit' : change.action !== 'refuse';
}

function refusalsOf(changes: readonly Change[]): Refusal[] {
  return changes.flatMap((change) =>
    change.action === 'refuse' ? [{ reason: 'NameTaken', message: change.message } as const] : [],
  );
}

/** Writes a changed plan into its own ConfigMap and records an event. */
async function showPlan(
  tonApi: TonApi,
  changes: readonly Change[],
  { caches, writer, events, release }: TonApiDependencies,
  bounds: RequestBounds,
): Promise<void> {
  const { plan: name } = childNames(tonApi);
  const shown = caches.child('ConfigMap', `${tonApi.metadata.namespace}/${name}`);
  const others = changes.filter((change) => change.action !== 'delete' || change.live.metadata.name !== name);
  const object = planObject(tonApi, others, release);
  if (shown?.data?.['plan.txt'] === object.data?.['plan.txt']) return;
  await writer.apply(object, bounds);
  const note = `${planSummary(others)}; the whole plan is in ConfigMap ${name}`;
  await events.record(tonApi, { type: 'Normal', reason: 'Planned', action: 'Plan', note }, bounds.signal);
}

/** Pods of another template begin: those of a workload, or the first of a canary. */
function isNewTemplate(change: Change): boolean {
  if (!isOfAuthor(change) || change.action === 'delete' || change.action === 'refuse') return false;
  return workloads.has(change.desired.object.kind) && (change.action === 'create' || change.restart.restart);
}

function isBusy(live: readonly KubernetesObject[]): boolean {
  return live.some((child) => workloads.has(child.kind) && isRollingOut(child));
}
