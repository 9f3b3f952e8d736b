import type { TonApi } from '../resource.ts';
import { child } from './child.ts';
import { ports } from './deployment.ts';
import { childNames, instanceLabels, selectorLabels, trafficLabel, type Component } from './names.ts';
import type { DesiredObject, References, Release, Stage } from './references.ts';

/**
 * The Service in front of the API. Without an HTTPRoute, a canary shares this Service, and the number of pods is the weight.
 * An HTTPRoute has weights of its own and needs the two Deployments apart.
 */
export function buildApiService(tonApi: TonApi, references: References, release: Release): DesiredObject {
  const shared = hasCanaryTraffic(references) && !weighted(tonApi, references);
  return service(tonApi, release, {
    component: 'api',
    name: childNames(tonApi).api,
    selector: shared ? { ...instanceLabels(tonApi), [trafficLabel]: 'api' } : selectorLabels(tonApi, 'api'),
  });
}

/** The canary's own Service, for the weights of an HTTPRoute. */
export function buildCanaryService(
  tonApi: TonApi,
  references: References,
  release: Release,
): DesiredObject | undefined {
  if (!hasCanaryTraffic(references) || !weighted(tonApi, references)) return undefined;
  return service(tonApi, release, {
    component: 'api-canary',
    name: childNames(tonApi).canary,
    selector: selectorLabels(tonApi, 'api-canary'),
  });
}

/** True while a canary is tried; one that was given up has no pods. */
function hasCanaryTraffic({ rollout }: Pick<References, 'rollout'>): boolean {
  return (rollout.canary?.weight ?? 0) > 0;
}

/** True when an HTTPRoute shares the traffic by weight. */
export function weighted({ spec }: TonApi, { apis }: Pick<References, 'apis'>): boolean {
  return spec.exposure?.kind === 'HTTPRoute' && apis.has('gateway.networking.k8s.io');
}

/** URL of the API inside the cluster. */
export function serviceUrl(tonApi: TonApi): string {
  return `http://${childNames(tonApi).api}.${tonApi.metadata.namespace}.svc:${ports.http}`;
}

/** Service through which monitoring finds pods without callers. It has the name of their workload. */
export function buildMetricsService(
  tonApi: TonApi,
  release: Release,
  parts: { readonly stage: Stage; readonly component: Component; readonly name: string },
): DesiredObject {
  return child(tonApi, release.version, {
    ...parts,
    apiVersion: 'v1',
    kind: 'Service',
    body: {
      spec: {
        clusterIP: 'None',
        publishNotReadyAddresses: true,
        selector: selectorLabels(tonApi, parts.component),
        ports: [{ name: 'metrics', port: ports.internal, targetPort: 'metrics', protocol: 'TCP', appProtocol: 'http' }],
      },
    },
  });
}

type ServiceParts = {
  readonly component: Component;
  readonly name: string;
  readonly selector: Readonly<Record<string, string>>;
};

function service(tonApi: TonApi, release: Release, { component, name, selector }: ServiceParts): DesiredObject {
  return child(tonApi, release.version, {
    stage: 'api',
    component,
    apiVersion: 'v1',
    kind: 'Service',
    name,
    body: {
      spec: {
        type: 'ClusterIP',
        selector,
        trafficDistribution: 'PreferClose',
        ports: [
          { name: 'http', port: ports.http, targetPort: 'http', protocol: 'TCP', appProtocol: 'http' },
          { name: 'metrics', port: ports.internal, targetPort: 'metrics', protocol: 'TCP', appProtocol: 'http' },
        ],
      },
    },
  });
}
