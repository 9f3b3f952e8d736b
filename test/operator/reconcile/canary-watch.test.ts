import { describe, expect, it } from 'vitest';

import { childAnnotations, childNames } from '#operator/desired/names.ts';
import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import { countRequests, createCanaryWatch } from '#operator/reconcile/canary-watch.ts';
import type { TonApi } from '#operator/resource.ts';

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

/** The state of a canary of `wanted` in its first step. */
const begun = JSON.stringify({ hash: 'wanted', step: 0, since: new Date(clock.unixMs()).toISOString() });

type PodAtWork = { readonly pod: KubernetesObject; readonly good: number; readonly failed: number };

/** A look at a canary of `next` beside these pods, each with so many good and failed requests. Pods without counts do not answer. */
async function look(
  pods: readonly (PodAtWork | { readonly pod: KubernetesObject })[],
  { of = tonApi, canary = deployment(names.canary, 'next', { [childAnnotations.canary]: begun }) } = {},
) {
  const counts = new Map(pods.map((row) => [row.pod.status?.['podIP'], row]));
  const asked: string[] = [];
  const fetchPage = async (address: string): Promise<string> => {
    asked.push(address);
    const row = counts.get(address);
    if (row === undefined || !('good' in row)) throw new Error('no answer');
    const { good, failed } = row;
    return `ton_http_requests_total{status="200"} ${good}\nton_http_requests_total{status="500"} ${failed}\n`;
  };
  const children = [deployment(names.api, 'stable'), canary];
  const watch = createCanaryWatch({ port: 9090 }, { fetchPage, clock });
  const seen = { children, pods: pods.map((row) => row.pod) };
  const decision = await watch.decide(of, 'wanted', seen, new AbortController().signal);
  return { ...('why' in decision && { why: decision.why }), phase: decision.phase, asked };
}

const stable = { pod: pod('api', 'stable', '10.0.0.1'), good: 1000, failed: 0 };

describe('the watch over a canary', () => {
  it('gives up a canary whose own pods fail', async () => {
    const own = { pod: pod('api-canary', 'next', '10.0.0.2'), good: 380, failed: 20 };
    expect(await look([stable, own])).toMatchObject({ phase: 'rolledBack', asked: ['10.0.0.2', '10.0.0.1'] });
  });

  it('does not hold the failures of one that was given up, and still ends, against the next', async () => {
    const own = { pod: pod('api-canary', 'next', '10.0.0.2'), good: 400, failed: 0 };
    const given = { pod: pod('api-canary', 'given up', '10.0.0.3'), good: 380, failed: 20 };
    expect(await look([stable, own, given])).toMatchObject({ phase: 'step', asked: ['10.0.0.2', '10.0.0.1'] });
  });

  it('does not count pods that have no address yet or do not answer', async () => {
    const own = { pod: pod('api-canary', 'next', '10.0.0.2'), good: 400, failed: 0 };
    const silent = { pod: pod('api-canary', 'next', '10.0.0.4') };
    const starting = { pod: pod('api-canary', 'next', '') };
    const { phase, asked } = await look([stable, own, silent, starting]);
    expect({ phase, asked }).toEqual({ phase: 'step', asked: ['10.0.0.2', '10.0.0.4', '10.0.0.1'] });
  });

  it('ends with its caller, also while a pod is asked', async () => {
    const watch = createCanaryWatch({ port: 9090 }, { fetchPage: () => Promise.reject(new Error('ended')), clock });
    const seen = { children: [deployment(names.api, 'stable')], pods: [stable.pod] };
    const ended = AbortSignal.abort(new Error('the operator ends'));
    await expect(watch.decide(tonApi, 'wanted', seen, ended)).rejects.toThrow('the operator ends');
  });

  it.each([
    ['whose state somebody edited, begins again', deployment(names.canary, 'next', { [childAnnotations.canary]: '{' })],
    ['without a state, begins', deployment(names.canary, 'next')],
  ])('a canary %s at the first step', async (_what, canary) => {
    const own = { pod: pod('api-canary', 'next', '10.0.0.2'), good: 380, failed: 20 };
    expect(await look([stable, own], { canary })).toMatchObject({ phase: 'step', why: 'its pods start' });
  });

  it('gives up a canary whose pods did not become ready in their time', async () => {
    const { status, ...rest } = deployment(names.canary, 'next', { [childAnnotations.canary]: begun });
    const conditions = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }];
    const canary = { ...rest, status: { ...status, conditions } };
    expect(await look([stable], { canary })).toMatchObject({
      phase: 'rolledBack',
      why: 'its pods did not become ready',
    });
  });

  it('allows 1 % more failures where the manifest names no ratio, and takes a hold without a length as none', async () => {
    const { maxErrorRatio: _ratio, ...others } = rollout;
    const of = sample('smallest', { rollout: { ...others, steps: [{ weight: 10, hold: '0s' }] } });
    const own = { pod: pod('api-canary', 'next', '10.0.0.2') };
    const [tooMany, allowed] = [
      { ...own, good: 989, failed: 11 },
      { ...own, good: 990, failed: 10 },
    ];
    expect(await look([stable, tooMany], { of })).toMatchObject({ phase: 'rolledBack' });
    expect(await look([stable, allowed], { of })).toMatchObject({ phase: 'promote' });
  });

  it('waits while the pods of the canary start', async () => {
    const canary = { ...deployment(names.canary, 'next', { [childAnnotations.canary]: begun }), status: {} };
    expect(await look([stable], { canary })).toMatchObject({ phase: 'step', why: 'its pods start' });
  });

  it('begins where there is no canary yet', async () => {
    const canary = deployment('another', 'next');
    expect(await look([stable], { canary })).toMatchObject({ phase: 'step', why: 'its pods start' });
  });

  it('has nothing left to try when the manifest has no rollout any more', async () => {
    const { rollout: _rollout, ...spec } = sample('smallest').spec;
    const own = { pod: pod('api-canary', 'next', '10.0.0.2'), good: 1000, failed: 0 };
    const of = { ...tonApi, spec } as TonApi;
    expect(await look([stable, own], { of })).toMatchObject({ phase: 'promote' });
  });
});

describe('requests in the metrics of a pod', () => {
  it('are all answers but those that callers hung up on; answers from 500 on are failures', () => {
    const metrics = [
      'ton_http_requests_total{operation="getAddressState",status="200"} 7',
      'ton_http_requests_total{operation="getAddressState",status="404"} 5',
      'ton_http_requests_total{operation="getAddressState",status="499"} 90',
      'ton_http_requests_total{operation="getAddressState",status="503"} 3',
      'ton_http_request_seconds_count{status="500"} 40',
    ];
    expect(countRequests(metrics.join('\n'))).toEqual({ requests: 15, errors: 3 });
  });
});
