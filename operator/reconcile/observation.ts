import { configFile, configProblems, configText, globalConfigOf } from '../desired/config-map.ts';
import { childAnnotations, childNames } from '../desired/names.ts';
import type { References } from '../desired/references.ts';
import { unreadableValues } from '../desired/stored-values.ts';
import { keyringOf } from '../keys/keyring.ts';
import { secretNameOf } from '../keys/key-secret.ts';
import { rowsOfUnknown } from '../keys/stored-keyring.ts';
import type { RequestBounds } from '../kubernetes/client.ts';
import type { Clock } from '../kubernetes/clock.ts';
import { controllerOf, keyOf, type KubernetesObject } from '../kubernetes/object.ts';
import type { OptionalKind } from '../kubernetes/resources.ts';
import type { TonApi } from '../resource.ts';
import { migrated } from '../rollout/migration.ts';
import type { Missing } from '../rollout/missing-mounts.ts';
import type { KeyringRow } from '../service-config.ts';
import type { Caches } from './caches.ts';
import type { Consent } from './consent.ts';
import type { MountFailures } from './mount-failures.ts';
import type { PodReport, PodReports } from './pod-reports.ts';
import {
  namedReferences,
  settledShards,
  type NamedReference,
  type ReferenceProblem,
  type ReferencedTexts,
} from './references.ts';

/** Everything that a reconcile of a TonApi observes before it decides. */
export type Observation = {
  readonly references: Omit<References, 'rollout'>;
  /** References of the spec that are missing or invalid. */
  readonly problems: readonly ReferenceProblem[];
  /** Objects that pods would wait for. */
  readonly missing: Missing;
  /** The configuration that the spec asks for cannot be made, or would be refused by pods: what they have stays. */
  readonly isConfigUnfit: boolean;
  readonly children: readonly KubernetesObject[];
  readonly pods: readonly KubernetesObject[];
  /** Reports by UID of the pod; ready pods that did not answer have none. */
  readonly reports: ReadonlyMap<string, PodReport>;
  /** Time of the next reconcile without an event. */
  readonly requeueAfterMs: number | undefined;
};

export type ObserveDependencies = {
  readonly caches: Caches;
  readonly served: () => ReadonlySet<OptionalKind>;
  readonly texts: ReferencedTexts;
  readonly reports: PodReports;
  readonly mounts: MountFailures;
  readonly consent: Consent;
  readonly clock: Clock;
};

/** Observes the references, children and pods of a TonApi. */
export async function observe(
  tonApi: TonApi,
  dependencies: ObserveDependencies,
  bounds: RequestBounds & { readonly signal: AbortSignal },
): Promise<Observation> {
  const { caches, clock } = dependencies;
  const children = caches.children(tonApi.metadata.uid ?? '');
  const pods = caches.pods(tonApi);
  const named = namedReferences(tonApi, caches);
  const [given, reports, keyring, mounts] = await Promise.all([
    readGlobalConfigText(tonApi, dependencies, bounds),
    dependencies.reports.read(pods, bounds.signal),
    readKeyring(tonApi, dependencies, bounds),
    dependencies.mounts.read(pods, children, bounds),
  ]);
  const unresolved = [...named.flatMap(({ problem }) => problem ?? []), ...mounts.problems];
  const unreadable = unreadableProblems(tonApi);
  const config = judgeConfig(tonApi, given, children);
  const { settled, requeueAfterMs } = settledShards(children, clock.unixMs());
  return {
    references: {
      served: dependencies.served(),
      globalConfig: config.globalConfig,
      keyring,
      keyringShardsSettled: settled,
      migrated: migrated(tonApi, children),
    },
    problems: unresolved.some(({ reason }) => reason === 'ConfigMapNotFound')
      ? [...unresolved, ...unreadable]
      : [...unresolved, ...unreadable, ...config.problems.filter((problem) => !isAmong(problem, unreadable))],
    missing: missingOf(tonApi, named, config, children),
    isConfigUnfit: config.isUnfit,
    children,
    pods,
    reports,
    requeueAfterMs: soonest(requeueAfterMs, nextEndMs(keyring, clock.unixMs()), mounts.requeueAfterMs),
  };
}

