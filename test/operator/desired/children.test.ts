import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { latencyBucketsSeconds } from '#service/telemetry/latency-buckets.ts';
import { build } from '#operator/desired/build.ts';
import { migrationKey } from '#operator/desired/indexer.ts';
import { configProblems } from '#operator/desired/config-map.ts';
import { publicUrl } from '#operator/desired/exposure.ts';
import { imageOf, indexNodeOptions, versionOf } from '#operator/desired/pod.ts';
import type { References } from '#operator/desired/references.ts';
import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import type { TonApi } from '#operator/resource.ts';
import { createHttpMetrics } from '#service/http/metrics.ts';
import { createRegister } from '#service/telemetry/register.ts';
import { globalConfig, references, release, sample } from './samples.ts';
import { projectRoot } from '#test/style/sources.ts';

type Spec = TonApi['spec'];

describe('an autoscaler', () => {
  const autoscaling = {
    provider: 'HPA',
    minReplicas: 2,
    maxReplicas: 9,
    targetCPUUtilization: 70,
    targetRequestsPerSecond: 500,
    targetStreamConnections: 8000,
    scaleDownStabilization: '2m',
  } as const;

  it('of Kubernetes targets the Deployment by CPU, requests and streams, up fast and down slowly', () => {
    const hpa = child('smallest', 'HorizontalPodAutoscaler', { autoscaling });
    expect(hpa?.spec).toMatchObject({
      scaleTargetRef: { kind: 'Deployment', name: 'testnet-api' },
      minReplicas: 2,
      maxReplicas: 9,
      metrics: [
        { type: 'ContainerResource', containerResource: { name: 'cpu', target: { averageUtilization: 70 } } },
        { type: 'Pods', pods: { metric: { name: 'ton_requests_per_second' }, target: { averageValue: '500' } } },
        { type: 'Pods', pods: { metric: { name: 'ton_stream_connections' }, target: { averageValue: '8000' } } },
      ],
      behavior: {
        scaleUp: {
          policies: [
            { type: 'Percent', value: 100, periodSeconds: 15 },
            { type: 'Pods', value: 4, periodSeconds: 15 },
          ],
        },
        scaleDown: { stabilizationWindowSeconds: 120, policies: [{ type: 'Percent', value: 10, periodSeconds: 60 }] },
      },
    });
    expect(child('smallest', 'ScaledObject', { autoscaling })).toBeUndefined();
  });

  it('of KEDA asks Prometheus where there is one, and falls back to the pods that there are', () => {
    const keda = { ...autoscaling, provider: 'KEDA' } as const;
    const objects = build(sample('smallest', { autoscaling: keda }), references(), {
      ...release,
      prometheusUrl: 'http://prometheus:9090',
    });
    const scaled = objects.find(({ object }) => object.kind === 'ScaledObject')?.object;
    expect(scaled?.spec).toMatchObject({
      fallback: { behavior: 'currentReplicas' },
      minReplicaCount: 2,
      maxReplicaCount: 9,
      triggers: [
        { type: 'cpu' },
        { type: 'prometheus', metadata: { serverAddress: 'http://prometheus:9090', threshold: '500' } },
        {
          type: 'prometheus',
          metadata: { threshold: '8000', query: expect.stringContaining('ton_streaming_connections') },
        },
      ],
    });
    expect(child('smallest', 'HorizontalPodAutoscaler', { autoscaling: keda })).toBeUndefined();
    const byCpu = child('smallest', 'ScaledObject', { autoscaling: keda })?.spec;
    expect(byCpu?.['triggers']).toHaveLength(1);
    // KEDA refuses a fallback without a trigger besides the CPU.
    expect(byCpu).not.toHaveProperty('fallback');
  });
});

