import type { KubernetesObject, ManagedFields } from '../kubernetes/object.ts';
import { handoverManager, manager } from '../desired/names.ts';
import { fieldPath, isFields } from '../kubernetes/keyed-lists.ts';

/** Managers that set any of these fields to a value that we do not want, sorted. `unknown` when the server does not report managers. */
export function driftManagers(live: KubernetesObject, paths: readonly string[]): string[] {
  const entries = (live.metadata.managedFields ?? []).filter(isForeign);
  const guilty = entries.filter((entry) => paths.some((path) => covers(entry.fieldsV1, stepsOf(path))));
  // A removed field has no manager any more. The last writer of the object removed it.
  const suspects = guilty.length > 0 ? guilty : entries.toSorted(byTime).slice(-1);
  const found = [...new Set(suspects.map((entry) => entry.manager))].toSorted();
  return found.length > 0 ? found : ['unknown'];
}

/** Paths that we own by server-side apply, leaves only. Named as in `compareFields`, except that list elements have their whole key. */
export function ownedPaths(live: KubernetesObject): string[] | undefined {
  const ours = live.metadata.managedFields?.find(
    (entry) => entry.manager === manager && entry.operation === 'Apply' && entry.subresource === undefined,
  );
  return ours?.fieldsV1 === undefined ? undefined : leavesOf(ours.fieldsV1, '');
}

/** An entry of the subresource `status` names no field that we set; `scale` names `replicas`. */
function isForeign(entry: ManagedFields): boolean {
  return entry.subresource !== 'status' && entry.manager !== manager && entry.manager !== handoverManager;
}

function byTime(a: ManagedFields, b: ManagedFields): number {
  return (a.time ?? '').localeCompare(b.time ?? '');
}

/** True if the fields name the path, a path below it, or a path above it that is owned whole. */
function covers(fields: unknown, steps: readonly string[]): boolean {
  const [step, ...rest] = steps;
  if (step === undefined || !isFields(fields)) return true;
  const next = Object.entries(fields).filter(([name]) => isNamed(name, step));
  if (next.length > 0) return next.some(([, below]) => covers(below, rest));
  return Object.keys(fields).every((name) => name === '.') && Object.keys(fields).length === 0;
}

/** `f:image` names `image`; `k:{"name":"api"}` and `v:"x"` name the element whose key values they hold; an index may be any. */
function isNamed(field: string, step: string): boolean {
  if (field.startsWith('f:')) return field.slice(2) === step;
  if (field.startsWith('k:')) return keyValues(field) === step;
  return false;
}

function keyValues(field: string): string {
  const key: unknown = JSON.parse(field.slice(2));
  return isFields(key) ? Object.values(key).map(String).join('/') : '';
}

/** `spec.containers[api].image` -> spec, containers, api, image. */
function stepsOf(path: string): string[] {
  return [...path.matchAll(/\[([^\]]*)\]|([^.[\]]+)/g)].map(([, key, name]) => key ?? name ?? '');
}

function leavesOf(fields: Readonly<Record<string, unknown>>, path: string): string[] {
  return Object.entries(fields).flatMap(([field, below]) => {
    if (field === '.') return [];
    const here = field.startsWith('f:') ? fieldPath(path, field.slice(2)) : `${path}[${keyValues(field)}]`;
    return isFields(below) && Object.keys(below).some((name) => name !== '.') ? leavesOf(below, here) : [here];
  });
}
