import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startCluster, type Cluster } from './cluster.ts';
import { withoutControlPlane } from './control-plane-source.ts';
import { createMetricsApi, type MetricsApi } from './metrics-api.ts';

const deployments = '/apis/apps/v1/namespaces/default/deployments';

const sleeper = {
  metadata: { name: 'scaled' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'scaled' } },
    template: {
      metadata: { labels: { app: 'scaled' } },
      spec: {
        containers: [
          { name: 'sleep', image: 'any', command: ['sleep', '600'], resources: { requests: { cpu: '100m' } } },
        ],
      },
    },
  },
};

const autoscaler = {
  metadata: { name: 'scaled' },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'scaled' },
    minReplicas: 1,
    maxReplicas: 4,
    metrics: [
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
      {
        type: 'Pods',
        pods: { metric: { name: 'ton_requests_per_second' }, target: { type: 'AverageValue', averageValue: '100' } },
      },
    ],
  },
};

describe.skipIf(await withoutControlPlane('the metrics APIs', 'controllers'))('the metrics APIs', () => {
  let cluster: Cluster;
  let metrics: MetricsApi;
  beforeAll(async () => {
    cluster = await startCluster({ images: [] });
    metrics = await createMetricsApi(cluster.client);
    await cluster.client.create(deployments, sleeper);
    await cluster.client.create('/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', autoscaler);
  });
  afterAll(async () => {
    await metrics?.close();
    await cluster?.stop();
  });

  const replicas = async (): Promise<number> =>
    (await cluster.client.get(`${deployments}/scaled`))['status'].readyReplicas;

  it.each([
    { title: 'CPU above the target adds pods', cpu: 100, rate: 0, pods: 2 },
    { title: 'requests above the target add more', cpu: 50, rate: 250, pods: 4 },
    { title: 'neither takes them away', cpu: 5, rate: 10, pods: 1 },
  ])('scale a Deployment: $title', async ({ cpu, rate, pods }) => {
    metrics.setCpu(cpu);
    metrics.setPodMetric('ton_requests_per_second', rate);
    await expect.poll(replicas, { interval: 200 }).toBe(pods);
  });
});
