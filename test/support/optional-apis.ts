import type { ClusterClient } from './cluster-client.ts';

/** APIs that a cluster may have or not, as far as the operator uses them. */
const optionalApis = {
  ServiceMonitor: { group: 'monitoring.coreos.com', version: 'v1', plural: 'servicemonitors' },
  PrometheusRule: { group: 'monitoring.coreos.com', version: 'v1', plural: 'prometheusrules' },
  Probe: { group: 'monitoring.coreos.com', version: 'v1', plural: 'probes' },
  HTTPRoute: { group: 'gateway.networking.k8s.io', version: 'v1', plural: 'httproutes' },
  ScaledObject: { group: 'keda.sh', version: 'v1alpha1', plural: 'scaledobjects' },
} as const;

/** Serves them with a form that takes any fields: what stands in for the real definitions, which are not ours. */
export async function applyOptionalApis(
  client: ClusterClient,
  kinds: readonly (keyof typeof optionalApis)[] = Object.keys(optionalApis) as (keyof typeof optionalApis)[],
): Promise<void> {
  for (const kind of kinds) {
    const { group, version, plural } = optionalApis[kind];
    const name = `${plural}.${group}`;
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    await client.apply(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      // The API server asks this of groups that belong to Kubernetes.
      metadata: { name, annotations: { 'api-approved.kubernetes.io': 'unapproved, a stand-in for tests' } },
      spec: {
        group,
        scope: 'Namespaced',
        names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
        versions: [{ name: version, served: true, storage: true, subresources: { status: {} }, schema }],
      },
    });
  }
}
