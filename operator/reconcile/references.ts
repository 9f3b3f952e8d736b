import { childAnnotations } from '../desired/names.ts';
import type { KubernetesClient, RequestBounds } from '../kubernetes/client.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { resources } from '../kubernetes/resources.ts';
import type { TonApi } from '../resource.ts';
import type { Caches } from './caches.ts';
import { namedObjects } from './named-objects.ts';

/** Object that the spec names, with its problem; `problem` undefined: none. */
export type NamedReference = {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly name: string;
  readonly problem?: ReferenceProblem;
};

/** Why a reference cannot be followed. */
export type ReferenceProblem = {
  readonly reason: 'SecretNotFound' | 'ConfigMapNotFound' | 'KeyMissing' | 'InvalidReference';
  readonly message: string;
};

/** Texts of referenced ConfigMaps, read again only when their version changed. */
export type ReferencedTexts = {
  read(
    of: { readonly namespace: string; readonly name: string; readonly key: string },
    version: string,
    bounds: RequestBounds,
  ): Promise<string | undefined>;
};

/** Limit of cached texts. Only TonApis with a ConfigMap have a text; the oldest is evicted. */
const TEXTS_MAX = 2000;

export function createReferencedTexts({ client }: { readonly client: KubernetesClient }): ReferencedTexts {
  const texts = new Map<string, { readonly version: string; readonly text: string | undefined }>();
  return {
    async read(of, version, bounds) {
      const place = `${of.namespace}/${of.name}/${of.key}`;
      const known = texts.get(place);
      if (known?.version === version) return known.text;
      const found = await client.get(resources.ConfigMap, of, bounds);
      const text = found?.data?.[of.key];
      texts.delete(place);
      texts.set(place, { version: found?.metadata.resourceVersion ?? '', text });
      const [oldest] = texts.keys();
      if (texts.size > TEXTS_MAX && oldest !== undefined) texts.delete(oldest);
      return text;
    },
  };
}

/** All references of the spec, with missing objects. Keys inside a Secret are not checked: its values are not ours to read. */
export function namedReferences(tonApi: TonApi, caches: Pick<Caches, 'reference'>): NamedReference[] {
  const { namespace } = tonApi.metadata;
  return namedObjects(tonApi).map(({ kind, name }) => {
    if (caches.reference(kind, `${namespace}/${name}`) !== undefined) return { kind, name };
    const message = `${kind} ${name} is not there; make it in namespace ${namespace}`;
    return { kind, name, problem: { reason: `${kind}NotFound`, message } };
  });
}

/** Time in which a new Secret reaches every pod: three times the kubelet's refresh of about a minute and a half. */
const SHARDS_SETTLE_MS = 300_000;

/**
 * Keyring shards that every pod has read, by the age of the newest shard. Unlike reports of pods, the number never decreases.
 * `requeueAfterMs` is the time when more shards settle.
 */
export function settledShards(
  children: readonly KubernetesObject[],
  unixMs: number,
): { readonly settled: number; readonly requeueAfterMs: number | undefined } {
  const shards = children.filter(
    ({ metadata }) => metadata.annotations?.[childAnnotations.keyringShards] !== undefined,
  );
  const bornMs = shards.map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? '')).toSorted((a, b) => a - b);
  const old = bornMs.filter((ms) => unixMs - ms >= SHARDS_SETTLE_MS).length;
  // Shards come in powers of two: of six old shards, four are a set that pods can rely on.
  const settled = old === 0 ? 0 : 2 ** Math.floor(Math.log2(old));
  const young = bornMs[old];
  return { settled, requeueAfterMs: young === undefined ? undefined : Math.max(0, young + SHARDS_SETTLE_MS - unixMs) };
}