describe('a canary', () => {
  const canary = { weight: 20, replicas: 1, state: { hash: 'h', step: 0, since: '2026-11-21T00:00:00Z' } };
  const held = { api: { metadata: {}, spec: {} } };
  const rollout = { held, canary };

  it('shares the traffic of an HTTPRoute by weight, each Deployment behind its own Service', () => {
    const objects = all('full', {}, { rollout });
    const route = objects.find(({ kind }) => kind === 'HTTPRoute');
    expect(route?.spec).toMatchObject({
      rules: [
        {
          backendRefs: [
            { name: 'private-api', weight: 80 },
            { name: 'private-api-canary', weight: 20 },
          ],
        },
      ],
    });
    const services = objects.filter(({ kind, metadata }) => kind === 'Service' && metadata.name.includes('api'));
    expect(services.map((service) => selectorOf(service)['app.kubernetes.io/component'])).toEqual([
      'api',
      'api',
      'api-canary',
    ]);
  });

  it('shares the traffic by the number of pods behind one Service elsewhere', () => {
    const objects = all('typical', {}, { rollout });
    const services = objects.filter(({ kind }) => kind === 'Service');
    expect(services).toHaveLength(1);
    const selector = selectorOf(services[0]);
    const templates = objects
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ spec }) => spec?.['template'] as { metadata: { labels?: Record<string, string> } });
    expect(templates[1]?.metadata.labels).toMatchObject(selector);
    expect(selector).not.toHaveProperty(['app.kubernetes.io/component']);
  });

  it('keeps its state, and its pods apart from those that the stable Deployment counts', () => {
    const canaries = all('typical', {}, { rollout }).filter(({ metadata }) => metadata.name === 'mainnet-api-canary');
    expect(canaries).toHaveLength(1);
    expect(JSON.parse(canaries[0]?.metadata.annotations?.['tonplane.dev/canary'] ?? '')).toEqual(canary.state);
    expect(canaries[0]?.spec).toMatchObject({
      replicas: 1,
      selector: { matchLabels: { 'app.kubernetes.io/component': 'api-canary' } },
    });
  });

  it('that was given up takes no traffic', () => {
    const gone = { ...canary, weight: 0, replicas: 0 };
    const route = all('full', {}, { rollout: { held, canary: gone } }).find(({ kind }) => kind === 'HTTPRoute');
    expect(route?.spec).toMatchObject({ rules: [{ backendRefs: [{ name: 'private-api' }] }] });
    expect(JSON.stringify(route)).not.toContain('canary');
  });
});

describe('exposure', () => {
  it('by an Ingress names its hosts, class and certificate', () => {
    const exposure = {
      kind: 'Ingress',
      hosts: ['a.example.com', 'b.example.com'],
      ingressClassName: 'nginx',
      tlsSecretName: 'tls',
    } as const;
    const ingress = child('smallest', 'Ingress', { exposure });
    expect(ingress?.spec).toMatchObject({
      ingressClassName: 'nginx',
      tls: [{ hosts: exposure.hosts, secretName: 'tls' }],
      rules: [{ host: 'a.example.com' }, { host: 'b.example.com' }],
    });
    expect(publicUrl(sample('smallest', { exposure }))).toBe('https://a.example.com');
  });

  it.each<[string, Partial<Spec>]>([
    ['an Ingress', { exposure: { kind: 'Ingress', hosts: ['a.example.com'] } }],
    ['an HTTPRoute', { exposure: { kind: 'HTTPRoute', hosts: ['a.example.com'], parentRefs: [{ name: 'public' }] } }],
  ])('by %s has the paths of every surface, emulation too', (_kind, changes) => {
    const surfaces: Spec['surfaces'] = ['emulate'];
    const found = all('smallest', { ...changes, surfaces }).find(({ kind }) => kind === changes.exposure?.kind);
    const paths = JSON.stringify(found?.spec).match(/"(?:path|value)":"[^"]+"/g);
    expect(paths?.map((path) => path.split(':')[1])).toEqual(['"/"']);
  });

  it('without a certificate is http, and none at all is inside the cluster', () => {
    expect(publicUrl(sample('smallest', { exposure: { kind: 'Ingress', hosts: ['a.example.com'] } }))).toBe(
      'http://a.example.com',
    );
    expect(publicUrl(sample('smallest'))).toBe('http://testnet-api.ton.svc:8081');
  });
});

