import type { CacheEvent } from '../kubernetes/cache.ts';
import type { InformerDependencies } from '../kubernetes/informer.ts';
import { controllerOf, keyOf, type KubernetesObject, type ObjectKey } from '../kubernetes/object.ts';
import { optionalKinds, resources, type OptionalKind, type ResourceKind } from '../kubernetes/resources.ts';
import { createSharedInformer, type SharedInformer } from '../kubernetes/shared-informer.ts';
import { manager } from '../desired/names.ts';
import type { TonApi, TonApiKey } from '../resource.ts';
import { namedObjects } from './named-objects.ts';
import { trimmedPod } from './trimmed-pod.ts';

/** Kinds that children of a TonApi have in every cluster. */
const childKinds = [
  'ConfigMap',
  'Secret',
  'ServiceAccount',
  'Deployment',
  'StatefulSet',
  'Job',
  'Service',
  'HorizontalPodAutoscaler',
  'PodDisruptionBudget',
  'Ingress',
  'NetworkPolicy',
] as const satisfies readonly ResourceKind[];

/** Cached state of the cluster, read without a request. */
export type Caches = {
  tonApi(key: ObjectKey): TonApi | undefined;
  tonApis(): TonApi[];
  tonApiKey(key: ObjectKey): TonApiKey | undefined;
  /** Keys of the TonApi, from any namespace. */
  tonApiKeysOf(tonApi: ObjectKey): readonly TonApiKey[];
  /** Keys whose status has the id. */
  tonApiKeysWith(id: string): readonly TonApiKey[];
  /** Everything that the TonApi controls. */
  children(uid: string): readonly KubernetesObject[];
  /** Child of ours by kind and key. */
  child(kind: ResourceKind, key: ObjectKey): KubernetesObject | undefined;
  pods(tonApi: Pick<TonApi, 'metadata'>): readonly KubernetesObject[];
  /** Version of a ConfigMap or Secret of any owner, if it exists. */
  reference(kind: 'ConfigMap' | 'Secret', key: ObjectKey): { readonly resourceVersion: string } | undefined;
  /** Stores the server's answer to a write of ours. */
  put(object: KubernetesObject): void;
  /** Begins or ends watching kinds of optional APIs. */
  setServed(served: ReadonlySet<OptionalKind>): void;
  readonly synced: Promise<void>;
  hasSynced(): boolean;
  /** True when the server refuses a watch in every namespace, so that the caches are unreliable. */
  forbidden(): boolean;
  /** True while the server refuses a watch in this namespace and objects of it were never listed. Without a name: in any. */
  isUnknown(namespace?: string): boolean;
  close(): Promise<void>;
};

type CachesDependencies = Omit<InformerDependencies, 'cache'> & {
  /** Requests a reconcile of the TonApi or TonApiKey. `initial`: it existed when the operator started. */
  readonly onTonApi: (key: ObjectKey, initial: boolean) => void;
  readonly onTonApiKey: (key: ObjectKey, initial: boolean) => void;
};

const managed = `app.kubernetes.io/managed-by=${manager}`;

const byOwner = {
  owner: (object: KubernetesObject) => {
    const owner = controllerOf(object);
    return owner === undefined ? [] : [owner.uid];
  },
};

const instanceLabel = 'app.kubernetes.io/instance';

