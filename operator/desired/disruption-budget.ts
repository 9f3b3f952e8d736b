import type { TonApi } from '../resource.ts';
import { child } from './child.ts';
import { awakeReplicas, fixedReplicas } from './deployment.ts';
import { hasDatabase } from './indexer.ts';
import { childNames, selectorLabels, type Component } from './names.ts';
import type { DesiredObject, Release } from './references.ts';

/** Pods that must be ready for the API to count as available. A drain may take one pod. 0 where no pod is wanted. */
export function fewestReady(tonApi: TonApi): number {
  const replicas = fixedReplicas(tonApi);
  return replicas === 0 ? 0 : Math.max(1, replicas - 1);
}

/** Budget of the API's pods, where there may be several: a drain takes one at a time. */
export function buildApiBudget(tonApi: TonApi, release: Release): DesiredObject | undefined {
  const { autoscaling, replicas } = tonApi.spec;
  const most = awakeReplicas(tonApi, autoscaling?.maxReplicas ?? replicas);
  return most < 2 ? undefined : budget(tonApi, release, 'api', 'api');
}

/** Budget of the indexer's pods, where there are several. */
export function buildIndexerBudget(tonApi: TonApi, release: Release): DesiredObject | undefined {
  const pods = hasDatabase(tonApi, release) ? awakeReplicas(tonApi, tonApi.spec.indexer?.partitions ?? 0) : 0;
  return pods < 2 ? undefined : budget(tonApi, release, 'indexer', 'indexer');
}

/** Pods that are not ready may always go: they serve no caller, and a node must not wait for them. */
function budget(tonApi: TonApi, release: Release, component: Component, stage: 'api' | 'indexer'): DesiredObject {
  return child(tonApi, release.version, {
    stage,
    component,
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    name: childNames(tonApi)[stage],
    body: {
      spec: {
        maxUnavailable: 1,
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
        selector: { matchLabels: selectorLabels(tonApi, component) },
      },
    },
  });
}
