import { describe, expect, it } from 'vitest';

import { childAnnotations, childNames } from '#operator/desired/names.ts';
import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import { createCanaryWatch } from '#operator/reconcile/canary-watch.ts';

import { createVirtualClock } from '#test/support/virtual-clock.ts';

import { sample } from '../desired/samples.ts';

const rollout = {
  strategy: 'Canary' as const,
  steps: [{ weight: 10, hold: '10s' }],
  maxErrorRatio: '0.01',
  drainSeconds: 1,
};
const tonApi = sample('smallest', { rollout });
const names = childNames(tonApi);
const clock = createVirtualClock();

/** A Deployment whose pods have all started. */
function deployment(name: string, coldHash: string, annotations: Record<string, string> = {}): KubernetesObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'ton', generation: 1, annotations },
    spec: { replicas: 1, template: { metadata: { annotations: { [childAnnotations.coldHash]: coldHash } } } },
    status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1, readyReplicas: 1 },
  };
}

function pod(component: string, coldHash: string, address: string): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `pod-${address}`,
      namespace: 'ton',
      uid: address,
      labels: { 'app.kubernetes.io/component': component },
      annotations: { [childAnnotations.coldHash]: coldHash },
    },
    status: { phase: 'Running', podIP: address },
  };
}

/** A look at a canary of `next` in its first step beside these pods, each with so many good and failed requests. */
async function look(pods: readonly { pod: KubernetesObject; good: number; failed: number }[]) {
  const counts = new Map(pods.map((row) => [row.pod.status?.['podIP'], row]));
  const asked: string[] = [];
  const fetchPage = async (address: string): Promise<string> => {
    asked.push(address);
    const { good = 0, failed = 0 } = counts.get(address) ?? {};
    return `ton_http_requests_total{status="200"} ${good}\nton_http_requests_total{status="500"} ${failed}\n`;
  };
  const state = JSON.stringify({ hash: 'wanted', step: 0, since: new Date(clock.unixMs()).toISOString() });
  const children = [
    deployment(names.api, 'stable'),
    deployment(names.canary, 'next', { [childAnnotations.canary]: state }),
  ];
  const watch = createCanaryWatch({ port: 9090 }, { fetchPage, clock });
  const seen = { children, pods: pods.map((row) => row.pod) };
  const decision = await watch.decide(tonApi, 'wanted', seen, new AbortController().signal);
  return { phase: decision.phase, asked };
}

const stable = { pod: pod('api', 'stable', '10.0.0.1'), good: 1000, failed: 0 };

describe('the watch over a canary', () => {
  it('gives up a canary whose own pods fail', async () => {
    const own = { pod: pod('api-canary', 'next', '10.0.0.2'), good: 380, failed: 20 };
    expect(await look([stable, own])).toEqual({ phase: 'rolledBack', asked: ['10.0.0.2', '10.0.0.1'] });
  });

  it('does not hold the failures of one that was given up, and still ends, against the next', async () => {
    const own = { pod: pod('api-canary', 'next', '10.0.0.2'), good: 400, failed: 0 };
    const given = { pod: pod('api-canary', 'given up', '10.0.0.3'), good: 380, failed: 20 };
    expect(await look([stable, own, given])).toEqual({ phase: 'step', asked: ['10.0.0.2', '10.0.0.1'] });
  });
});