export function createCaches(
  options: { readonly namespaces: readonly string[] | undefined; readonly served: ReadonlySet<OptionalKind> },
  dependencies: CachesDependencies,
): Caches {
  const { namespaces } = options;
  const { onTonApi, onTonApiKey } = dependencies;

  const tonApis = createSharedInformer(
    {
      resource: resources.TonApi,
      namespaces,
      indexes: { reference: (object) => referencesOf(object as TonApi) },
    },
    {
      ...dependencies,
      onEvent(event) {
        if (!matters(event)) return;
        const key = keyOf(event.object);
        onTonApi(key, isInitial(event));
        // Plans, consent and the API itself decide over its keys.
        for (const tonApiKey of tonApiKeys.indexed('tonApi', key)) onTonApiKey(keyOf(tonApiKey), isInitial(event));
      },
    },
  );
  const tonApiKeys = createSharedInformer(
    {
      resource: resources.TonApiKey,
      namespaces,
      indexes: {
        tonApi: (object) => [apiKeyOf(object as TonApiKey)],
        id: (object) => (object as TonApiKey).status?.activeKeyIds ?? [],
      },
    },
    {
      ...dependencies,
      onEvent(event) {
        if (!matters(event)) return;
        onTonApiKey(keyOf(event.object), isInitial(event));
        onTonApi(apiKeyOf(event.object as TonApiKey), isInitial(event));
      },
    },
  );

  function onChild(event: CacheEvent): void {
    const owner = controllerOf(event.object);
    const { namespace } = event.object.metadata;
    const initial = isInitial(event);
    if (owner?.kind === 'TonApi') onTonApi(`${namespace}/${owner.name}`, initial);
    if (owner?.kind !== 'TonApiKey') return;
    onTonApiKey(`${namespace}/${owner.name}`, initial);
    const tonApiKey = tonApiKeys.get(`${namespace}/${owner.name}`) as TonApiKey | undefined;
    if (tonApiKey !== undefined) onTonApi(apiKeyOf(tonApiKey), initial);
  }
  const watchChildren = (kind: ResourceKind): SharedInformer =>
    createSharedInformer(
      { resource: resources[kind], namespaces, labelSelector: managed, indexes: byOwner },
      { ...dependencies, onEvent: onChild },
    );
  const children = new Map<ResourceKind, SharedInformer>(childKinds.map((kind) => [kind, watchChildren(kind)]));

  const pods = createSharedInformer(
    {
      resource: resources.Pod,
      namespaces,
      labelSelector: managed,
      indexes: { tonApi: (pod) => [podTonApi(pod)] },
      trim: trimmedPod,
    },
    { ...dependencies, onEvent: (event) => onTonApi(podTonApi(event.object), isInitial(event)) },
  );

  /** Watches only the existence of foreign objects. Values of foreign Secrets never enter this process. */
  const watchReferences = (kind: 'ConfigMap' | 'Secret'): SharedInformer =>
    createSharedInformer(
      { resource: resources[kind], namespaces, metadataOnly: true, trim: trimReference },
      {
        ...dependencies,
        onEvent(event) {
          for (const tonApi of tonApis.indexed('reference', `${kind} ${keyOf(event.object)}`)) {
            onTonApi(keyOf(tonApi), isInitial(event));
          }
        },
      },
    );
  const references = { ConfigMap: watchReferences('ConfigMap'), Secret: watchReferences('Secret') };

  function setServed(served: ReadonlySet<OptionalKind>): void {
    for (const kind of optionalKinds) {
      const watched = children.get(kind);
      if (served.has(kind) && watched === undefined) children.set(kind, watchChildren(kind));
      if (!served.has(kind) && watched !== undefined) {
        children.delete(kind);
        void watched.close();
      }
    }
  }
  setServed(options.served);
  const all = (): SharedInformer[] => [
    tonApis,
    tonApiKeys,
    pods,
    references.ConfigMap,
    references.Secret,
    ...children.values(),
  ];

  return {
    tonApi: (key) => tonApis.get(key) as TonApi | undefined,
    tonApis: () => [...tonApis.list()] as unknown as TonApi[],
    tonApiKey: (key) => tonApiKeys.get(key) as TonApiKey | undefined,
    tonApiKeysOf: (key) => tonApiKeys.indexed('tonApi', key) as unknown as readonly TonApiKey[],
    tonApiKeysWith: (id) => tonApiKeys.indexed('id', id) as unknown as readonly TonApiKey[],
    children: (uid) => [...children.values()].flatMap((watched) => watched.indexed('owner', uid)),
    child: (kind, key) => children.get(kind)?.get(key),
    pods: (tonApi) => pods.indexed('tonApi', keyOf(tonApi)),
    reference(kind, key) {
      const found = references[kind].get(key);
      return found && { resourceVersion: found.metadata.resourceVersion ?? '' };
    },
    put(object) {
      const own: Partial<Record<string, SharedInformer>> = { TonApi: tonApis, TonApiKey: tonApiKeys };
      (own[object.kind] ?? children.get(object.kind as ResourceKind))?.put(object);
    },
    setServed,
    synced: allSynced(all()),
    hasSynced: () => all().every((watched) => watched.hasSynced()),
    forbidden: () => all().some((watched) => watched.forbidden()),
    isUnknown: (namespace) => all().some((watched) => watched.isUnknown(namespace)),
    async close() {
      await Promise.all(all().map((watched) => watched.close()));
    },
  };
}

async function allSynced(watched: readonly SharedInformer[]): Promise<void> {
  await Promise.all(watched.map(({ synced }) => synced));
}

/** Only changes by a person matter on our own resources. Changes of the status are ours, and would make each reconcile cause the next. */
function matters(event: CacheEvent): boolean {
  if (event.type !== 'updated') return true;
  const [before, after] = [event.previous.metadata, event.object.metadata];
  return (
    before.generation !== after.generation ||
    before.deletionTimestamp !== after.deletionTimestamp ||
    JSON.stringify([before.annotations, before.labels]) !== JSON.stringify([after.annotations, after.labels])
  );
}

function isInitial(event: CacheEvent): boolean {
  return event.type === 'added' && event.initial;
}

/** `ConfigMap ns/name` and `Secret ns/name` of everything that the spec names. */
function referencesOf(tonApi: TonApi): string[] {
  return namedObjects(tonApi).map(({ kind, name }) => `${kind} ${tonApi.metadata.namespace}/${name}`);
}

/** The TonApi that a key points at. */
export function apiKeyOf({ metadata, spec }: TonApiKey): ObjectKey {
  return `${spec.apiRef.namespace ?? metadata.namespace}/${spec.apiRef.name}`;
}

function podTonApi({ metadata }: KubernetesObject): ObjectKey {
  return `${metadata.namespace}/${metadata.labels?.[instanceLabel] ?? ''}`;
}

function trimReference({ apiVersion, kind, metadata }: KubernetesObject): KubernetesObject {
  const { name, namespace = '', uid = '', resourceVersion = '' } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } };
}
