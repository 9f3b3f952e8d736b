import { trace } from '@opentelemetry/api';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';

import { createClient } from '#operator/kubernetes/client.ts';
import { systemClock } from '#operator/kubernetes/clock.ts';
import { createCredentials } from '#operator/kubernetes/credentials.ts';
import { createClientMetrics } from '#operator/kubernetes/metrics.ts';
import { createMountFailures } from '#operator/reconcile/mount-failures.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { createNamespace } from '#test/support/namespace.ts';
import { joinControlPlane } from '#test/support/shared-control-plane.ts';

describe.skipIf(await withoutControlPlane('events of mounts'))('events of a kubelet on an API server', () => {
  it('name the key that the Secret of a pod lacks', async () => {
    const { plane, client: cluster } = await joinControlPlane();
    const namespace = await createNamespace(cluster, 'mounts');
    const credentials = await createCredentials({ kubeconfig: plane.kubeconfigPath }, { now: systemClock.now });
    const client = createClient({
      credentials,
      metrics: createClientMetrics(new Registry()),
      tracer: trace.getTracer('test'),
      now: systemClock.now,
    });
    const event = (name: string, uid: string, key: string) =>
      cluster.create(`/api/v1/namespaces/${namespace.name}/events`, {
        metadata: { name },
        involvedObject: { kind: 'Pod', namespace: namespace.name, name: 'pod', uid },
        reason: 'FailedMount',
        message: `MountVolume.SetUp failed for volume "redis" : references non-existent secret key: ${key}`,
        type: 'Warning',
        lastTimestamp: new Date().toISOString(),
        source: { component: 'kubelet' },
      });
    await event('ours', 'uid-of-ours', 'url');
    await event('of-another', 'uid-of-another', 'other');
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'pod', namespace: namespace.name, uid: 'uid-of-ours' },
      status: {
        phase: 'Pending',
        conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-11-21T12:00:00Z' }],
      },
    };
    const volumes = [{ name: 'redis', secret: { secretName: 'shared', items: [{ key: 'url', path: 'url' }] } }];
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'main-api' },
      spec: { template: { spec: { volumes } } },
    };
    const { problems } = await createMountFailures({ client, clock: systemClock }).read([pod], [deployment], {});
    expect(problems).toEqual([{ reason: 'KeyMissing', message: 'Secret shared has no key url' }]);
    await namespace.delete();
    await credentials.close();
    await cluster.close();
  });
});