/** Rows of the keys in force, built from the TonApiKeys and their Secrets. Rows of a namespace that is unknown stay. */
async function readKeyring(
  tonApi: TonApi,
  { caches, consent, clock }: ObserveDependencies,
  bounds: RequestBounds,
): Promise<readonly KeyringRow[]> {
  const keys = caches.tonApiKeysOf(keyOf(tonApi));
  const known = await Promise.all(
    keys.map(async (tonApiKey) => {
      const secret = caches.child('Secret', `${tonApiKey.metadata.namespace}/${secretNameOf(tonApiKey)}`);
      const isOwn = secret !== undefined && controllerOf(secret)?.uid === tonApiKey.metadata.uid;
      const permitted = await consent(tonApi, tonApiKey, bounds);
      return { tonApiKey, secret: isOwn ? secret : undefined, permitted };
    }),
  );
  const rows = keyringOf(tonApi, known, clock.unixMs());
  if (!caches.isUnknown()) return rows;
  const ids = new Set(rows.map(({ id }) => id));
  const shards = caches.children(tonApi.metadata.uid ?? '').filter(isShard);
  const unknown = rowsOfUnknown(shards, (namespace) => caches.isUnknown(namespace)).filter(({ id }) => !ids.has(id));
  return [...rows, ...unknown].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function isShard({ kind, metadata }: KubernetesObject): boolean {
  return kind === 'Secret' && metadata.annotations?.[childAnnotations.keyringShards] !== undefined;
}

/** Time at which the next row expires. */
function nextEndMs(keyring: readonly KeyringRow[], unixMs: number): number | undefined {
  const ends = keyring.flatMap(({ notAfter }) => (notAfter === undefined ? [] : [Date.parse(notAfter) - unixMs]));
  return ends.length === 0 ? undefined : Math.max(0, Math.min(...ends));
}

function soonest(...delaysMs: readonly (number | undefined)[]): number | undefined {
  const known = delaysMs.filter((ms) => ms !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
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

/** The configuration as far as it can be made. */
type JudgedConfig = {
  /** Text of the referenced ConfigMap. If it is missing or wrong, the text that the pods got last. */
  readonly globalConfig: string | undefined;
  readonly problems: readonly ReferenceProblem[];
  readonly isUnfit: boolean;
};

/**
 * Reports what the pods would refuse, before they get it. If lite servers are unreadable, the pods' current ones stay in force.
 * Plans and limits can therefore still change.
 */
function judgeConfig(tonApi: TonApi, given: string | undefined, children: readonly KubernetesObject[]): JudgedConfig {
  const reference = tonApi.spec.liteServerConfigRef;
  const isReferenced = reference?.kind === 'ConfigMap';
  const stored = storedConfig(tonApi, children);
  // The pods' current text passed this check before. Reading it at every reconcile would cost more than all other work.
  const isFit = (text: string | undefined): boolean =>
    (text !== undefined || !isReferenced) &&
    (stored === configText(tonApi, text) || configProblems(tonApi, text).length === 0);
  if (isFit(given)) return { globalConfig: given, problems: [], isUnfit: false };
  const problems = given === undefined && isReferenced ? [keyMissing(reference)] : [invalid(tonApi, given)];
  const last = isReferenced && stored !== undefined ? globalConfigOf(stored, reference.key) : undefined;
  return { globalConfig: last ?? given, problems, isUnfit: !isFit(last) };
}

/** Values that the operator cannot read, also those that no pod gets to see. */
function unreadableProblems(tonApi: TonApi): ReferenceProblem[] {
  return unreadableValues(tonApi).map(({ path, expected }) => ({
    reason: 'InvalidReference',
    message: `${path}: ${expected}`,
  }));
}

/** True if one of the others is about the same field. */
function isAmong({ message }: ReferenceProblem, others: readonly ReferenceProblem[]): boolean {
  return others.some((other) => other.message.split(': ')[0] === message.split(': ')[0]);
}

function keyMissing({ name, key }: { readonly name: string; readonly key: string }): ReferenceProblem {
  return { reason: 'KeyMissing', message: `ConfigMap ${name} has no key ${key}` };
}

function invalid(tonApi: TonApi, globalConfig: string | undefined): ReferenceProblem {
  const [message = ''] = configProblems(tonApi, globalConfig);
  return { reason: 'InvalidReference', message };
}

/** The configuration that the pods were given last. */
function storedConfig(tonApi: TonApi, children: readonly KubernetesObject[]): string | undefined {
  const { config } = childNames(tonApi);
  const found = children.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === config);
  return found?.data?.[configFile];
}

/** Missing objects that pods wait for: named Secrets, and a configuration that was never made. */
function missingOf(
  tonApi: TonApi,
  named: readonly NamedReference[],
  { isUnfit }: JudgedConfig,
  children: readonly KubernetesObject[],
): Missing {
  const absent = named.filter(({ problem }) => problem !== undefined).map(({ kind, name }) => `${kind} ${name}`);
  const isConfigless = isUnfit && storedConfig(tonApi, children) === undefined;
  return new Set([...absent, ...(isConfigless ? [`ConfigMap ${childNames(tonApi).config}`] : [])]);
}
