import { autoscalingProblem } from '../desired/autoscaler.ts';
import { hotHash } from '../desired/config-map.ts';
import { fewestReady } from '../desired/disruption-budget.ts';
import { asksForProbe } from '../desired/monitoring.ts';
import { childAnnotations, childNames, type Component } from '../desired/names.ts';
import type { Release } from '../desired/references.ts';
import type { Change } from '../diff/diff.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { OptionalKind } from '../kubernetes/resources.ts';
import type { TonApi } from '../resource.ts';
import { migrationState } from '../rollout/migration.ts';
import { conditionOf } from '../status/conditions.ts';
import type { Observed, Refusal, RolloutView } from '../status/observed.ts';
import { indexState } from '../status/pods.ts';
import type { Acted } from './act.ts';
import type { DecideDependencies, Decision } from './decide.ts';
import type { DriftLog } from './drift-log.ts';
import type { Observation, ObserveDependencies } from './observation.ts';
import { isOut } from './rollout.ts';
import { suspensionOf } from './suspension.ts';

/** Facts of one reconcile of a TonApi, after its last write. */
export type Done = {
  readonly seen: Observation;
  readonly decision: Decision;
  /** Changes that have to wait. */
  readonly held: readonly Change[];
  readonly acted: Acted;
};

type Dependencies = ObserveDependencies & Omit<DecideDependencies, 'rollouts'> & { readonly drift: DriftLog };

/** Input of the status: observed facts, with the objects that exist after the reconcile. */
export function observedNow(
  tonApi: TonApi,
  live: readonly KubernetesObject[],
  { seen, decision, acted, held }: Done,
  { release, drift, served }: Pick<Dependencies, 'release' | 'drift' | 'served'>,
): Observed {
  return {
    live,
    pods: podsOf(seen, ['api', 'api-canary']),
    metadataPods: podsOf(seen, ['metadata']),
    says: seen.reports,
    problems: seen.problems,
    otherPods: podsOf(seen, ['indexer', 'redis']),
    refusals: [...acted.refusals, ...seen.problems.flatMap(asRefusal)],
    suspended: suspendedOf(tonApi, acted),
    unserved: unserved(tonApi, release, served()),
    scalingProblem: autoscalingProblem(tonApi, seen.references, release),
    hotHash: seen.isConfigUnfit ? liveHash(tonApi, live) : hotHash(tonApi, seen.references),
    readyMin: fewestReady(tonApi),
    migration: migrationState(tonApi, release.schemaVersion, live, seen.pods),
    indexer: indexState(seen.pods, seen.reports),
    keys: seen.references.keyring.length,
    rollout: rolloutNow(tonApi, live, decision.rollout, [...held, ...acted.undone]),
    fights: live
      .filter(({ metadata }) => drift.isFight(metadata.uid ?? ''))
      .map(({ kind, metadata }) => `${kind} ${metadata.name}`),
  };
}

/** Objects that a pause or a plan keeps as they are: the plan's own is none of them. */
function suspendedOf(tonApi: TonApi, { undone }: Acted): string[] {
  if (suspensionOf(tonApi) === undefined) return [];
  return undone
    .map((change) => (change.action === 'delete' ? change.live : change.desired.object))
    .filter(({ metadata }) => metadata.name !== childNames(tonApi).plan)
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`);
}

/** Hash of the configuration that the pods were given last. */
function liveHash(tonApi: TonApi, live: readonly KubernetesObject[]): string {
  const { config } = childNames(tonApi);
  const found = live.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === config);
  return found?.metadata.annotations?.[childAnnotations.configHash] ?? '';
}

/** Converts a problem that no retry mends to a refusal: a person must act. */
function asRefusal({ reason, message }: Observation['problems'][number]): Refusal[] {
  return reason === 'InvalidReference' ? [{ reason, message }] : [];
}

function podsOf({ pods }: Observation, components: readonly Component[]): readonly KubernetesObject[] {
  const wanted = new Set<string | undefined>(components);
  return pods.filter(({ metadata }) => wanted.has(metadata.labels?.['app.kubernetes.io/component']));
}

/** Kinds that the manifest or the operator asks for and the cluster does not serve. */
function unserved(tonApi: TonApi, release: Release, served: ReadonlySet<OptionalKind>): OptionalKind[] {
  const { exposure, observability, autoscaling } = tonApi.spec;
  const asked: Readonly<Record<OptionalKind, boolean>> = {
    HTTPRoute: exposure?.kind === 'HTTPRoute',
    ServiceMonitor: observability?.serviceMonitor === true,
    PrometheusRule: observability?.prometheusRule === true,
    Probe: asksForProbe(tonApi, release),
    ScaledObject: autoscaling?.provider === 'KEDA',
  };
  return (Object.keys(asked) as OptionalKind[]).filter((kind) => asked[kind] && !served.has(kind));
}

/** The decided view or, where no decision holds a template back, whether every workload has its newest template out. */
function rolloutNow(
  tonApi: TonApi,
  live: readonly KubernetesObject[],
  decided: RolloutView,
  undone: readonly Change[],
): RolloutView {
  if (decided.phase !== 'settled') return decided;
  const { hash } = decided;
  const waits = undone.some((change) => change.action !== 'delete' && workloads.has(change.desired.object.kind));
  const suspension = suspensionOf(tonApi);
  if (waits && suspension !== undefined) return { hash, phase: 'rolling', waits: `the end of ${suspension}` };
  const wasOut = wereOut(tonApi);
  const isOnItsWay = (child: KubernetesObject): boolean => isWorkload(tonApi, child) && !isOut(child, wasOut);
  const isRolling = apiOf(tonApi, live) === undefined || waits || live.some(isOnItsWay);
  return { hash, phase: isRolling ? 'rolling' : 'settled' };
}

/** Reasons of Progressing while new pods start, or do not become ready. */
const startReasons: ReadonlySet<string> = new Set(['RollingOut', 'ProgressDeadlineExceeded']);

/** True if all pods were of their newest template at the last reconcile. */
function wereOut({ status }: TonApi): boolean {
  const progressing = conditionOf(status?.conditions, 'Progressing');
  return progressing !== undefined && !startReasons.has(progressing.reason);
}

/** Kinds that have pods. */
export const workloads: ReadonlySet<string> = new Set(['Deployment', 'StatefulSet']);

/** A canary that has ended disappears without a write. */
function isWorkload(tonApi: TonApi, { kind, metadata }: KubernetesObject): boolean {
  return workloads.has(kind) && metadata.name !== childNames(tonApi).canary && metadata.deletionTimestamp === undefined;
}

/** The live Deployment of the API; undefined if there is none. */
export function apiOf(tonApi: TonApi, live: readonly KubernetesObject[]): KubernetesObject | undefined {
  return live.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === childNames(tonApi).api);
}
