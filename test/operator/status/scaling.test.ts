import { describe, expect, it } from 'vitest';

import { autoscalingProblem, buildAutoscaler } from '#operator/desired/autoscaler.ts';
import type { Condition, KubernetesObject } from '#operator/kubernetes/object.ts';
import type { TonApi } from '#operator/resource.ts';
import type { Observed } from '#operator/status/observed.ts';
import { conditionOf } from '#operator/status/conditions.ts';
import { scaling, scalingForReady, scalingGraceMs, waitsForScaling } from '#operator/status/scaling.ts';
import { summarize } from '#operator/status/summarize.ts';
import { references, release, sample } from '#test/operator/desired/samples.ts';

type Autoscaling = NonNullable<TonApi['spec']['autoscaling']>;

const base = { minReplicas: 2, maxReplicas: 9, scaleDownStabilization: '5m' } as const;
const hpa: Autoscaling = { ...base, provider: 'HPA', targetCPUUtilization: 70, targetRequestsPerSecond: 9 };
const keda: Autoscaling = { ...base, provider: 'KEDA', targetRequestsPerSecond: 9 };

/** The verdict on an autoscaler with these conditions, `ScalingActive=False/Reason`. */
function shown(autoscaling: Autoscaling, kind: string, conditions: readonly string[], more: object = {}): string {
  const status = conditions.map((condition) => {
    const [type = '', value = '', reason = ''] = condition.split(/[=/]/);
    return { type, status: value, reason, message: 'its words' };
  });
  const live: KubernetesObject = {
    apiVersion: 'x/v1',
    kind,
    metadata: { name: 'x' },
    spec: { metrics: [{ type: 'ContainerResource' }, { type: 'Pods', pods: { metric: { name: 'rate' } } }] },
    status: { conditions: status, ...more },
  };
  const [finding] = scaling(sample('smallest', { autoscaling }), { live: [live] } as unknown as Observed);
  return `${finding?.status}/${finding?.reason}: ${finding?.message}`;
}

describe('the condition ScalingActive', () => {
  it('is missing without autoscaling', () => {
    expect(scaling(sample('smallest'), { live: [] } as unknown as Observed)).toEqual([]);
  });

  it.each<[string[], object, string]>([
    [[], {}, 'Unknown/AutoscalerPending'],
    [['AbleToScale=False/FailedGetScale'], {}, 'False/FailedGetScale: its words'],
    [['AbleToScale=True/x', 'ScalingActive=False/FailedGetPodsMetric'], {}, 'False/FailedGetPodsMetric: its words'],
    [['ScalingActive=True/ValidMetricFound'], {}, 'True/Scaling'],
    [
      ['ScalingActive=True/ValidMetricFound'],
      { currentMetrics: [{ type: 'ContainerResource' }, { type: '' }] },
      'False/MetricMissing: scales without a metric that is not served: rate',
    ],
  ])('has the words of a HorizontalPodAutoscaler: %j %j', (conditions, status, expected) => {
    expect(shown(hpa, 'HorizontalPodAutoscaler', conditions, status)).toContain(expected);
  });

  it.each<[string[], string]>([
    [['Ready=False/ScaledObjectCheckFailed'], 'False/ScaledObjectCheckFailed: its words'],
    [['Ready=True/ScaledObjectReady', 'Fallback=True/FallbackExists'], 'False/FallbackExists: its words'],
    [['Ready=True/ScaledObjectReady', 'Fallback=False/x'], 'True/Scaling'],
    [['Ready=False/not a word'], 'False/NotScaling'],
  ])('has the words of a ScaledObject: %j', (conditions, expected) => {
    expect(shown(keda, 'ScaledObject', conditions)).toContain(expected);
  });
});

