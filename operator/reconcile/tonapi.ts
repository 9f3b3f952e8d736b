import { context, propagation, trace, type Tracer } from '@opentelemetry/api';

import { contentHash } from '../desired/canonical.ts';
import { hotHash } from '../desired/config-map.ts';
import { fewestReady } from '../desired/disruption-budget.ts';
import { childAnnotations, childNames, type Component } from '../desired/names.ts';
import { diff, type Change } from '../diff/diff.ts';
import type { KubernetesClient, RequestBounds } from '../kubernetes/client.ts';
import type { Events } from '../kubernetes/events.ts';
import { keyOf, type KubernetesObject, type ObjectKey } from '../kubernetes/object.ts';
import type { Outcome, Work } from '../kubernetes/queue.ts';
import type { OptionalKind } from '../kubernetes/resources.ts';
import { annotationOf, type TonApi, type TonApiStatus } from '../resource.ts';
import { admitted, migrationState } from '../rollout/migration.ts';
import { conditionOf } from '../status/conditions.ts';
import type { Observed, Refusal, RolloutView } from '../status/observed.ts';
import { indexState, isReadyPod } from '../status/pods.ts';
import { summarize } from '../status/summarize.ts';
import { acknowledgementOf, type Acknowledgement } from './acknowledgement.ts';
import { act, type Acted } from './act.ts';
import { decide, type DecideDependencies, type Decision } from './decide.ts';
import type { DriftLog } from './drift-log.ts';
import type { ReconcileMetrics } from './metrics.ts';
import { foreignNamesakes } from './namesakes.ts';
import { observe, type Observation, type ObserveDependencies } from './observation.ts';
import { planObject, planSummary } from './plan.ts';
import type { PodNudge } from './pod-nudge.ts';
import type { PodReport } from './pod-reports.ts';
import type { ReadyTimes } from './ready-times.ts';
import type { RolloutQueue } from './rollout-queue.ts';
import { isRollingOut } from './rollout.ts';
import { spanning } from './spans.ts';
import { writeStatus } from './status-writer.ts';
import type { Keyrings } from './keyrings.ts';
import type { Writer } from './writer.ts';

export type TonApiDependencies = ObserveDependencies &
  Omit<DecideDependencies, 'rollouts'> & {
    readonly client: KubernetesClient;
    readonly writer: Writer;
    readonly events: Events;
    readonly rollouts: RolloutQueue;
    readonly drift: DriftLog;
    readonly nudge: PodNudge;
    readonly keyrings: Keyrings;
    readonly readyTimes: ReadyTimes;
    /** All pods have taken over another keyring: keys that wait for it can go on. */
    readonly onKeyringAcknowledged: (tonApi: TonApi) => void;
    readonly metrics: ReconcileMetrics;
    readonly tracer: Tracer;
  };

/** A name that is taken is freed without an event to us: our watches see only what carries our label. */
const refusedMs = 15_000;

/** An index that is not up to date is asked for again this soon. */
const indexingMs = 10_000;

/** What telling the status found out. */
type Told = {
  readonly acknowledgement: Acknowledgement;
  readonly live: readonly KubernetesObject[];
  /** Hash of what they are to take over. */
  readonly content: string;
  /** The index is not up to date. */
  readonly indexing: boolean;
};

