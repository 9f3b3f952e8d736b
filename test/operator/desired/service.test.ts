import { describe, expect, it } from 'vitest';

import { build } from '#operator/desired/build.ts';
import type { References } from '#operator/desired/references.ts';
import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import type { TonApi } from '#operator/resource.ts';
import { references, release, sample } from './samples.ts';

type Spec = TonApi['spec'];
type Port = { readonly name: string };

function built(changes: Partial<Spec>, known: Partial<References> = {}): KubernetesObject[] {
  return build(sample('typical', changes), references(known), release).map(({ object }) => object);
}

function services(changes: Partial<Spec>, known?: Partial<References>): KubernetesObject[] {
  return built(changes, known).filter(({ kind }) => kind === 'Service');
}

function portsOf(service: KubernetesObject | undefined): string[] {
  const ports = (service?.spec?.['ports'] ?? []) as readonly Port[];
  return ports.map(({ name }) => name);
}

describe('the Service of the API', () => {
  it('has callers and metrics inside the cluster, and no further field', () => {
    const [service, ...others] = services({});
    expect(others).toEqual([]);
    expect(portsOf(service)).toEqual(['http', 'metrics']);
    expect(Object.keys(service?.spec ?? {}).toSorted()).toEqual(['ports', 'selector', 'trafficDistribution', 'type']);
  });

  it('takes type, class, ranges, policy, affinity and annotations, which win over those of its kind', () => {
    const [service] = services({
      service: {
        type: 'LoadBalancer',
        loadBalancerClass: 'service.k8s.aws/nlb',
        loadBalancerSourceRanges: ['192.0.2.0/24'],
        externalTrafficPolicy: 'Local',
        sessionAffinity: 'ClientIP',
        annotations: { 'example.com/a': 'service', 'example.com/b': 'service' },
      },
      metadata: { kinds: [{ kind: 'Service', annotations: { 'example.com/a': 'kind', 'example.com/c': 'kind' } }] },
    });
    expect(service?.spec).toMatchObject({
      type: 'LoadBalancer',
      loadBalancerClass: 'service.k8s.aws/nlb',
      loadBalancerSourceRanges: ['192.0.2.0/24'],
      externalTrafficPolicy: 'Local',
      sessionAffinity: 'ClientIP',
    });
    expect(service?.metadata.annotations).toMatchObject({
      'example.com/a': 'service',
      'example.com/b': 'service',
      'example.com/c': 'kind',
    });
  });

  it.each(['NodePort', 'LoadBalancer'] as const)(
    'of type %s has no port of metrics, which monitoring finds by a Service of its own',
    (type) => {
      const observability = { ...sample('typical').spec.observability, serviceMonitor: true, prometheusRule: true };
      const objects = built({ service: { type, sessionAffinity: 'None' }, observability } as Partial<Spec>);
      const [callers, metrics] = objects.filter(({ kind }) => kind === 'Service');
      expect(portsOf(callers)).toEqual(['http']);
      expect(portsOf(metrics)).toEqual(['metrics']);
      expect(metrics).toMatchObject({
        metadata: { name: 'mainnet-api-metrics' },
        spec: { clusterIP: 'None', selector: callers?.spec?.['selector'] },
      });
      const rules = JSON.stringify(objects.find(({ kind }) => kind === 'PrometheusRule'));
      expect(rules).toContain('service=\\"mainnet-api-metrics\\"');
    },
  );

  it('shares its pods with a canary for monitoring too, and gives the canary no load balancer of its own', () => {
    const state = { hash: 'h', step: 0, since: '2026-11-21T00:00:00Z' };
    const canary = { weight: 20, replicas: 1, state };
    const rollout = { held: { api: { metadata: {}, spec: {} } }, canary };
    const service = { type: 'LoadBalancer', sessionAffinity: 'None' } as const;
    const [callers, metrics] = services({ service }, { rollout });
    expect(metrics?.spec?.['selector']).toEqual(callers?.spec?.['selector']);
    expect(callers?.spec?.['selector']).not.toHaveProperty(['app.kubernetes.io/component']);
    const exposure = { kind: 'HTTPRoute' as const, hosts: ['a.example.com'], parentRefs: [{ name: 'public' }] };
    const apart = services({ service, exposure }, { rollout });
    const own = apart.find(({ metadata }) => metadata.name === 'mainnet-api-canary');
    expect(own?.spec).toMatchObject({ type: 'ClusterIP' });
    expect(portsOf(own)).toEqual(['http', 'metrics']);
  });
});

describe('the replacement of pods', () => {
  it.each<[string, Spec['rollout'], object]>([
    ['without a word of the author', undefined, { maxUnavailable: 0, maxSurge: '25%' }],
    [
      'in place',
      { strategy: 'Rolling', drainSeconds: 20, maxSurge: 0, maxUnavailable: 1 },
      { maxUnavailable: 1, maxSurge: 0 },
    ],
    [
      'by shares',
      { strategy: 'Rolling', drainSeconds: 20, maxUnavailable: '10%' },
      { maxUnavailable: '10%', maxSurge: '25%' },
    ],
  ])('%s has its bounds', (_case, rollout, expected) => {
    const api = built(rollout === undefined ? {} : { rollout }).find(({ kind }) => kind === 'Deployment');
    expect(api?.spec?.['strategy']).toEqual({ type: 'RollingUpdate', rollingUpdate: expected });
  });
});
