import type { Change } from '../diff/diff.ts';

/** Secrets and ConfigMaps that are not there, such as `Secret redis`. */
export type Missing = ReadonlySet<string>;

type Source = {
  readonly secret?: { readonly name?: string; readonly secretName?: string; readonly optional?: boolean };
  readonly configMap?: { readonly name?: string; readonly optional?: boolean };
};
type Volume = Source & { readonly projected?: { readonly sources?: readonly Source[] } };

/** The missing objects without which pods of the template cannot start, sorted. */
export function missingMounts(template: object, missing: Missing): string[] {
  const { spec } = template as { readonly spec?: { readonly volumes?: readonly Volume[] } };
  const volumes = spec?.volumes ?? [];
  const sources = volumes.flatMap((volume) => [volume, ...(volume.projected?.sources ?? [])]);
  const named = sources.flatMap(({ secret, configMap }) => [
    ...(secret === undefined || secret.optional === true ? [] : [`Secret ${secret.secretName ?? secret.name}`]),
    ...(configMap === undefined || configMap.optional === true ? [] : [`ConfigMap ${configMap.name}`]),
  ]);
  return [...new Set(named)].filter((name) => missing.has(name)).toSorted();
}

/** True for a change that makes a workload whose pods could not start. An existing workload keeps its template, and other work continues. */
export function startsInVain(change: Change, missing: Missing): boolean {
  if (change.action !== 'create') return false;
  return missingMounts(change.desired.object.spec?.['template'] ?? {}, missing).length > 0;
}
