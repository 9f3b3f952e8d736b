import type { TonApi } from '../resource.ts';
import { child } from './child.ts';
import { ports } from './deployment.ts';
import { childNames } from './names.ts';
import type { DesiredObject, References, Release } from './references.ts';
import { serviceUrl, weighted } from './service.ts';

type Exposure = NonNullable<TonApi['spec']['exposure']>;

/** Ingress or HTTPRoute of the manifest. Empty while the manifest wants the Gateway API and the cluster lacks it. */
export function buildExposure(tonApi: TonApi, references: References, release: Release): DesiredObject | undefined {
  const { exposure } = tonApi.spec;
  if (exposure === undefined) return undefined;
  if (exposure.kind === 'Ingress') return ingress(tonApi, exposure, release);
  return weighted(tonApi, references) ? httpRoute(tonApi, exposure, references, release) : undefined;
}

/** URL of the API for callers: the first host, or the Service inside the cluster. A Gateway chooses TLS itself; nearly all use TLS. */
export function publicUrl(tonApi: TonApi): string {
  return publicUrls(tonApi)[0] ?? serviceUrl(tonApi);
}

/** The URL of every host of the exposure; none without an exposure. */
export function publicUrls({ spec }: TonApi): readonly string[] {
  const { exposure } = spec;
  const secure = exposure?.kind === 'HTTPRoute' || exposure?.tlsSecretName !== undefined;
  return (exposure?.hosts ?? []).map((host) => `${secure ? 'https' : 'http'}://${host}`);
}

function ingress(tonApi: TonApi, exposure: Exposure, release: Release): DesiredObject {
  const { hosts, ingressClassName, tlsSecretName, annotations } = exposure;
  const backend = { service: { name: childNames(tonApi).api, port: { name: 'http' } } };
  return child(tonApi, release.version, {
    stage: 'exposure',
    component: 'api',
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    name: childNames(tonApi).api,
    ...(annotations && { annotations }),
    body: {
      spec: {
        ...(ingressClassName !== undefined && { ingressClassName }),
        ...(tlsSecretName !== undefined && { tls: [{ hosts, secretName: tlsSecretName }] }),
        rules: hosts.map((host) => ({ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } })),
      },
    },
  });
}

function httpRoute(tonApi: TonApi, exposure: Exposure, references: References, release: Release): DesiredObject {
  const { hosts, parentRefs, annotations } = exposure;
  const names = childNames(tonApi);
  const { canary } = references.rollout;
  return child(tonApi, release.version, {
    stage: 'exposure',
    component: 'api',
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    name: names.api,
    ...(annotations && { annotations }),
    body: {
      spec: {
        parentRefs: (parentRefs ?? []).map((parent) => ({
          group: 'gateway.networking.k8s.io',
          kind: 'Gateway',
          ...parent,
        })),
        hostnames: hosts,
        rules: [
          {
            matches: [{ path: { type: 'PathPrefix', value: '/' } }],
            backendRefs:
              canary === undefined || canary.weight === 0
                ? [routeBackend(names.api, 1)]
                : [routeBackend(names.api, 100 - canary.weight), routeBackend(names.canary, canary.weight)],
          },
        ],
      },
    },
  });
}

function routeBackend(name: string, weight: number): object {
  return { group: '', kind: 'Service', name, port: ports.http, weight };
}
