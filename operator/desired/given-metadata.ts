import { group, type TonApi } from '../resource.ts';
import { withAppliedHash } from './child.ts';
import type { DesiredObject, Release } from './references.ts';

/** Labels and annotations for children, as `spec.metadata` of a TonApi or the operator's `--child-metadata` give them. */
export type GivenMetadata = NonNullable<TonApi['spec']['metadata']>;

/**
 * Adds given labels and annotations to a child. The more precise source wins: the child itself, then its kind, then all kinds.
 * Between equal sources the TonApi wins over the operator. Names in the operator's own group are ignored, because the operator reads them back.
 */
export function withGivenMetadata(desired: DesiredObject, tonApi: TonApi, release: Release): DesiredObject {
  const { object } = desired;
  const sources = [release.childMetadata, tonApi.spec.metadata].filter((given) => given !== undefined);
  if (sources.length === 0) return desired;
  const ofKind = sources.map(({ kinds }) => kinds?.find(({ kind }) => kind === object.kind));
  const layers = [...sources, ...ofKind];
  const labels = { ...foreign(layers.map((layer) => layer?.labels)), ...object.metadata.labels };
  const annotations = { ...foreign(layers.map((layer) => layer?.annotations)), ...object.metadata.annotations };
  return { ...desired, object: withAppliedHash({ ...object, metadata: { ...object.metadata, labels, annotations } }) };
}

/** Entries of all maps that are not the operator's own; of two with one name the later wins. */
function foreign(maps: readonly (Readonly<Record<string, string>> | undefined)[]): Record<string, string> {
  const entries = maps.flatMap((map) => Object.entries(map ?? {}));
  return Object.fromEntries(entries.filter(([name]) => !name.startsWith(`${group}/`)));
}
