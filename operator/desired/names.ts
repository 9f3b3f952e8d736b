import { group, type TonApi } from '../resource.ts';

/** Purpose of a pod or object of a TonApi; the label `app.kubernetes.io/component`. */
export type Component =
  | 'api'
  | 'api-canary'
  | 'indexer'
  | 'metadata'
  | 'migration'
  | 'redis'
  | 'config'
  | 'keyring'
  | 'monitoring';

/** Value of `app.kubernetes.io/managed-by`, and the field manager of every write. */
export const manager = 'ton-operator';

/** Field manager that owns `replicas` while they pass from us to an autoscaler (operator/README.md#writes). */
export const handoverManager = 'ton-operator-handover';

/** Annotations that we write on children; those a person writes are in resource.ts. */
export const childAnnotations = {
  /** Hash of the object as last wanted. It reveals fields that the operator no longer sets. */
  appliedHash: `${group}/applied-hash`,
  /** There while `spec.replicas` is ours: an autoscaler must be handed the number before we stop setting it. */
  appliedReplicas: `${group}/applied-replicas`,
  /** Hash of what a person can change in a template: equal while only the operator changed. */
  coldHash: `${group}/cold-hash`,
  /** Revision of the code that makes templates. */
  templateRevision: `${group}/template-revision`,
  /** Hash of the hot configuration in a ConfigMap. */
  configHash: `${group}/config-hash`,
  /** Version of the schema that the release asked for. It is on the migration's Job, and on the ConfigMap, which outlives the Job. */
  schemaVersion: `${group}/schema-version`,
  /** Identity of the migration, as `migrationKey` returns it; next to the version. */
  migrationKey: `${group}/migration-key`,
  /** On the canary Deployment: how far it is, as JSON. */
  canary: `${group}/canary`,
  /** Number of keyring shards that belong together. */
  keyringShards: `${group}/keyring-shards`,
} as const;

/** Result of a migration: the version of the schema that the release asked for, and the `migrationKey`. */
export type Migrated = { readonly schema: number; readonly key: string };

/** Label of the pods that take traffic, canaries included; a Service that shares by number of pods selects it. */
export const trafficLabel = `${group}/traffic`;

/** Label on Secrets of keys and other children: name of the TonApi that they belong to. */
export const tonApiLabel = `${group}/tonapi`;

/** Names of all children: the TonApi's name (at most 40 characters) and a suffix. A label value has at most 63. */
export function childNames(tonApi: TonApi) {
  const name = (suffix: string): string => `${tonApi.metadata.name}-${suffix}`;
  return {
    api: name('api'),
    canary: name('api-canary'),
    apiMetrics: name('api-metrics'),
    config: name('config'),
    indexer: name('indexer'),
    metadata: name('metadata'),
    redis: name('redis'),
    serviceAccount: name('pods'),
    keyring: (shard: number) => name(`keyring-${shard}`),
    migration: ({ schema, key }: Migrated) => name(`migrate-${schema}-${key}`),
    plan: name('plan'),
  };
}

/** True for a name that a Secret of ours has for some TonApi. The definition of TonApiKey refuses the same names. */
export function isReservedSecretName(name: string): boolean {
  return /-keyring-[0-9]+$/.test(name);
}

/** Labels that select pods of one component. A Deployment's selector is immutable, so it has only the necessary labels. */
export function selectorLabels(tonApi: TonApi, component: Component): Record<string, string> {
  return {
    'app.kubernetes.io/name': 'tonplane',
    'app.kubernetes.io/instance': tonApi.metadata.name,
    'app.kubernetes.io/component': component,
  };
}

/** The labels that all pods of a TonApi share. */
export function instanceLabels(tonApi: TonApi): Record<string, string> {
  const { 'app.kubernetes.io/component': _component, ...shared }: Record<string, string> = selectorLabels(
    tonApi,
    'api',
  );
  return shared;
}

/** All labels of a child. */
export function childLabels(tonApi: TonApi, component: Component, version: string): Record<string, string> {
  return {
    ...selectorLabels(tonApi, component),
    'app.kubernetes.io/version': labelValue(version),
    'app.kubernetes.io/part-of': 'tonplane',
    'app.kubernetes.io/managed-by': manager,
    [tonApiLabel]: tonApi.metadata.name,
  };
}

/** Labels as the text of a selector. */
export function selectorText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .toSorted()
    .join(',');
}

/** Converts a text to a label value: at most 63 letters, digits and `-_.`. Both ends are a letter or digit. */
function labelValue(text: string): string {
  return text
    .replaceAll(/[^A-Za-z0-9_.-]/g, '-')
    .slice(0, 63)
    .replaceAll(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '');
}
