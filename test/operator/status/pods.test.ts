import { describe, expect, it } from 'vitest';

import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import { createPodReports } from '#operator/reconcile/pod-reports.ts';
import { indexState, waitingReason } from '#operator/status/pods.ts';

function pod(uid: string, component: string): KubernetesObject {
  const labels = { 'app.kubernetes.io/component': component };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: uid, uid, labels }, status: { podIP: uid } };
}

/** What the operator makes of pages, one a pod of the indexer; undefined: the pod does not answer. */
async function stateFrom(...pages: readonly unknown[]) {
  const pods = pages.map((_page, index) => pod(`${index}`, 'indexer'));
  const reports = createPodReports(
    { port: 1 },
    {
      fetchPage: async (address) => {
        const page = pages[Number(address)];
        if (page === undefined) throw new Error('away');
        return JSON.stringify(page);
      },
    },
  );
  return indexState(pods, await reports.read(pods, new AbortController().signal));
}

describe('the state of the index', () => {
  it.each([
    ['unknown while no pod answers', [undefined, undefined], undefined],
    ['unknown of a release that does not tell', [{ version: '1' }, { index: 'Live' }], undefined],
    ['unknown of one that tells more than we know', [{ index: { state: 'Dreaming' } }], undefined],
    ['what one pod says', [{ index: { state: 'Live' } }, undefined], 'Live'],
    ['the worst of what pods say', [{ index: { state: 'Live' } }, { index: { state: 'CatchingUp' } }], 'CatchingUp'],
    [
      'stalled when one is',
      [{ index: { state: 'CatchingUp' } }, { index: { state: 'Stalled' } }, { index: { state: 'Live' } }],
      'Stalled',
    ],
  ])('is %s', async (_case, pages, expected) => {
    expect(await stateFrom(...pages)).toBe(expected);
  });

  it('is told by pods of the indexer alone', () => {
    const says = { version: undefined, configHash: undefined, liteServers: undefined, index: 'Live' } as const;
    expect(indexState([pod('a', 'api')], new Map([['a', says]]))).toBeUndefined();
    expect(indexState([pod('a', 'indexer')], new Map([['a', says]]))).toBe('Live');
  });
});

/** A pod whose container has ended with this output. */
function ended(message: string): KubernetesObject {
  const containerStatuses = [{ ready: false, state: { terminated: { exitCode: 1, message } } }];
  return { ...pod('a', 'api'), status: { containerStatuses } };
}

/** A pod that the scheduler puts on no node, in its words. */
function unscheduled(message?: string): KubernetesObject {
  const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }];
  return { ...pod('a', 'api'), status: { phase: 'Pending', conditions } };
}

describe('the reason for which a pod does not run', () => {
  it.each([
    [
      '0/3 nodes are available: 1 node(s) had untolerated taint {dedicated: db}, 2 Insufficient memory. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.',
      'no node fits: had untolerated taint {dedicated: db}, Insufficient memory',
    ],
    [
      '0/4 nodes are available: 3 Insufficient memory, 1 node(s) had untolerated taint {dedicated: db}. preemption: not eligible due to preemptionPolicy=Never.',
      'no node fits: had untolerated taint {dedicated: db}, Insufficient memory',
    ],
    [
      "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
      "no node fits: didn't match Pod's node affinity/selector",
    ],
    ['0/2 nodes are available: pod has unbound immediate claims.', 'no node fits: pod has unbound immediate claims'],
    ['no nodes available to schedule pods', 'no node fits: no nodes available to schedule pods'],
    ['x'.repeat(400), `no node fits: ${'x'.repeat(300)}`],
    [undefined, 'no node fits'],
  ])('is the same words of the scheduler without its counts: %s', (message, expected) => {
    expect(waitingReason(unscheduled(message))).toBe(expected);
  });

  it('has no half of a character where the last output of its container is cut', () => {
    const words = `\ufffd${'😀'.repeat(149)}x`;
    expect(waitingReason(ended(`${'😀'.repeat(150)}x`))).toBe(`CrashLoopBackOff: exit code 1 (Error): ${words}`);
  });
});
