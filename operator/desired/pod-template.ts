import type { TonApi } from '../resource.ts';

type Fields = Readonly<Record<string, unknown>>;
type Named = Fields & { readonly name?: unknown };

/** Container of the operator in a pod. The embedded Redis is no part of the service and takes no container of the author. */
export type OwnContainer = 'api' | 'indexer' | 'metadata' | 'migration' | 'redis';

const ownContainers: ReadonlySet<unknown> = new Set(['api', 'indexer', 'metadata', 'migration']);

/** Key of the elements of each list that is merged; any other list is replaced. */
const listKeys: Readonly<Record<string, string>> = {
  containers: 'name',
  initContainers: 'name',
  volumes: 'name',
  env: 'name',
  imagePullSecrets: 'name',
  volumeMounts: 'mountPath',
  volumeDevices: 'devicePath',
  hostAliases: 'ip',
};

const probes = ['startupProbe', 'readinessProbe', 'livenessProbe'] as const;

/** Labels of the author for pods. */
export function podLabels({ spec }: TonApi): Readonly<Record<string, string>> {
  return { ...spec.podTemplate?.labels, ...spec.podTemplate?.metadata?.labels };
}

/** Annotations of the author for pods. */
export function podAnnotations({ spec }: TonApi): Readonly<Record<string, string>> {
  return { ...spec.podTemplate?.annotations, ...spec.podTemplate?.metadata?.annotations };
}

/**
 * Merges the author's `podTemplate.spec` strategically under a pod's `spec`. The operator's values win, except times of probes and the
 * spread over nodes and zones. The API server refuses fields that may not be set, so nothing is lost in silence.
 *
 * @param own the operator's container in this pod
 */
export function withPodTemplate({ spec }: TonApi, own: OwnContainer, pod: Fields): Fields {
  const given = spec.podTemplate?.spec;
  if (given === undefined) return pod;
  const { containers = [], initContainers, volumes, topologySpreadConstraints, ...rest } = given as GivenPod;
  const spread = topologySpreadConstraints === undefined ? {} : { topologySpreadConstraints };
  if (own === 'redis') return { ...merged(rest, pod), ...spread };
  const mine = containers.find(({ name }) => name === own);
  // A sidecar would keep the Job of a migration from its end.
  const sidecars = own === 'migration' ? [] : containers.filter(({ name }) => !ownContainers.has(name));
  const under = {
    ...rest,
    ...(volumes && { volumes }),
    ...(initContainers && { initContainers: initContainers.map(withProtocols) }),
    containers: [...(mine === undefined ? [] : [mine]), ...sidecars.map(withProtocols)],
  };
  const all = merged(under, pod) as GivenPod;
  return {
    ...all,
    containers: (all.containers ?? []).map((container) =>
      container.name === own && mine !== undefined ? withProbeTimes(container, mine) : container,
    ),
    ...spread,
  };
}

type GivenPod = Fields & {
  readonly containers?: readonly Named[];
  readonly initContainers?: readonly Named[];
  readonly volumes?: readonly Named[];
  readonly topologySpreadConstraints?: unknown;
};

/** The author's times of probes over the operator's. The page that a probe asks stays. */
function withProbeTimes(container: Named, given: Named): Named {
  const own = probes.flatMap((name): [string, unknown][] => {
    const [wanted, probe] = [given[name], container[name]];
    return isFields(wanted) && isFields(probe) ? [[name, { ...probe, ...wanted, httpGet: probe['httpGet'] }]] : [];
  });
  return { ...container, ...Object.fromEntries(own) };
}

/** The protocol is a part of the key by which the API server finds a port. */
function withProtocols(container: Named): Named {
  const { ports } = container;
  if (!Array.isArray(ports)) return container;
  return { ...container, ports: ports.map((port: Fields) => ({ protocol: 'TCP', ...port })) };
}

function merged(under: Fields, over: Fields): Fields {
  const names = [...new Set([...Object.keys(over), ...Object.keys(under)])];
  return Object.fromEntries(names.map((name) => [name, mergedField(name, under[name], over[name])]));
}

function mergedField(name: string, under: unknown, over: unknown): unknown {
  if (over === undefined) return under;
  if (isFields(under) && isFields(over)) return merged(under, over);
  const key = listKeys[name];
  return key !== undefined && Array.isArray(under) && Array.isArray(over) ? mergedList(key, under, over) : over;
}

/** The operator's elements first, each over the author's of the same key; then the author's others. */
function mergedList(key: string, under: readonly Fields[], over: readonly Fields[]): readonly Fields[] {
  const found = new Map(under.map((element) => [element[key], element]));
  const keys = new Set(over.map((element) => element[key]));
  return [
    ...over.map((element) => merged(found.get(element[key]) ?? {}, element)),
    ...under.filter((element) => !keys.has(element[key])),
  ];
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
