import { isFields, keysOfList, keyText } from '../kubernetes/keyed-lists.ts';
import type { TonApi } from '../resource.ts';
import { ownContainers } from '../service-config.ts';

type Fields = Readonly<Record<string, unknown>>;
type Named = Fields & { readonly name?: unknown };

/** Container of the operator in a pod. */
type OwnContainer = (typeof ownContainers)[number] | 'redis';

const probes = ['startupProbe', 'readinessProbe', 'livenessProbe'] as const;

/** Labels of the author for pods. A short form wins over the same field of the PodTemplateSpec. */
export function podLabels({ spec }: TonApi): Readonly<Record<string, string>> {
  return { ...spec.podTemplate?.metadata?.labels, ...spec.podTemplate?.labels };
}

/** Annotations of the author for pods, by the same rule. */
export function podAnnotations({ spec }: TonApi): Readonly<Record<string, string>> {
  return { ...spec.podTemplate?.metadata?.annotations, ...spec.podTemplate?.annotations };
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
  const sidecars = own === 'migration' ? [] : containers.filter(({ name }) => !isOwn(name));
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

function isOwn(name: unknown): boolean {
  return ownContainers.some((own) => own === name);
}

/** The author's times of probes over the operator's. The page that a probe asks stays. */
function withProbeTimes(container: Named, given: Named): Named {
  const own = probes.flatMap((name): [string, unknown][] => {
    const [wanted, probe] = [given[name], container[name]];
    return isFields(wanted) && isFields(probe) ? [[name, { ...probe, ...wanted, httpGet: probe['httpGet'] }]] : [];
  });
  return { ...container, ...Object.fromEntries(own) };
}

/** The protocol is a part of the key by which the API server finds a port. An empty one is its default too. */
function withProtocols(container: Named): Named {
  const { ports } = container;
  if (!Array.isArray(ports)) return container;
  return { ...container, ports: ports.map((port: Fields) => ({ ...port, protocol: port['protocol'] || 'TCP' })) };
}

function merged(under: Fields, over: Fields): Fields {
  const names = [...new Set([...Object.keys(over), ...Object.keys(under)])];
  return Object.fromEntries(names.map((name) => [name, mergedField(name, under[name], over[name])]));
}

function mergedField(name: string, under: unknown, over: unknown): unknown {
  if (over === undefined) return under;
  if (isFields(under) && isFields(over)) return merged(under, over);
  const keys = keysOfList(name);
  return keys !== undefined && Array.isArray(under) && Array.isArray(over) ? mergedList(keys, under, over) : over;
}

/** The operator's elements first, each over the author's of the same key; then the author's others. */
function mergedList(keys: readonly string[], under: readonly Fields[], over: readonly Fields[]): readonly Fields[] {
  const found = new Map(under.map((element) => [keyText(element, keys), element]));
  const own = new Set(over.map((element) => keyText(element, keys)));
  return [
    ...over.map((element) => merged(found.get(keyText(element, keys)) ?? {}, element)),
    ...under.filter((element) => !own.has(keyText(element, keys))),
  ];
}
