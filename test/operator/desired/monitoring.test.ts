import { describe, expect, it } from 'vitest';

import { build } from '#operator/desired/build.ts';
import type { Release } from '#operator/desired/references.ts';
import type { OptionalKind } from '#operator/kubernetes/resources.ts';
import type { TonApi } from '#operator/resource.ts';
import { references, release, sample } from './samples.ts';

type Spec = TonApi['spec'];

describe('availability from outside', () => {
  const probing = { ...release, blackboxExporter: { address: 'blackbox.monitoring:9115', module: 'http_2xx' } };
  const built = (changes: Partial<Spec>, of: Release = probing) =>
    build(sample('typical', { observability: observing({}), ...changes }), references(), of).map(
      ({ object }) => object,
    );
  const unreachable = (changes: Partial<Spec>, of?: Release): string[] => {
    const rule = built(changes, of).find(({ kind }) => kind === 'PrometheusRule');
    const groups = (rule?.spec?.['groups'] ?? []) as {
      rules: { alert?: string; labels: Record<string, string> }[];
    }[];
    return groups
      .flatMap(({ rules }) => rules)
      .filter(({ alert }) => alert === 'TonApiUnreachable')
      .map(({ labels }) => `${labels['from']} ${labels['severity']}`);
  };

  it('is asked of every host of the exposure where the operator knows a blackbox exporter', () => {
    const probe = built({}).find(({ kind }) => kind === 'Probe');
    expect(probe?.spec).toMatchObject({
      prober: { url: 'blackbox.monitoring:9115' },
      module: 'http_2xx',
      targets: {
        staticConfig: {
          static: ['https://ton.example.com/api/v2/openapi.json'],
          labels: { namespace: 'ton', tonapi: 'mainnet' },
        },
      },
    });
    expect(unreachable({})).toEqual(['prometheus critical', 'probe critical']);
  });

  it.each<[Spec['surfaces'], string]>([
    [['emulate', 'v3', 'v2'], '/api/v2/openapi.json'],
    [['emulate', 'v3'], '/api/v3/openapi.json'],
    [['stream', 'emulate'], '/api/emulate/v1/openapi.json'],
    [['jsonrpc'], '/'],
  ])('is asked of a page that the surfaces %j have', (surfaces, path) => {
    const probe = built({ surfaces }).find(({ kind }) => kind === 'Probe');
    expect(probe?.spec?.['targets']).toMatchObject({ staticConfig: { static: [`https://ton.example.com${path}`] } });
  });

  it('is asked of Prometheus alone without an exporter, and of nothing where no pod is wanted', () => {
    expect(built({}, release).map(({ kind }) => kind)).not.toContain('Probe');
    expect(unreachable({}, release)).toEqual(['prometheus critical']);
    const { autoscaling: _, exposure: __, ...fixed } = sample('typical').spec;
    const tonApi = { ...sample('typical'), spec: { ...fixed, replicas: 0, observability: observing({}) } };
    const rule = build(tonApi, references(), probing).find(({ object }) => object.kind === 'PrometheusRule');
    expect(JSON.stringify(rule)).not.toContain('TonApiUnreachable');
  });

  it('alerts with the severities that the operator was given', () => {
    const alertSeverities = { critical: 'page' };
    expect(unreachable({}, { ...release, alertSeverities })).toEqual(['prometheus page']);
  });
});

describe('the alert on an index that falls behind', () => {
  const postgres = { secretRef: { name: 'pg', key: 'uri' }, schema: 'ton', poolSize: 10, replicaMaxLag: '30s' };
  const indexer = { mode: 'SingleWriter', partitions: 1 } as const;
  it.each([
    ['where there is an indexer', { postgres, indexer }, 3, true],
    ['not where v3 is only read', { postgres }, 3, false],
    ['not where the release has no schema', { postgres, indexer }, undefined, false],
  ])('is there %s', (_case, changes, schemaVersion, expected) => {
    const tonApi = sample('typical', { observability: observing({}), ...changes });
    const rule = build(tonApi, references(), { ...release, schemaVersion }).find(
      ({ object }) => object.kind === 'PrometheusRule',
    );
    expect(JSON.stringify(rule).includes('TonApiIndexLagging')).toBe(expected);
  });
});

describe('the alert on a read replica', () => {
  const [secretRef, readOnlySecretRef] = [
    { name: 'pg', key: 'uri' },
    { name: 'replica', key: 'uri' },
  ];
  const settings = { schema: 'ton', poolSize: 10, replicaMaxLag: '1m30s' };
  const names = { host: { value: 'main' }, database: { value: 'index' }, user: { value: 'app' } };
  const parts = { ...names, readOnlyHost: { value: 'replica' } };
  it.each([
    ['is there with its bound for a URI', { ...settings, secretRef, readOnlySecretRef }, true],
    ['is there with its bound for a host', { ...settings, parts }, true],
    ['is not there without a replica', { ...settings, secretRef }, false],
  ])('%s', (_case, postgres, expected) => {
    const tonApi = sample('typical', { observability: observing({}), postgres });
    const rule = build(tonApi, references(), release).find(({ object }) => object.kind === 'PrometheusRule');
    const text = JSON.stringify(rule);
    expect([
      text.includes('TonApiReplicaLagging'),
      /ton_store_replica_lag_seconds\{[^}]*\}\) > 90 /.test(text),
    ]).toEqual([expected, expected]);
  });
});

describe('the alert on an old head', () => {
  it.each([
    ['mainnet', true],
    ['testnet', true],
    ['custom', false],
  ] as const)('for the network %s is there: %s', (network, expected) => {
    const tonApi = sample('typical', { network, observability: observing({}) });
    const rule = build(tonApi, references(), release).find(({ object }) => object.kind === 'PrometheusRule');
    expect(JSON.stringify(rule).includes('TonApiHeadLagging')).toBe(expected);
  });
});

function observing(changes: Partial<NonNullable<Spec['observability']>>): NonNullable<Spec['observability']> {
  return {
    serviceMonitor: true,
    prometheusRule: true,
    sloAvailability: '99.9',
    sloLatency: '1s',
    logLevel: 'info',
    ...changes,
  };
}

describe('a cluster that serves some kinds of the Prometheus operator', () => {
  const tonApi = sample('typical', { observability: observing({}) });
  const probing = { ...release, blackboxExporter: { address: 'blackbox.monitoring:9115', module: 'http_2xx' } };
  const builtWith = (...served: readonly OptionalKind[]) =>
    build(tonApi, references({ served: new Set(served) }), probing)
      .map(({ object }) => object)
      .filter(({ apiVersion }) => apiVersion.startsWith('monitoring.coreos.com/'));

  it.each<OptionalKind[]>([[], ['ServiceMonitor'], ['PrometheusRule'], ['Probe'], ['ServiceMonitor', 'Probe']])(
    'gets objects of these kinds alone: %s %s',
    (...served) => {
      const kinds = served.filter((kind) => kind !== undefined);
      expect(builtWith(...kinds).map(({ kind }) => kind)).toEqual(kinds);
    },
  );

  it('alerts only on metrics that are scraped there', () => {
    expect(JSON.stringify(builtWith('PrometheusRule'))).not.toContain('TonApiUnreachable');
    const scraped = JSON.stringify(builtWith('ServiceMonitor', 'PrometheusRule'));
    expect(scraped).toContain('"from":"prometheus"');
    expect(scraped).not.toContain('"from":"probe"');
  });
});
