import type { TonApi } from '../resource.ts';
import { child } from './child.ts';
import { awakeReplicas, fixedReplicas } from './deployment.ts';
import { hasDatabase } from './indexer.ts';
import { childNames, selectorLabels, type Component } from './names.ts';
import type { DesiredObject, Release } from './references.ts';

/** Pods that must be ready for the API to count as available. A drain may take one pod. */
export function fewestReady(tonApi: TonApi): number {
  return Math.max(1, fixedReplicas(tonApi) - 1);
}

/** Budget of the API's pods: a drain takes one at a time. None for a single pod, which a budget would make undrainable. */
export function buildApiBudget(tonApi: TonApi, release: Release): DesiredObject | undefined {
  return fixedReplicas(tonApi) < 2 ? undefined : budget(tonApi, release, 'api', 'api');
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