describe('the network policy', () => {
  type Egress = readonly { to?: readonly { ipBlock?: { cidr: string } }[]; ports?: readonly { port: number }[] }[];
  const egress = (changes: Partial<Spec>, known: Partial<References> = {}): Egress =>
    all('smallest', changes, known).find(({ kind }) => kind === 'NetworkPolicy')?.spec?.['egress'] as Egress;
  it('lets pods reach lite servers by address and port, IPv6 too', () => {
    const { liteServerConfigRef: _reference, ...spec } = sample('smallest').spec;
    const tonApi = {
      ...sample('smallest'),
      spec: {
        ...spec,
        liteServers: [
          liteServer('a', '192.0.2.1:4443'),
          liteServer('b', '[2001:db8::1]:4443'),
          liteServer('c', '192.0.2.9:5000'),
        ],
      },
    };
    const policy = build(tonApi, references(), release).find(({ object }) => object.kind === 'NetworkPolicy')?.object;
    const rules = policy?.spec?.['egress'] as Egress;
    expect(rules).toContainEqual({
      to: [{ ipBlock: { cidr: '192.0.2.1/32' } }, { ipBlock: { cidr: '2001:db8::1/128' } }],
      ports: [{ port: 4443, protocol: 'TCP' }],
    });
    expect(rules).toContainEqual({
      to: [{ ipBlock: { cidr: '192.0.2.9/32' } }],
      ports: [{ port: 5000, protocol: 'TCP' }],
    });
  });

  it('lets pods reach a lite server with a host name anywhere, on its port', () => {
    const { liteServerConfigRef: _reference, ...spec } = sample('smallest').spec;
    const tonApi = { ...sample('smallest'), spec: { ...spec, liteServers: [liteServer('a', 'ls.example.com:4443')] } };
    const rules = build(tonApi, references(), release).find(({ object }) => object.kind === 'NetworkPolicy')?.object
      .spec?.['egress'] as Egress;
    expect(rules.at(-1)).toMatchObject({
      to: [{ ipBlock: { cidr: '0.0.0.0/0' } }, { ipBlock: { cidr: '::/0' } }],
      ports: [{ port: 4443 }],
    });
  });

  it('reads lite servers of a ConfigMap, and allows all where only the pods know them', () => {
    expect(
      egress({})
        .flatMap(({ to }) => to ?? [])
        .map(({ ipBlock }) => ipBlock?.cidr),
    ).toContain('10.0.0.2/32');
    expect(
      egress({ liteServerConfigRef: { kind: 'Secret', name: 's', key: 'k' } }, { globalConfig: undefined }).at(-1),
    ).toEqual({ to: [{ ipBlock: { cidr: '0.0.0.0/0' } }, { ipBlock: { cidr: '::/0' } }] });
  });

  it.each<[string, Partial<Spec>, number]>([
    [
      'the collector of traces',
      { observability: observing({ tracing: { endpoint: 'https://otlp.example.com', sampleRatio: '1' } }) },
      443,
    ],
    [
      'a collector on its port',
      { observability: observing({ tracing: { endpoint: 'http://otlp:4318', sampleRatio: '1' } }) },
      4318,
    ],
    [
      'Postgres',
      { postgres: { secretRef: { name: 'p', key: 'uri' }, schema: 'ton', poolSize: 10, replicaMaxLag: '30s' } },
      5432,
    ],
    [
      'a Redis with TLS',
      { rateLimits: { redis: { secretRef: { name: 'r', key: 'url' }, embedded: false }, onRedisFailure: 'Local' } },
      6380,
    ],
    [
      'Sentinels of Redis',
      { rateLimits: { redis: { secretRef: { name: 'r', key: 'url' }, embedded: false }, onRedisFailure: 'Local' } },
      26_379,
    ],
  ])('lets pods reach %s', (_case, changes, port) => {
    expect(egress(changes).flatMap(({ ports = [] }) => ports.map((each) => each.port))).toContain(port);
  });

  it('opens metrics to the namespaces of monitoring and of the operator only, where they are named', () => {
    const named = { ...release, monitoringNamespace: 'monitoring', operatorNamespace: 'operators' };
    const policy = build(sample('smallest'), references(), named).find(
      ({ object }) => object.kind === 'NetworkPolicy',
    )?.object;
    const ingress = policy?.spec?.['ingress'] as object[];
    expect(ingress[1]).toMatchObject({
      from: ['monitoring', 'operators'].map((name) => ({
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
      })),
    });
  });
});