/** Makes the cluster as a TonApi says, one look at a time: observe, build, diff, act, status (operator sheet 4.1). */
export function createTonApiReconciler(
  dependencies: TonApiDependencies,
): (key: ObjectKey, work: Work) => Promise<Outcome> {
  const { caches, rollouts, metrics, tracer, clock } = dependencies;

  async function look(tonApi: TonApi, { signal }: Work): Promise<Outcome> {
    const bounds = { signal };
    const seen = await spanning(tracer, 'observe', () => observe(tonApi, dependencies, bounds));
    const decision = await spanning(tracer, 'build', async () =>
      seen.problems.length > 0 ? undecided(tonApi) : decide(tonApi, seen, dependencies, signal),
    );
    const changes = await spanning(tracer, 'diff', () => plan(tonApi, seen, decision, dependencies, bounds));
    const acted = await carryOut(tonApi, changes, dependencies, bounds);
    trace.getActiveSpan()?.setAttribute('ton.writes', acted.writes);
    const after = await spanning(tracer, 'status', () => tell(tonApi, seen, decision, acted, bounds));
    await dependencies.nudge.pods(after.acknowledgement.behind, after.content, bounds);
    if (!isBusy(after.live) && changes.length === 0 && decision.rollout.phase === 'settled')
      rollouts.leave(keyOf(tonApi));
    if (acted.refusals.length > 0) return { type: 'terminal', lookAgainMs: refusedMs };
    const soonest = [
      seen.lookAgainMs,
      decision.lookAgainMs,
      acted.lookAgainMs,
      after.acknowledgement.lookAgainMs,
      after.indexing ? indexingMs : undefined,
    ].filter((ms) => ms !== undefined);
    return soonest.length === 0 ? { type: 'done' } : { type: 'done', lookAgainMs: Math.min(...soonest) };
  }

  /** The status from what is there after the work; and what pods are behind the configuration. */
  async function tell(
    tonApi: TonApi,
    seen: Observation,
    decision: Decision,
    acted: Acted,
    bounds: RequestBounds,
  ): Promise<Told> {
    const live = caches.children(tonApi.metadata.uid ?? '');
    const observed = observedNow(tonApi, live, seen, decision, acted.refusals, dependencies);
    const status = summarize(tonApi, observed, clock.unixMs());
    const written = await writeStatus(tonApi, status, dependencies.writer, bounds);
    note(tonApi, status, live);
    dependencies.readyTimes.note(tonApi, status.conditions);
    if (written) await tellTransitions(tonApi, status, bounds);
    const ready = observed.pods.filter(isReadyPod);
    const reportOf = (pod: KubernetesObject): PodReport | undefined => seen.reports.get(pod.metadata.uid ?? '');
    if (dependencies.keyrings.note(tonApi, ready.map(reportOf))) dependencies.onKeyringAcknowledged(tonApi);
    const keyring = dependencies.keyrings.sha256(tonApi);
    const wanted = { hotHash: observed.hotHash, keyringSha256: keyring };
    const acknowledgement = acknowledgementOf(observed, seen.reports, wanted);
    const indexing = tonApi.spec.indexer !== undefined && status.indexer !== 'Live';
    return { acknowledgement, live, content: contentHash([observed.hotHash, keyring]), indexing };
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

  /** Events tell of transitions only. */
  async function tellTransitions(tonApi: TonApi, status: TonApiStatus, bounds: RequestBounds): Promise<void> {
    const before = tonApi.status?.conditions;
    for (const condition of status.conditions ?? []) {
      const previous = conditionOf(before, condition.type);
      if (!told.has(condition.type) || previous?.reason === condition.reason) continue;
      if (previous === undefined && condition.status === 'Unknown') continue;
      const isBad = condition.type === 'Stalled' || warnings.has(condition.reason);
      const type = isBad ? 'Warning' : 'Normal';
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
const told: ReadonlySet<string> = new Set(['Ready', 'Progressing', 'Stalled', 'Paused']);

const warnings: ReadonlySet<string> = new Set([
  'RolledBack',
  'FieldFight',
  'ProgressDeadlineExceeded',
  'MigrationFailed',
  'NoReadyPods',
  'LiteServersUnreachable',
]);

/** A pipeline that put its `traceparent` on the resource finds the work in its own trace (operator sheet 6.3). */
function linkedContext(tonApi: TonApi): ReturnType<typeof context.active> {
  const traceparent = annotationOf(tonApi, 'traceparent');
  return traceparent === undefined
    ? context.active()
    : propagation.extract(trace.deleteSpan(context.active()), { traceparent });
}

/** While something is missing nothing is wanted anew: what runs goes on. */
function undecided({ status }: TonApi): Decision {
  const hash = status?.rollout?.hash ?? '';
  return { desired: [], rollout: { hash, phase: 'settled' }, lookAgainMs: undefined };
}

/** What would have to be written; nothing while something that the spec names is missing. */
export async function plan(
  tonApi: TonApi,
  seen: Observation,
  { desired }: Decision,
  { client, release }: Pick<TonApiDependencies, 'client' | 'release'>,
  bounds: RequestBounds,
): Promise<Change[]> {
  if (seen.problems.length > 0) return [];
  const others = await foreignNamesakes(tonApi, desired, seen.children, client, bounds);
  const changes = diff(tonApi, desired, [...seen.children, ...others]);
  return admitted(changes, migrationState(tonApi, release.schemaVersion, seen.children));
}

/** Writes what is to be written: nothing while paused, the plan alone where a plan is asked for. */
async function carryOut(
  tonApi: TonApi,
  changes: readonly Change[],
  dependencies: TonApiDependencies,
  bounds: RequestBounds,
): Promise<Acted> {
  const nothing: Acted = { writes: 0, refusals: [], lookAgainMs: undefined };
  const isPlanned = annotationOf(tonApi, 'plan') === 'true';
  if (annotationOf(tonApi, 'paused') !== undefined && !isPlanned) return { ...nothing, refusals: refusalsOf(changes) };
  if (!isPlanned) return act(tonApi, changes, dependencies, bounds);
  await showPlan(tonApi, changes, dependencies, bounds);
  return nothing;
}

function refusalsOf(changes: readonly Change[]): Refusal[] {
  return changes.flatMap((change) =>
    change.action === 'refuse' ? [{ reason: 'NameTaken', message: change.message } as const] : [],
  );
}

/** The plan goes into its own ConfigMap, and an event says so, when it is another than before. */
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

/** What the status is made from. */
function observedNow(
  tonApi: TonApi,
  live: readonly KubernetesObject[],
  seen: Observation,
  decision: Decision,
  refusals: readonly Refusal[],
  { release, drift, served }: Pick<TonApiDependencies, 'release' | 'drift' | 'served'>,
): Observed {
  return {
    live,
    pods: podsOf(seen, ['api', 'api-canary']),
    metadataPods: podsOf(seen, ['metadata']),
    says: seen.reports,
    problems: seen.problems,
    refusals: [...refusals, ...seen.problems.flatMap(asRefusal)],
    unserved: unserved(tonApi, served()),
    hotHash: seen.problems.length > 0 ? liveHash(tonApi, live) : hotHash(tonApi, seen.references),
    readyMin: fewestReady(tonApi, seen.references),
    migration: migrationState(tonApi, release.schemaVersion, live, seen.pods),
    indexer: indexState(seen.pods, seen.reports),
    keys: seen.references.keyring.length,
    rollout: rolloutNow(tonApi, live, decision.rollout),
    fights: live
      .filter(({ metadata }) => drift.isFight(metadata.uid ?? ''))
      .map(({ kind, metadata }) => `${kind} ${metadata.name}`),
  };
}

/** Hash of the configuration that the pods were given last. */
function liveHash(tonApi: TonApi, live: readonly KubernetesObject[]): string {
  const { config } = childNames(tonApi);
  const found = live.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === config);
  return found?.metadata.annotations?.[childAnnotations.configHash] ?? '';
}

/** What no retry mends, as a refusal: a person must act. */
function asRefusal({ reason, message }: Observation['problems'][number]): Refusal[] {
  return reason === 'InvalidReference' ? [{ reason, message }] : [];
}

function podsOf({ pods }: Observation, components: readonly Component[]): readonly KubernetesObject[] {
  const wanted = new Set<string | undefined>(components);
  return pods.filter(({ metadata }) => wanted.has(metadata.labels?.['app.kubernetes.io/component']));
}

/** Kinds that the manifest asks for and the cluster does not serve. */
function unserved({ spec }: TonApi, served: ReadonlySet<OptionalKind>): OptionalKind[] {
  const { exposure, observability, autoscaling } = spec;
  const asked: Readonly<Record<OptionalKind, boolean>> = {
    HTTPRoute: exposure?.kind === 'HTTPRoute',
    ServiceMonitor: observability?.serviceMonitor === true,
    PrometheusRule: observability?.prometheusRule === true,
    ScaledObject: autoscaling?.provider === 'KEDA',
  };
  return (Object.keys(asked) as OptionalKind[]).filter((kind) => asked[kind] && !served.has(kind));
}

/** What was decided, or, where nothing is held back, whether pods are still being replaced. */
function rolloutNow(tonApi: TonApi, live: readonly KubernetesObject[], decided: RolloutView): RolloutView {
  if (decided.phase !== 'settled') return decided;
  const api = apiOf(tonApi, live);
  return { hash: decided.hash, phase: api === undefined || isRollingOut(api) ? 'rolling' : 'settled' };
}

function apiOf(tonApi: TonApi, live: readonly KubernetesObject[]): KubernetesObject | undefined {
  return live.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === childNames(tonApi).api);
}

function isBusy(live: readonly KubernetesObject[]): boolean {
  return live.some((child) => (child.kind === 'Deployment' || child.kind === 'StatefulSet') && isRollingOut(child));
}