describe('an autoscaler without metrics', () => {
  const noonMs = Date.parse('2026-11-21T12:00:00Z');
  const at = (minutes: number): number => noonMs + minutes * 60_000;
  const lastTransitionTime = new Date(noonMs).toISOString();
  const condition = (type: string, status: Condition['status']): Condition => {
    return { type, status, reason: 'x', message: '', lastTransitionTime };
  };
  const failing = {
    type: 'ScalingActive',
    status: 'False',
    reason: 'FailedGetPodsMetric',
    message: 'its words',
  } as const;
  const forReady = (
    previous: readonly Condition[] | undefined,
    minutes: number,
    more: Partial<Observed> = {},
  ): string[] => scalingForReady([failing], more as Observed, previous, at(minutes)).map(({ reason }) => reason);

  it('is waited for by a new TonApi for five minutes, and is broken then', () => {
    expect(forReady(undefined, 0)).toEqual(['AutoscalerPending']);
    const waiting = [condition('Ready', 'Unknown'), condition('ScalingActive', 'False')];
    expect(forReady(waiting, 4)).toEqual(['AutoscalerPending']);
    expect(forReady(waiting, 5)).toEqual(['FailedGetPodsMetric']);
  });

  it('leaves a TonApi Ready for five minutes that could scale before', () => {
    const scaled = [condition('Ready', 'True'), condition('ScalingActive', 'True')];
    expect(forReady(scaled, 60)).toEqual([]);
    const lost = [condition('Ready', 'True'), condition('ScalingActive', 'False')];
    expect(forReady(lost, 4)).toEqual([]);
    expect(forReady(lost, 5)).toEqual(['FailedGetPodsMetric']);
  });

  it('makes a new TonApi wait, then not Ready, and takes five minutes to do so again after it scaled', () => {
    let tonApi = sample('smallest', { autoscaling: hpa });
    const readyAt = (minutes: number, scales: boolean): string => {
      const scalingActive = { type: 'ScalingActive', status: scales ? 'True' : 'False', reason: 'FailedGetPodsMetric' };
      const status = summarize(tonApi, servingWith([scalingActive]), at(minutes));
      tonApi = { ...tonApi, status };
      const [ready, reconciling] = ['Ready', 'Reconciling'].map((type) => conditionOf(status.conditions, type));
      return `${ready?.status}/${ready?.reason} ${reconciling?.reason ?? 'at rest'}`;
    };
    expect(readyAt(0, false)).toBe('False/AutoscalerPending AutoscalerPending');
    expect(readyAt(4, false)).toBe('False/AutoscalerPending AutoscalerPending');
    expect(readyAt(5, false)).toBe('False/FailedGetPodsMetric at rest');
    expect(readyAt(6, true)).toBe('True/Serving at rest');
    expect(readyAt(60, false)).toBe('True/Serving at rest');
    expect(readyAt(64, false)).toBe('True/Serving at rest');
    expect(readyAt(65, false)).toBe('False/FailedGetPodsMetric at rest');
  });

  it('is waited for by a Ready TonApi whose autoscaler is new', () => {
    expect(forReady([condition('Ready', 'True')], 0)).toEqual(['AutoscalerPending']);
  });

  it('is not waited for where the cluster or the operator lacks a part', () => {
    expect(forReady(undefined, 0, { scalingProblem: { reason: 'ApiNotServed', message: '' } })).toEqual([
      'FailedGetPodsMetric',
    ]);
  });

  it('is looked at again only where the end of the grace changes Ready', () => {
    const pending = { ...condition('Ready', 'False'), reason: 'AutoscalerPending' };
    expect(waitsForScaling({ conditions: [condition('Ready', 'True')] })).toBe(true);
    expect(waitsForScaling({ conditions: [pending] })).toBe(true);
    expect(waitsForScaling({ conditions: [condition('Ready', 'False')] })).toBe(false);
  });

  it('is looked at again when the grace ends, and then no more', () => {
    const lost = [condition('ScalingActive', 'False')];
    expect([0, 4, 5, 6].map((minutes) => scalingGraceMs(lost, at(minutes)))).toEqual([
      300_000,
      60_000,
      undefined,
      undefined,
    ]);
    expect(scalingGraceMs([condition('ScalingActive', 'True')], noonMs)).toBeUndefined();
    expect(scalingGraceMs([], noonMs)).toBeUndefined();
  });
});

/** Pods that serve, and an autoscaler with these conditions. */
function servingWith(conditions: readonly object[]): Observed {
  const api = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'testnet-api' },
    spec: { replicas: 1 },
    status: { replicas: 1, readyReplicas: 1, updatedReplicas: 1 },
  };
  const pod = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
  return {
    live: [
      api,
      {
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'x' },
        status: { conditions },
      },
    ],
    pods: [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', uid: 'a' }, ...pod }],
    metadataPods: [],
    says: new Map([['a', { version: '0.1.0', configHash: 'h', liteServers: { usable: 1, total: 1 } }]]),
    problems: [],
    refusals: [],
    unserved: [],
    hotHash: 'h',
    readyMin: 1,
    migration: { state: 'notNeeded' },
    indexer: undefined,
    keys: 0,
    rollout: { hash: 'h', phase: 'settled' },
    fights: [],
  };
}

describe('KEDA without what it needs', () => {
  it.each<[string, Autoscaling, boolean, string | undefined, string | undefined]>([
    ['no KEDA', keda, false, 'http://prometheus', 'ApiNotServed'],
    ['no Prometheus', keda, true, undefined, 'PrometheusUrlMissing'],
    ['everything', keda, true, 'http://prometheus', undefined],
    ['no Prometheus, by CPU', { ...base, provider: 'KEDA', targetCPUUtilization: 70 }, true, undefined, undefined],
  ])(
    'is reported, and a ScaledObject without a trigger is never made: %s',
    (_case, autoscaling, served, url, reason) => {
      const tonApi = sample('smallest', { autoscaling });
      const given = references(served ? {} : { served: new Set() });
      const installed = { ...release, prometheusUrl: url };
      expect(autoscalingProblem(tonApi, given, installed)?.reason).toBe(reason);
      const made = buildAutoscaler(tonApi, given, installed)?.object.spec?.['triggers'] as unknown[] | undefined;
      expect(made?.length).toBe(reason === undefined ? 1 : undefined);
    },
  );
});
