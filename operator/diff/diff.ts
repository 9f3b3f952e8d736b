import { fixedReplicas } from '../desired/deployment.ts';
import { childAnnotations, childNames } from '../desired/names.ts';
import type { DesiredObject, Stage } from '../desired/references.ts';
import { controllerOf, type KubernetesObject } from '../kubernetes/object.ts';
import { annotationOf, type TonApi } from '../resource.ts';
import { judgeAdoption } from './adoption.ts';
import { compareFields, leafPaths, type FieldChange } from './compare.ts';
import { ownedPaths } from './drift.ts';

/** Effect of a change on the pods: restart or not, with the reason as a sentence. */
type Restart = { readonly restart: boolean; readonly why: string };

/** Single change of an object. */
export type Change =
  | { readonly action: 'create'; readonly desired: DesiredObject; readonly restart: Restart }
  | UpdateChange
  | { readonly action: 'delete'; readonly stage: Stage; readonly live: KubernetesObject; readonly restart: Restart }
  /** Another owner has the name: the operator writes nothing, and a person must act. */
  | { readonly action: 'refuse'; readonly desired: DesiredObject; readonly message: string };

export type UpdateChange = {
  readonly action: 'update';
  readonly desired: DesiredObject;
  readonly live: KubernetesObject;
  /** `edit`: the wanted value changed; `drift`: somebody changed the live value. */
  readonly cause: 'edit' | 'drift';
  readonly fields: readonly FieldChange[];
  readonly restart: Restart;
  /** The object had no controller, and the operator adopts it. */
  readonly adopt: boolean;
  /** Replicas that an autoscaler is to find: applied as `handoverManager` before we stop setting them. */
  readonly handover?: number;
};

/**
 * Returns the changes that make the live objects equal the desired ones, in order of execution. Empty when nothing differs.
 * Changes go stage by stage. Unwanted autoscalers go before `replicas` is set; other unwanted objects go last.
 *
 * @param live objects that the TonApi controls, and any other that has the name of a child
 */
export function diff(tonApi: TonApi, desired: readonly DesiredObject[], live: readonly KubernetesObject[]): Change[] {
  const byName = new Map(live.map((object) => [nameOf(object), object]));
  const wanted = new Set(desired.map(({ object }) => nameOf(object)));
  const written = desired.flatMap((one) => changeOf(tonApi, one, byName.get(nameOf(one.object))));
  const removed = live
    .filter((object) => !wanted.has(nameOf(object)) && isPruned(tonApi, object))
    .map((object): Change => ({ action: 'delete', stage: stageOf(object), live: object, restart: endOf(object) }));
  const [first, last] = [removed.filter(isAutoscaler), removed.filter((change) => !isAutoscaler(change))];
  return [...first, ...written, ...last];
}

/** Kind and name: a TonApi's children are all in its namespace. */
export function nameOf({ kind, metadata }: KubernetesObject): string {
  return `${kind}/${metadata.name}`;
}

function changeOf(tonApi: TonApi, desired: DesiredObject, live: KubernetesObject | undefined): Change[] {
  const adoption = judgeAdoption(live, tonApi.metadata.uid ?? '');
  if (adoption.verdict === 'taken') return [{ action: 'refuse', desired, message: adoption.message }];
  if (live === undefined) return [{ action: 'create', desired, restart: startOf(desired.object) }];
  const adopt = adoption.verdict === 'adopt';
  // The template of a Job cannot change, and what it does is bound to its name.
  if (live.kind === 'Job' && !adopt) return [];
  const fields = compareFields(desired.object, live).filter(({ path }) => path !== hashPath);
  const isEdit = hashOf(desired.object) !== hashOf(live);
  if (!isEdit && fields.length === 0) return [];
  const all = [...fields, ...(isEdit ? droppedFields(desired.object, live) : [])];
  const handover = handoverOf(tonApi, desired.object, live);
  return [
    {
      action: 'update',
      desired,
      live,
      cause: isEdit ? 'edit' : 'drift',
      fields: all.map((field) => masked(live.kind, field)),
      restart: restartOf(live, all),
      adopt,
      ...(handover !== undefined && { handover }),
    },
  ];
}