describe('rules for alerts', () => {
  it('name only series that the service has or the rules record', () => {
    const { recorded, metrics } = namesIn(rulesWith({}));
    const readme = readFileSync(join(projectRoot, 'service/telemetry/README.md'), 'utf8');
    const named = [...metrics].map((metric) => metric.replace(/_(bucket|count|sum)$/, ''));
    expect(named.filter((metric) => !readme.includes(`\`${metric}\``))).toEqual([]);
    for (const { expr } of rulesWith({}).filter(({ alert }) => alert)) {
      for (const [series] of expr.matchAll(/tonapi:[a-z_]+:rate\w+/g)) expect(recorded).toContain(series);
    }
  });

  it.each([
    ['99.9', 14.4, '0.0144'],
    ['99', 6, '0.06'],
    ['99.95', 1, '0.0005'],
  ])('with an objective of %s %% fire at %d times its budget', (sloAvailability, factor, limit) => {
    const found = rulesWith({ observability: observing({ sloAvailability }) }).filter(
      ({ alert, expr }) => alert === 'TonApiErrorBudgetBurn' && expr.includes(`> ${limit} and`),
    );
    expect(found.length, `${factor}`).toBeGreaterThanOrEqual(1);
  });

  it.each([
    ['1s', '1'],
    ['700ms', '0.5'],
    ['1m', '20'],
    ['100us', '0.001'],
  ])('judge a latency objective of %s by the bucket up to %s s', (sloLatency, edge) => {
    const slow = rulesWith({ observability: observing({ sloLatency }) }).find(({ record }) =>
      record?.startsWith('tonapi:http_slow_ratio'),
    );
    expect(slow?.expr).toContain(`le="${edge}"`);
  });

  it('know the edges of the buckets as the service has them', async () => {
    const register = createRegister({ version: '0', commit: 'x' });
    const metrics = createHttpMetrics(register);
    metrics.begin();
    metrics.end({ operation: 'x', status: 200, seconds: 0.1, bytes: 1 });
    const text = await register.metrics();
    const edges = [...text.matchAll(/ton_http_request_duration_seconds_bucket\{le="([\d.]+)"/g)].map(([, edge]) =>
      Number(edge),
    );
    expect(edges).toEqual([...latencyBucketsSeconds]);
  });

  it('ask for as many lite servers as there can be', () => {
    expect(rulesWith({}).find(({ alert }) => alert === 'TonApiLiteServersLow')?.expr).toMatch(/< 2$/);
    const one = JSON.stringify({
      ...(JSON.parse(globalConfig) as object),
      liteservers: (JSON.parse(globalConfig) as { liteservers: object[] }).liteservers.slice(0, 1),
    });
    const groups = all('typical', {}, { globalConfig: one }).find(({ kind }) => kind === 'PrometheusRule');
    expect(JSON.stringify(groups)).toContain('\\"}) < 1');
  });
});

describe('a release without a schema', () => {
  it('serves what needs none of a manifest that asks for it', () => {
    const kinds = all('full').map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(kinds.filter((kind) => kind.includes('indexer') || kind.includes('migrate'))).toEqual([]);
    expect(JSON.stringify(all('full').find(({ kind }) => kind === 'Deployment'))).not.toContain('postgres');
  });

  it('and one with a schema makes the indexer, its budget and the migration', () => {
    const objects = build(sample('full'), references(), { ...release, schemaVersion: 3 }).map(({ object }) => object);
    const names = objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(names).toEqual(
      expect.arrayContaining([
        'StatefulSet/private-indexer',
        'PodDisruptionBudget/private-indexer',
        `Job/private-migrate-3-${migrationKey(sample('full'))}`,
      ]),
    );
    expect(objects.find(({ kind }) => kind === 'StatefulSet')?.spec).toMatchObject({
      replicas: 4,
      podManagementPolicy: 'Parallel',
    });
    expect(JSON.stringify(objects.find(({ kind }) => kind === 'Deployment'))).toContain(
      '/etc/tonplane/postgres-replica/uri',
    );
  });

  it.each<[string, Partial<Spec>, string]>([
    ['more to pods that serve v3', { resources: {} }, '1Gi'],
    ['no more to those that do not', { resources: {}, surfaces: ['v2'] }, '256Mi'],
    ['what the manifest says', { resources: { requests: { memory: '300Mi' } } }, '300Mi'],
  ])('gives memory: %s', (_what, changes, memory) => {
    const tonApi = sample('full', { ...changes, podTemplate: {} });
    const migrated = { schema: 3, key: migrationKey(tonApi) };
    const built = build(tonApi, references({ migrated }), { ...release, schemaVersion: 3 });
    const api = built
      .map(({ object }) => object)
      .find((one) => one.kind === 'Deployment' && one.metadata.name === 'private-api');
    const resources = { requests: { memory }, limits: { memory } };
    expect(api?.spec?.['template']).toMatchObject({ spec: { containers: [{ resources }] } });
  });

  it.each<[string, Partial<Spec>, string[]]>([
    ['the indexer and pods that serve v3', {}, ['Deployment/private-api', 'StatefulSet/private-indexer']],
    ['the indexer, where no pod serves v3,', { surfaces: ['v2'] }, ['StatefulSet/private-indexer']],
  ])('gives %s other options of Node than the image has', (_who, changes, expected) => {
    const migrated = { schema: 3, key: migrationKey(sample('full', changes)) };
    const built = build(sample('full', changes), references({ migrated }), { ...release, schemaVersion: 3 });
    const withOptions = built.map(({ object }) => object).filter((one) => JSON.stringify(one).includes('NODE_OPTIONS'));
    expect(withOptions.map(({ kind, metadata }) => `${kind}/${metadata.name}`).toSorted()).toEqual(expected);
    for (const one of withOptions) {
      expect(JSON.stringify(one)).toContain(`{"name":"NODE_OPTIONS","value":"${indexNodeOptions}"}`);
    }
  });
});

describe('the image', () => {
  it.each<[Spec['image'], string, string]>([
    [undefined, 'registry.example.com/tonplane/service:0.1.0', '0.1.0'],
    [{ tag: '2', pullPolicy: 'Always' }, 'registry.example.com/tonplane/service:2', '2'],
    [{ repository: 'host:5000/x', pullPolicy: 'Always' }, 'host:5000/x:0.1.0', '0.1.0'],
    [
      { repository: 'host:5000/x', tag: '2', digest: `sha256:${'a'.repeat(64)}`, pullPolicy: 'Always' },
      `host:5000/x@sha256:${'a'.repeat(64)}`,
      '2',
    ],
  ])('of %o is %s', (image, expected, version) => {
    const tonApi = sample('smallest', image && { image });
    expect(imageOf(tonApi, release)).toBe(expected);
    expect(versionOf(tonApi, release)).toBe(version);
  });
});

describe('the configuration', () => {
  const globals = JSON.parse(globalConfig) as Readonly<Record<string, unknown>>;
  it.each<[string, Partial<Spec>, object, RegExp | undefined]>([
    ['that is right', {}, globals, undefined],
    [
      'with lite servers that have no key',
      {},
      { ...globals, liteservers: [{ ip: 1, port: 1 }] },
      /spec\.liteServerConfigRef .*liteservers\[0\]/,
    ],
    ['without a zero state', {}, { liteservers: globals['liteservers'] }, /zeroState/],
    ['that is too big for a ConfigMap', {}, { ...globals, padding: 'x'.repeat(1024 * 1024) }, /at most 1048576/],
    [
      'with a key of a Secret that nobody has read',
      { liteServerConfigRef: { kind: 'Secret', name: 's', key: 'k' } },
      {},
      undefined,
    ],
  ])('%s is judged before pods get it', (_case, changes, config, expected) => {
    const problems = configProblems(sample('smallest', changes), JSON.stringify(config));
    expect(problems.join('\n')).toMatch(expected ?? /^$/);
  });
});

function all(
  name: Parameters<typeof sample>[0],
  changes: Partial<Spec> = {},
  known: Partial<References> = {},
): KubernetesObject[] {
  return build(sample(name, changes), references(known), release).map(({ object }) => object);
}

function child(
  name: Parameters<typeof sample>[0],
  kind: string,
  changes: Partial<Spec> = {},
): KubernetesObject | undefined {
  return all(name, changes).find((object) => object.kind === kind);
}

type PrometheusRule = { readonly alert?: string; readonly record?: string; readonly expr: string };

function rulesWith(changes: Partial<Spec>): PrometheusRule[] {
  const groups = child('typical', 'PrometheusRule', changes)?.spec?.['groups'] as { rules: PrometheusRule[] }[];
  return groups.flatMap((group) => group.rules);
}

function liteServer(name: string, address: string): NonNullable<Spec['liteServers']>[number] {
  const publicKey = `${'A'.repeat(43)}=`;
  return { name, address, publicKey, role: 'latest', weight: 10, maxInFlight: 256, tier: 'shared', cordoned: false };
}

function selectorOf(service: KubernetesObject | undefined): Readonly<Record<string, string>> {
  return service?.spec?.['selector'] as Record<string, string>;
}

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

function namesIn(rules: readonly { record?: string; expr: string }[]) {
  const recorded = new Set(rules.flatMap(({ record }) => record ?? []));
  const metrics = new Set(rules.flatMap(({ expr }) => [...expr.matchAll(/\bton_\w+/g)].map(([name]) => name)));
  return { recorded, metrics };
}
