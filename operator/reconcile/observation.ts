import type { References, Release } from '../desired/references.ts';
import type { RequestBounds } from '../kubernetes/client.ts';
import type { Clock } from '../kubernetes/clock.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { OptionalKind } from '../kubernetes/resources.ts';
import type { TonApi } from '../resource.ts';
import { readGlobalConfig, type KeyringRow } from '../service-config.ts';
import type { Caches } from './caches.ts';
import type { PodReport, PodReports } from './pod-reports.ts';
import {
  namedReferences,
  optionalApis,
  settledShards,
  type ReferenceProblem,
  type ReferencedTexts,
} from './references.ts';

/** Everything that a look at a TonApi finds, before anything is decided. */
export type Observation = {
  readonly references: Omit<References, 'rollout'>;
  /** What the spec names and is not there, or not as it must be. */
  readonly problems: readonly ReferenceProblem[];
  readonly children: readonly KubernetesObject[];
  readonly pods: readonly KubernetesObject[];
  /** By UID of the pod; ready pods that did not answer have none. */
  readonly reports: ReadonlyMap<string, PodReport>;
  /** When to look again for time alone to have changed something. */
  readonly lookAgainMs: number | undefined;
};

export type ObserveDependencies = {
  readonly caches: Caches;
  readonly served: () => ReadonlySet<OptionalKind>;
  readonly texts: ReferencedTexts;
  readonly reports: PodReports;
  readonly keyring: (tonApi: TonApi) => readonly KeyringRow[];
  readonly clock: Clock;
};

/** Looks at what a TonApi refers to, has made, and runs. */
export async function observe(
  tonApi: TonApi,
  release: Release,
  dependencies: ObserveDependencies,
  bounds: RequestBounds & { readonly signal: AbortSignal },
): Promise<Observation> {
  const { caches, clock } = dependencies;
  const children = caches.children(tonApi.metadata.uid ?? '');
  const pods = caches.pods(tonApi);
  const named = namedReferences(tonApi, caches);
  const [globalConfig, reports] = await Promise.all([
    readGlobalConfigText(tonApi, dependencies, bounds),
    dependencies.reports.read(pods, bounds.signal),
  ]);
  const missing = named.flatMap(({ problem }) => problem ?? []);
  const { settled, lookAgainMs } = settledShards(children, clock.unixMs());
  return {
    references: {
      apis: optionalApis(dependencies.served()),
      globalConfig,
      keyring: dependencies.keyring(tonApi),
      keyringShardsSettled: settled,
      migratedSchema: migratedSchema(tonApi, children, release),
    },
    problems: missing.length > 0 ? missing : problemsOf(tonApi, globalConfig),
    children,
    pods,
    reports,
    lookAgainMs,
  };
}

async function readGlobalConfigText(
  { metadata, spec }: TonApi,
  { caches, texts }: ObserveDependencies,
  bounds: RequestBounds,
): Promise<string | undefined> {
  const reference = spec.liteServerConfigRef;
  if (reference?.kind !== 'ConfigMap') return undefined;
  const { namespace = '' } = metadata;
  const found = caches.reference('ConfigMap', `${namespace}/${reference.name}`);
  return found && texts.read({ ...reference, namespace }, found.resourceVersion, bounds);
}

/** What the pods would refuse in the referenced lite servers is told before they get it. */
function problemsOf({ spec }: TonApi, globalConfig: string | undefined): Observation['problems'] {
  const reference = spec.liteServerConfigRef;
  if (reference?.kind !== 'ConfigMap') return [];
  const { name, key } = reference;
  if (globalConfig === undefined) {
    return [{ reason: 'KeyMissing', message: `ConfigMap ${name} has no key ${key}` }];
  }
  const wrong: { path: string; expected: string }[] = [];
  readGlobalConfig(globalConfig, wrong);
  return wrong.slice(0, 1).map(({ path, expected }) => ({
    reason: 'InvalidReference',
    message: `ConfigMap ${name}, key ${key}: ${path} ${expected}`,
  }));
}

/** Version that the newest migration that is known to be done has brought. */
function migratedSchema(
  tonApi: TonApi,
  children: readonly KubernetesObject[],
  { schemaVersion }: Release,
): number | undefined {
  if (schemaVersion === undefined || tonApi.spec.postgres === undefined) return undefined;
  const done = children.filter(({ kind, status }) => kind === 'Job' && isComplete(status));
  const versions = done.map(({ metadata }) => Number(/-migrate-(\d+)$/.exec(metadata.name)?.[1] ?? Number.NaN));
  const known = [...versions, recordedSchema(tonApi)].filter((version) => Number.isInteger(version));
  return known.length === 0 ? undefined : Math.max(...known);
}

/** A finished Job goes after a day; that it was done stays in the condition's message. */
function recordedSchema({ status }: TonApi): number {
  const condition = status?.conditions?.find(({ type }) => type === 'Migrated');
  if (condition?.status !== 'True') return Number.NaN;
  return Number(/schema (\d+)/.exec(condition.message)?.[1] ?? Number.NaN);
}

function isComplete(status: KubernetesObject['status']): boolean {
  const conditions = (status?.['conditions'] ?? []) as readonly { type: string; status: string }[];
  return conditions.some(({ type, status: value }) => type === 'Complete' && value === 'True');
}
