import type { DesiredObject } from '../desired/references.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { TonApi } from '../resource.ts';
import { withLiveFields } from './compare.ts';
import { nameOf } from './diff.ts';

/**
 * Desired objects with the live values of the fields in `ignoreDifferences`, so that these fields never differ.
 * The hash of an object stays that of its wanted values: an edit by another writer causes no write.
 */
export function withIgnored(
  { spec }: TonApi,
  desired: readonly DesiredObject[],
  live: readonly KubernetesObject[],
): DesiredObject[] {
  const { ignoreDifferences = [] } = spec;
  if (ignoreDifferences.length === 0) return [...desired];
  const byName = new Map(live.map((object) => [nameOf(object), object]));
  return desired.map((one) => {
    const { kind, metadata } = one.object;
    const paths = ignoreDifferences
      .filter((ignored) => ignored.kind === kind && (ignored.name ?? metadata.name) === metadata.name)
      .flatMap(({ fields }) => fields);
    const found = paths.length === 0 ? undefined : byName.get(nameOf(one.object));
    if (found === undefined) return one;
    const isIgnored = (path: string): boolean => paths.includes(path);
    return { ...one, object: withLiveFields(one.object, found, isIgnored) as KubernetesObject };
  });
}
