import { childAnnotations, childNames } from '../desired/names.ts';
import type { DesiredObject, Workload } from '../desired/references.ts';
import { compareFields } from '../diff/compare.ts';
import { nameOf } from '../diff/diff.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { TonApi } from '../resource.ts';
import { exceededDeadline } from '../status/pods.ts';

type Template = Readonly<Record<string, unknown>>;

/** A workload whose pods would be replaced by what is wanted now. */
export type TemplateChange = {
  readonly workload: Workload;
  /** `spec.template` as it is wanted. */
  readonly wanted: Template;
  /** `spec.template` as it is live: what a rollout that has to wait keeps. */
  readonly live: Template;
  /** `edit`: a person changed the resource; `operator`: only the operator or its release is another. */
  readonly cause: 'edit' | 'operator';
};

/** Workloads whose template changes on purpose. A foreign edit does not count: our wanted hash is unchanged, and the edit is undone at once. */
export function templateChanges(
  tonApi: TonApi,
  wanted: readonly DesiredObject[],
  live: readonly KubernetesObject[],
): TemplateChange[] {
  const names = childNames(tonApi);
  const workloads: Readonly<Record<string, Workload>> = {
    [`Deployment/${names.api}`]: 'api',
    [`StatefulSet/${names.indexer}`]: 'indexer',
    [`Deployment/${names.metadata}`]: 'metadata',
    [`Deployment/${names.redis}`]: 'redis',
  };
  const isEdited = wanted.some(
    ({ object }) => workloads[nameOf(object)] === 'api' && isColdEdit(object, sameName(live, object)),
  );
  return wanted.flatMap(({ object }): TemplateChange[] => {
    const workload = workloads[nameOf(object)];
    const present = sameName(live, object);
    if (workload === undefined || present === undefined || hashOf(object) === hashOf(present)) return [];
    const [next, now] = [templateOf(object), templateOf(present)];
    if (compareFields(next, now).length === 0) return [];
    // Redis has no hash of its own, so that no upgrade restarts it for a hash. Every cold field is in the hash of the API.
    const isOfPerson = workload === 'redis' ? isEdited : isColdEdit(object, present);
    return [{ workload, wanted: next, live: now, cause: isOfPerson ? 'edit' : 'operator' }];
  });
}

function sameName(live: readonly KubernetesObject[], object: KubernetesObject): KubernetesObject | undefined {
  return live.find((other) => nameOf(other) === nameOf(object));
}

/** True when a person changed what restarts the pods of the workload. */
function isColdEdit(wanted: KubernetesObject, present: KubernetesObject | undefined): boolean {
  return present !== undefined && coldHashOf(templateOf(wanted)) !== coldHashOf(templateOf(present));
}

/** True until every pod of the workload is of its newest template and ready. */
export function isRollingOut({ metadata, spec, status }: KubernetesObject): boolean {
  const wanted = number(spec?.['replicas'] ?? 1);
  const { observedGeneration, replicas, updatedReplicas, availableReplicas } = status ?? {};
  return (
    number(observedGeneration) < (metadata.generation ?? 0) ||
    number(updatedReplicas) < wanted ||
    number(replicas) > number(updatedReplicas) ||
    number(availableReplicas) < number(updatedReplicas)
  );
}

/**
 * True when the newest template is out: all pods have it, and all were available together since it came.
 * A later loss of a pod or an added pod of an autoscaler does not change this. The status of a Deployment remembers it.
 * The revisions of a StatefulSet are equal from its birth, so the last status of the TonApi must remember it.
 *
 * @param wasOut every template was out at the last reconcile
 */
export function isOut(workload: KubernetesObject, wasOut: boolean): boolean {
  if (!isRollingOut(workload)) return true;
  const { metadata, status } = workload;
  const { observedGeneration, replicas, updatedReplicas, currentRevision, updateRevision } = status ?? {};
  if (number(observedGeneration) < (metadata.generation ?? 0)) return false;
  if (workload.kind === 'StatefulSet') {
    return wasOut && currentRevision !== undefined && currentRevision === updateRevision;
  }
  const conditions = (status?.['conditions'] ?? []) as readonly { readonly type: string; readonly reason?: string }[];
  const wasComplete = conditions.some(
    ({ type, reason }) => type === 'Progressing' && reason === 'NewReplicaSetAvailable',
  );
  return wasComplete && number(replicas) === number(updatedReplicas);
}

/**
 * True while a rollout still replaces pods of an older template. A stuck rollout does not count.
 * It would block all others for a mistake in its own manifest. A stuck release keeps its turn.
 */
export function isReplacing(workload: KubernetesObject): boolean {
  const { metadata, status } = workload;
  const { observedGeneration, replicas, updatedReplicas } = status ?? {};
  const unseen = number(observedGeneration) < (metadata.generation ?? 0) && number(replicas) > 0;
  return (unseen || number(replicas) > number(updatedReplicas)) && !exceededDeadline(workload);
}

function number(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

/** The pod template of a workload; empty if the object has none. */
export function templateOf({ spec }: KubernetesObject): Template {
  return (spec?.['template'] ?? {}) as Template;
}

function hashOf({ metadata }: KubernetesObject): string | undefined {
  return metadata.annotations?.[childAnnotations.appliedHash];
}

/** Hash of the parts of a template that a person can change, from the template or a pod made from it. */
export function coldHashOf(templateOrPod: object): string | undefined {
  const { metadata } = templateOrPod as { metadata?: { annotations?: Readonly<Record<string, string>> } };
  return metadata?.annotations?.[childAnnotations.coldHash];
}
