import type { TonApi } from '../resource.ts';

type Resources = NonNullable<TonApi['spec']['resources']>;
type Amounts = Readonly<Record<string, string>>;

/** Resources of a container. Requests are guaranteed. The limit of memory ends the container, the limit of CPU slows it. */
export type ContainerResources = { readonly requests: Amounts; readonly limits: Amounts };

/**
 * Resources of a container as the manifest gives them, over our defaults. A resource with a limit alone is requested up to it, as Kubernetes does. Memory
 * is limited to its request: a pod that is over would be the first that a node evicts. CPU has no limit unless given: throttling hurts tail latency.
 */
export function containerResources(given: Resources | undefined, defaults: Amounts): ContainerResources {
  const limits = asText(given?.limits);
  const requests = { ...defaults, ...limits, ...asText(given?.requests) };
  const memory = requests['memory'];
  return { requests, limits: { ...(memory !== undefined && { memory }), ...limits } };
}

function asText(amounts: Readonly<Record<string, number | string>> | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(amounts ?? {}).map(([name, amount]) => [name, String(amount)]));
}
