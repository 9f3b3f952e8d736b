import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import { createAuthority } from './certificate.ts';
import type { ClusterClient, ClusterObject } from './cluster-client.ts';
import { now } from './process-kubelet-container.ts';

/** Stands in for a metrics server and a custom-metrics adapter: what autoscalers ask, answered with what a test says. */
export type MetricsApi = {
  /** CPU that each pod with these labels uses, in thousandths of a core. */
  setCpu(milli: number): void;
  /** Value of a custom metric of each pod, as `ton_requests_per_second`. */
  setPodMetric(name: string, value: number): void;
  close(): Promise<void>;
};

const groups = {
  'metrics.k8s.io': 'v1beta1',
  'custom.metrics.k8s.io': 'v1beta2',
} as const;

type Group = keyof typeof groups;

/** Serves both groups on loopback and joins them to the API server: an ExternalName Service leads it to `localhost`. */
export async function createMetricsApi(client: ClusterClient): Promise<MetricsApi> {
  const podMetrics = new Map<string, number>();
  let cpuMilli = 0;
  const { certificate: cert, key } = createAuthority('metrics').issue({
    commonName: 'localhost',
    hosts: ['localhost'],
  });

  async function answer(path: string, selector: string): Promise<object | undefined> {
    for (const [group, version] of Object.entries(groups)) {
      const root = `/apis/${group}/${version}`;
      if (path === root) return resourceList(group as Group, `${group}/${version}`, [...podMetrics.keys()]);
    }
    const [, group, namespace, metric] =
      /^\/apis\/([^/]+)\/[^/]+\/namespaces\/([^/]+)\/pods(?:\/[^/]+\/([^/]+))?$/.exec(path) ?? [];
    if (namespace === undefined) return undefined;
    const query = selector === '' ? '' : `?labelSelector=${encodeURIComponent(selector)}`;
    const pods = await client.list(`/api/v1/namespaces/${namespace}/pods${query}`);
    if (group === 'metrics.k8s.io') return cpuOf(pods, cpuMilli);
    const value = podMetrics.get(metric ?? '');
    return value === undefined ? undefined : valuesOf(pods, metric ?? '', value);
  }

  async function reply(url: URL, response: ServerResponse): Promise<void> {
    const body = await answer(url.pathname, url.searchParams.get('labelSelector') ?? '');
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body ?? { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404 }));
  }

  const server = createServer({ cert, key }, (request, response) => {
    const url = new URL(request.url ?? '/', 'https://localhost');
    void reply(url, response).catch(() => response.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await join(client, port);
  return {
    setCpu: (milli) => void (cpuMilli = milli),
    setPodMetric: (name, value) => void podMetrics.set(name, value),
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

async function join(client: ClusterClient, port: number): Promise<void> {
  const service = { name: 'metrics-api', namespace: 'kube-system', port };
  await client.apply(`/api/v1/namespaces/${service.namespace}/services/${service.name}`, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: service.name, namespace: service.namespace },
    spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] },
  });
  for (const [group, version] of Object.entries(groups)) {
    const name = `${version}.${group}`;
    await client.apply(`/apis/apiregistration.k8s.io/v1/apiservices/${name}`, {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name },
      spec: { group, version, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true, service },
    });
  }
}

function resourceList(group: Group, groupVersion: string, metrics: readonly string[]): object {
  const resources =
    group === 'metrics.k8s.io'
      ? [{ name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get', 'list'] }]
      : metrics.map((name) => ({
          name: `pods/${name}`,
          singularName: '',
          namespaced: true,
          kind: 'MetricValueList',
          verbs: ['get'],
        }));
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources };
}

function cpuOf(pods: readonly ClusterObject[], milli: number): object {
  const items = pods.map(({ metadata, spec }) => ({
    metadata: { name: metadata.name, namespace: metadata.namespace, labels: metadata.labels },
    timestamp: now(),
    window: '15s',
    containers: (spec.containers as { name: string }[]).map(({ name }) => ({
      name,
      usage: { cpu: `${milli}m`, memory: '64Mi' },
    })),
  }));
  return { kind: 'PodMetricsList', apiVersion: 'metrics.k8s.io/v1beta1', metadata: {}, items };
}

function valuesOf(pods: readonly ClusterObject[], metric: string, value: number): object {
  const items = pods.map(({ metadata: { namespace, name } }) => ({
    describedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name },
    metric: { name: metric },
    timestamp: now(),
    value: String(value),
  }));
  return { kind: 'MetricValueList', apiVersion: 'custom.metrics.k8s.io/v1beta2', metadata: {}, items };
}
