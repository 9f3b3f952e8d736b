import type { TonApi } from '../resource.ts';
import { child } from './child.ts';
import { ports } from './deployment.ts';
import { childNames, instanceLabels, selectorLabels, trafficLabel, type Component } from './names.ts';
import type { DesiredObject, References, Release, Stage } from './references.ts';

/**
 * The Services of the API's pods: for callers, and for monitoring where callers come from outside of the cluster.
 * Without an HTTPRoute, a canary shares these Services, and the number of pods is the weight.
 * An HTTPRoute has weights of its own and needs the two Deployments apart.
 */
export function buildApiServices(tonApi: TonApi, references: References, release: Release): DesiredObject[] {
  const shared = hasCanaryTraffic(references) && !weighted(tonApi, references);
  const selector = shared ? { ...instanceLabels(tonApi), [trafficLabel]: 'api' } : selectorLabels(tonApi, 'api');
  const callers = service(tonApi, release, { component: 'api', name: childNames(tonApi).api, selector });
  if (!isOpen(tonApi)) return [callers];
  const name = metricsServiceName(tonApi);
  return [callers, buildMetricsService(tonApi, release, { stage: 'api', component: 'api', name, selector })];
}

/** Name of the Service through which monitoring finds the API's pods. */
export function metricsServiceName(tonApi: TonApi): string {
  const { api, apiMetrics } = childNames(tonApi);
  return isOpen(tonApi) ? apiMetrics : api;
}

/** True for a Service that is reached from outside of the cluster. It has no port of the internal listener. */
function isOpen({ spec }: TonApi): boolean {
  return spec.service !== undefined && spec.service.type !== 'ClusterIP';
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
export function weighted({ spec }: TonApi, { served }: Pick<References, 'served'>): boolean {
  return spec.exposure?.kind === 'HTTPRoute' && served.has('HTTPRoute');
}

/** URL of the API inside the cluster. */
export function serviceUrl(tonApi: TonApi): string {
  return `http://${childNames(tonApi).api}.${tonApi.metadata.namespace}.svc:${ports.http}`;
}

/** Service through which monitoring finds pods, callers do not. By default it selects the pods of its component. */
export function buildMetricsService(
  tonApi: TonApi,
  release: Release,
  parts: {
    readonly stage: Stage;
    readonly component: Component;
    readonly name: string;
    readonly selector?: Readonly<Record<string, string>>;
  },
): DesiredObject {
  const { selector = selectorLabels(tonApi, parts.component), ...shared } = parts;
  return child(tonApi, release.version, {
    ...shared,
    apiVersion: 'v1',
    kind: 'Service',
    body: {
      spec: {
        clusterIP: 'None',
        publishNotReadyAddresses: true,
        selector,
        ports: [metricsPort],
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
  const isCallers = component === 'api';
  const { annotations, type, sessionAffinity, ...external } = (isCallers ? tonApi.spec.service : undefined) ?? inside;
  return child(tonApi, release.version, {
    stage: 'api',
    component,
    apiVersion: 'v1',
    kind: 'Service',
    name,
    ...(annotations && { annotations }),
    body: {
      spec: {
        type,
        ...(sessionAffinity !== 'None' && { sessionAffinity }),
        ...external,
        selector,
        trafficDistribution: 'PreferClose',
        ports: [
          { name: 'http', port: ports.http, targetPort: 'http', protocol: 'TCP', appProtocol: 'http' },
          ...(isCallers && isOpen(tonApi) ? [] : [metricsPort]),
        ],
      },
    },
  });
}

/** Port of the internal listener, by which monitoring finds pods. */
const metricsPort = {
  name: 'metrics',
  port: ports.internal,
  targetPort: 'metrics',
  protocol: 'TCP',
  appProtocol: 'http',
} as const;

/** Settings of a Service inside the cluster. */
const inside: NonNullable<TonApi['spec']['service']> = { type: 'ClusterIP', sessionAffinity: 'None' };
