import { type TonApi } from '../resource.ts';
import { ConfigError, configFromManifest, hotHashOfManifest, serviceHotHash } from '../service-config.ts';
import { canonicalJson } from './canonical.ts';
import { child } from './child.ts';
import { childAnnotations, childNames, type Migrated } from './names.ts';
import type { DesiredObject, References, Release } from './references.ts';

/** Key of the ConfigMap, and so name of the file in the pods. */
export const configFile = 'tonapi.yaml';

/** Limit of the API server for the data of one ConfigMap. */
const CONFIG_BYTES_MAX = 1024 * 1024;

/** Fields of the spec that the service does not read: they only define how pods run. Changing them leaves the configuration unchanged. */
const operatorFields: ReadonlySet<string> = new Set([
  'image',
  'replicas',
  'hibernate',
  'resources',
  'autoscaling',
  'exposure',
  'service',
  'keys',
  'networkPolicy',
  'metadata',
  'ignoreDifferences',
  'podTemplate',
]);

/**
 * The text that the pods mount: the TonApi as the service reads it. The ConfigMap with lite servers follows as a second document.
 * Pods mount a Secret with lite servers themselves; the operator never reads it.
 */
export function configText(tonApi: TonApi, globalConfig: string | undefined): string {
  const { rollout, observability, indexer, tokenMetadata, ...spec } = tonApi.spec;
  const manifest = {
    apiVersion: tonApi.apiVersion,
    kind: tonApi.kind,
    metadata: { name: tonApi.metadata.name, namespace: tonApi.metadata.namespace },
    spec: {
      ...Object.fromEntries(Object.entries(spec).filter(([name]) => !operatorFields.has(name))),
      ...(indexer && { indexer: { ...indexer, resources: undefined } }),
      ...(tokenMetadata && { tokenMetadata: { ...tokenMetadata, replicas: undefined, resources: undefined } }),
      ...(rollout && { rollout: { drainSeconds: rollout.drainSeconds } }),
      ...(observability && { observability: { logLevel: observability.logLevel, tracing: observability.tracing } }),
    },
  };
  const reference = tonApi.spec.liteServerConfigRef;
  if (reference?.kind !== 'ConfigMap' || globalConfig === undefined) return `${canonicalJson(manifest)}\n`;
  const { name, key } = reference;
  const referenced = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { [key]: globalConfig } };
  return `${canonicalJson(manifest)}\n---\n${canonicalJson(referenced)}\n`;
}

/** Text of the referenced ConfigMap within the result of `configText`. Undefined when absent, or when somebody changed it. */
export function globalConfigOf(text: string, key: string): string | undefined {
  const [, second] = text.split('\n---\n');
  try {
    const { data } = JSON.parse(second ?? '') as { readonly data?: Readonly<Record<string, unknown>> };
    const found = data?.[key];
    return typeof found === 'string' ? found : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reports what pods would refuse in the configuration, before they get it. It covers rules that only both halves together can break.
 * It also covers every fault of the ConfigMap with lite servers. Lite servers in a Secret are unknown here.
 */
export function configProblems(tonApi: TonApi, globalConfig: string | undefined): string[] {
  const text = configText(tonApi, globalConfig);
  const bytes = Buffer.byteLength(text);
  if (bytes > CONFIG_BYTES_MAX)
    return [`the configuration has ${bytes} bytes; a ConfigMap holds at most ${CONFIG_BYTES_MAX}`];
  try {
    if (tonApi.spec.liteServerConfigRef?.kind === 'Secret') hotHashOfManifest(text);
    else configFromManifest(text);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.data.problems.map(({ path, expected }) => (path === '' ? expected : `${path}: ${expected}`));
  }
}

/**
 * Hash that every ready pod must report for this configuration to be in force. Equals the hash of `configText` without reading the text again.
 */
export function hotHash(tonApi: TonApi, { globalConfig }: Pick<References, 'globalConfig'>): string {
  return serviceHotHash(tonApi, tonApi.spec.liteServerConfigRef?.kind === 'ConfigMap' ? globalConfig : undefined);
}

/** Builds the hot configuration as one document (operator/README.md#hot-and-cold-configuration). */
export function buildConfigMap(tonApi: TonApi, references: References, release: Release): DesiredObject {
  const { globalConfig, migrated } = references;
  return child(tonApi, release.version, {
    stage: 'config',
    component: 'config',
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: childNames(tonApi).config,
    annotations: {
      [childAnnotations.configHash]: hotHash(tonApi, references),
      ...migratedAnnotations(migrated),
    },
    body: { data: { [configFile]: configText(tonApi, globalConfig) } },
  });
}

/** Record of a migration. The ConfigMap preserves it when the Job is gone. */
export function migratedAnnotations(migrated: Migrated | undefined): Record<string, string> {
  if (migrated === undefined) return {};
  return { [childAnnotations.schemaVersion]: String(migrated.schema), [childAnnotations.migrationKey]: migrated.key };
}