const hashPath = `metadata.annotations[${childAnnotations.appliedHash}]`;

function hashOf({ metadata }: KubernetesObject): string | undefined {
  return metadata.annotations?.[childAnnotations.appliedHash];
}

/** Fields that the operator set before and no longer sets, if the live object records managers. */
function droppedFields(desired: KubernetesObject, live: KubernetesObject): FieldChange[] {
  const wanted = leafPaths(desired);
  return (ownedPaths(live) ?? [])
    .filter(
      (path) => !wanted.some((leaf) => leaf === path || leaf.startsWith(`${path}.`) || leaf.startsWith(`${path}[`)),
    )
    .map((path) => ({ path, before: 'set by us', after: undefined }));
}

/**
 * Number of pods for the autoscaler to find, only while we are about to leave `replicas` (operator/README.md#writes).
 * An autoscaler leaves a workload without pods alone. So it finds its fewest pods there.
 */
function handoverOf(tonApi: TonApi, desired: KubernetesObject, live: KubernetesObject): number | undefined {
  if (live.kind !== 'Deployment' || live.metadata.annotations?.[childAnnotations.appliedReplicas] === undefined)
    return undefined;
  const replicas = live.spec?.['replicas'];
  if (desired.spec?.['replicas'] !== undefined || typeof replicas !== 'number') return undefined;
  return replicas === 0 ? fixedReplicas(tonApi) : replicas;
}

/** True for our unwanted objects. A finished Job stays for a day for inspection, and a plan stays as long as it is requested. */
function isPruned(tonApi: TonApi, object: KubernetesObject): boolean {
  if (controllerOf(object)?.uid !== tonApi.metadata.uid || object.kind === 'Job') return false;
  if (object.metadata.deletionTimestamp !== undefined) return false;
  return object.metadata.name !== childNames(tonApi).plan || annotationOf(tonApi, 'plan') === undefined;
}

const stageOfKind: Readonly<Record<string, Stage>> = {
  ConfigMap: 'config',
  Secret: 'config',
  ServiceAccount: 'config',
  NetworkPolicy: 'config',
  StatefulSet: 'indexer',
  Ingress: 'exposure',
  HTTPRoute: 'exposure',
  ServiceMonitor: 'monitoring',
  PrometheusRule: 'monitoring',
  Probe: 'monitoring',
};

function stageOf({ kind }: KubernetesObject): Stage {
  return stageOfKind[kind] ?? 'api';
}

/** An autoscaler that is still there would undo the `replicas` that we set. */
function isAutoscaler(change: Change): boolean {
  return change.action === 'delete' && ['HorizontalPodAutoscaler', 'ScaledObject'].includes(change.live.kind);
}

const workloads: ReadonlySet<string> = new Set(['Deployment', 'StatefulSet']);

function restartOf({ kind }: KubernetesObject, fields: readonly FieldChange[]): Restart {
  if (!workloads.has(kind)) return { restart: false, why: 'pods read it while they run, or do not know it' };
  const template = fields.filter(({ path }) => path.startsWith('spec.template'));
  if (template.length === 0) return { restart: false, why: 'the template of the pods stays as it is' };
  const paths = template.map(({ path }) => path.slice('spec.template.'.length));
  return { restart: true, why: `the template of the pods changes: ${paths.slice(0, SHOWN_PATHS_MAX).join(', ')}` };
}

/** Paths in a text for a person; more add no information. */
const SHOWN_PATHS_MAX = 5;

function startOf({ kind }: KubernetesObject): Restart {
  return { restart: false, why: workloads.has(kind) ? 'new pods start, none ends' : 'no pod is touched' };
}

function endOf({ kind }: KubernetesObject): Restart {
  return workloads.has(kind) ? { restart: true, why: 'its pods end' } : { restart: false, why: 'no pod is touched' };
}

/** Masks values of Secrets everywhere. */
function masked(kind: string, field: FieldChange): FieldChange {
  if (kind !== 'Secret' || !/^(data|stringData)\b/.test(field.path)) return field;
  return { path: field.path, before: mask(field.before), after: mask(field.after) };
}

function mask(value: unknown): unknown {
  return value === undefined ? undefined : '(secret)';
}
