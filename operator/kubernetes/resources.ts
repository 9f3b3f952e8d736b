import type { KubernetesObject } from './object.ts';

/** A kind of object and where the API server keeps it. */
export type Resource = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
};

function resource<const Kind extends string>(
  apiVersion: string,
  kind: Kind,
  plural: string,
): Resource & { kind: Kind } {
  return { apiVersion, kind, plural };
}

/** Every kind that the operator reads or writes, by its name; all have a namespace but Namespace itself and reviews. */
export const resources = {
  TonApi: resource('tonplane.dev/v1alpha1', 'TonApi', 'tonapis'),
  TonApiKey: resource('tonplane.dev/v1alpha1', 'TonApiKey', 'tonapikeys'),
  Namespace: resource('v1', 'Namespace', 'namespaces'),
  Pod: resource('v1', 'Pod', 'pods'),
  Service: resource('v1', 'Service', 'services'),
  ConfigMap: resource('v1', 'ConfigMap', 'configmaps'),
  Secret: resource('v1', 'Secret', 'secrets'),
  ServiceAccount: resource('v1', 'ServiceAccount', 'serviceaccounts'),
  Deployment: resource('apps/v1', 'Deployment', 'deployments'),
  StatefulSet: resource('apps/v1', 'StatefulSet', 'statefulsets'),
  Job: resource('batch/v1', 'Job', 'jobs'),
  HorizontalPodAutoscaler: resource('autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers'),
  PodDisruptionBudget: resource('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets'),
  Ingress: resource('networking.k8s.io/v1', 'Ingress', 'ingresses'),
  NetworkPolicy: resource('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies'),
  Lease: resource('coordination.k8s.io/v1', 'Lease', 'leases'),
  Event: resource('events.k8s.io/v1', 'Event', 'events'),
  TokenReview: resource('authentication.k8s.io/v1', 'TokenReview', 'tokenreviews'),
  SubjectAccessReview: resource('authorization.k8s.io/v1', 'SubjectAccessReview', 'subjectaccessreviews'),
  HTTPRoute: resource('gateway.networking.k8s.io/v1', 'HTTPRoute', 'httproutes'),
  ServiceMonitor: resource('monitoring.coreos.com/v1', 'ServiceMonitor', 'servicemonitors'),
  PrometheusRule: resource('monitoring.coreos.com/v1', 'PrometheusRule', 'prometheusrules'),
  Probe: resource('monitoring.coreos.com/v1', 'Probe', 'probes'),
  ScaledObject: resource('keda.sh/v1alpha1', 'ScaledObject', 'scaledobjects'),
} as const satisfies Readonly<Record<string, Resource>>;

export type ResourceKind = keyof typeof resources;

/** Kinds of APIs that a cluster may not have. */
export const optionalKinds = ['HTTPRoute', 'ServiceMonitor', 'PrometheusRule', 'Probe', 'ScaledObject'] as const;
export type OptionalKind = (typeof optionalKinds)[number];

/** Groups of those APIs. */
export const optionalGroups: readonly string[] = [...new Set(optionalKinds.map((kind) => groupOf(kind)))];

/** API group of an optional kind. */
export function groupOf(kind: OptionalKind): string {
  return resources[kind].apiVersion.split('/')[0] ?? '';
}

/** The resource of an object of ours. */
export function resourceOf({ kind }: Pick<KubernetesObject, 'kind'>): Resource {
  const found = (resources as Readonly<Record<string, Resource>>)[kind];
  if (found === undefined) throw new TypeError(`${kind}: not a kind that the operator handles`);
  return found;
}

/** Path of the collection: of one namespace, or of all. */
export function collectionPath({ apiVersion, plural }: Resource, namespace: string | undefined): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const scope = namespace === undefined || namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${root}${scope}/${plural}`;
}

/** Path of one object. */
export function objectPath(
  of: Resource,
  { namespace, name }: { readonly namespace?: string | undefined; readonly name: string },
): string {
  return `${collectionPath(of, namespace)}/${encodeURIComponent(name)}`;
}
