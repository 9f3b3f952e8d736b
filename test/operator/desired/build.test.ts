import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { build } from '#operator/desired/build.ts';
import { migrationKey } from '#operator/desired/indexer.ts';
import { canonicalJson } from '#operator/desired/canonical.ts';
import { configText, hotHash } from '#operator/desired/config-map.ts';
import { coldHash, TEMPLATE_REVISION } from '#operator/desired/deployment.ts';
import type { DesiredObject, References } from '#operator/desired/references.ts';
import { stages } from '#operator/desired/references.ts';
import type { TonApi } from '#operator/resource.ts';
import { configFromManifest, hotHashOfManifest } from '#service/config.ts';
import { annotated, globalConfig, references, release, sample, sampleNames } from './samples.ts';

const all: References = references({
  migrated: { schema: 1, key: migrationKey(sample('full')) },
  rollout: { canary: { weight: 5, replicas: 1, state: { hash: 'h', step: 0, since: '2026-11-21T00:00:00Z' } } },
});
const withSchema = { ...release, schemaVersion: 2 };

describe('build', () => {
  it.each(sampleNames)('makes the same bytes of the same manifest, whatever the order of its fields: %s', (name) => {
    const once = JSON.stringify(build(sample(name), all, withSchema));
    expect(JSON.stringify(build(structuredClone(sample(name)), all, withSchema))).toBe(once);
    const shuffled = build(reversed(sample(name)) as TonApi, all, withSchema);
    expect(canonicalJson(shuffled)).toBe(canonicalJson(JSON.parse(once)));
  });

  it.each(sampleNames)(
    'gives every child a name of its own, an owner, the labels and the hash of itself: %s',
    (name) => {
      const tonApi = sample(name);
      const children = build(tonApi, all, withSchema).map(({ object }) => object);
      expect(new Set(children.map(({ kind, metadata }) => `${kind}/${metadata.name}`)).size).toBe(children.length);
      for (const { metadata } of children) {
        expect(metadata.namespace).toBe('ton');
        expect(metadata.name.length).toBeLessThanOrEqual(63);
        expect(metadata.ownerReferences).toMatchObject([
          { uid: tonApi.metadata.uid, controller: true, blockOwnerDeletion: true },
        ]);
        expect(metadata.labels).toMatchObject({
          'app.kubernetes.io/managed-by': 'ton-operator',
          'app.kubernetes.io/part-of': 'tonplane',
        });
        expect(metadata.annotations?.['tonplane.dev/applied-hash']).toMatch(/^[0-9a-f]{16}$/);
      }
    },
  );

  it('keeps the order of the stages', () => {
    const order = build(sample('full'), all, withSchema).map(({ stage }) => stages.indexOf(stage));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(new Set(order).size).toBe(stages.length);
  });

  it.each<[string, Parameters<typeof sample>[1], Partial<References>, string[]]>([
    [
      'without an autoscaler',
      {},
      {},
      [
        'ConfigMap/testnet-config',
        'ServiceAccount/testnet-pods',
        'NetworkPolicy/testnet-api',
        'NetworkPolicy/testnet-redis',
        'Deployment/testnet-redis',
        'Service/testnet-redis',
        'Deployment/testnet-api',
        'Service/testnet-api',
        'PodDisruptionBudget/testnet-api',
      ],
    ],
    [
      'with one pod and no policy',
      { replicas: 1, networkPolicy: false },
      {},
      [
        'ConfigMap/testnet-config',
        'ServiceAccount/testnet-pods',
        'Deployment/testnet-redis',
        'Service/testnet-redis',
        'Deployment/testnet-api',
        'Service/testnet-api',
      ],
    ],
  ])('makes exactly the children that are wanted %s', (_case, changes, known, expected) => {
    const names = build(sample('smallest', changes), references(known), release).map(
      ({ object }) => `${object.kind}/${object.metadata.name}`,
    );
    expect(names).toEqual(expected);
  });

  it.each(['HTTPRoute', 'ServiceMonitor', 'PrometheusRule'] as const)(
    'leaves out a %s alone where the cluster does not serve it',
    (kind) => {
      const served = new Set(references().served);
      served.delete(kind);
      expect(kindsOf({})).toContain(kind);
      expect(kindsOf({ served })).toEqual(kindsOf({}).filter((other) => other !== kind));
    },
  );
});

describe('the configuration that pods mount', () => {
  it.each(sampleNames)('is read by the service as the manifest itself would be: %s', (name) => {
    const tonApi = sample(name);
    const { globalConfig: referenced } = references();
    const text = (find(build(tonApi, references(), release), 'ConfigMap').object.data ?? {})['tonapi.yaml'] ?? '';
    const own = configFromManifest(JSON.stringify(tonApi), {
      globalConfig: tonApi.spec.liteServers ? undefined : referenced,
    });
    expect(configFromManifest(text)).toEqual(own);
  });

  it.each(sampleNames)('has the hash that the service reports when it has read it: %s', (name) => {
    const known = sample(name).spec.liteServers === undefined ? globalConfig : undefined;
    const text = configText(sample(name), known);
    expect(hotHash(sample(name), { globalConfig: known })).toBe(hotHashOfManifest(text));
    expect(hotHash(sample(name, { trustedProxies: 9 }), { globalConfig: known })).not.toBe(hotHashOfManifest(text));
  });

  it('has a hash that pods of every release make alike: a running fleet is judged by it', () => {
    const spec = sample('smallest', {
      plans: [{ name: 'free', requestsPerSecond: 1, archive: false }],
      trustedProxies: 0,
    }).spec;
    const pinned = '2bea63d947fe9d353283485f3168d15b50731b95e7f64531c37f88f98bcc928a';
    expect(hotHash({ ...sample('smallest'), spec }, { globalConfig })).toBe(pinned);
  });

  it('does not change with what only says how pods are run', () => {
    const changed = configData({
      replicas: 7,
      networkPolicy: false,
      image: { tag: '9', pullPolicy: 'Always' },
      podTemplate: { labels: { a: 'b' } },
    });
    expect(changed).toEqual(configData({}));
    expect(configData({ trustedProxies: 3 })).not.toEqual(configData({}));
  });

  it('never holds what a Secret with lite servers holds', () => {
    const liteServerConfigRef = { kind: 'Secret', name: 'private-lite-servers', key: 'list.json' } as const;
    const objects = build(sample('typical', { liteServerConfigRef }), references({ globalConfig }), release);
    expect(JSON.stringify(find(objects, 'ConfigMap'))).not.toContain('liteservers');
    const pod = podOf(find(objects, 'Deployment'));
    expect(pod.volumes).toContainEqual({
      name: 'lite-servers',
      secret: { secretName: 'private-lite-servers', items: [{ key: 'list.json', path: 'global.config.json' }] },
    });
    expect(pod.containers[0]?.args).toContain('/etc/tonplane/lite-servers/global.config.json');
  });
});

describe('the template of the API pods', () => {
  const hot: readonly [string, Partial<TonApi['spec']>][] = [
    ['plans', { plans: [{ name: 'anonymous', requestsPerSecond: 9, archive: false }] }],
    ['anonymousPlan', { anonymousPlan: 'pro' }],
    ['trustedProxies', { trustedProxies: 4 }],
    [
      'the rule for a missing Redis',
      {
        rateLimits: { redis: { secretRef: { name: 'redis', key: 'url' }, embedded: false }, onRedisFailure: 'Closed' },
      },
    ],
    [
      'the log level',
      {
        observability: {
          ...sample('typical').spec.observability,
          serviceMonitor: true,
          prometheusRule: true,
          sloAvailability: '99.9',
          sloLatency: '1s',
          logLevel: 'debug',
        },
      },
    ],
    ['replicas', { replicas: 40 }],
    [
      'streaming',
      {
        streaming: {
          maxConnectionsPerPod: 7,
          confirmed: 'Off',
          replay: { short: '1m', final: '1h', events: 1_000 },
          queue: { eventsPerConnection: 16, bytesPerConnection: 65_536, bytesPerPod: 16_777_216 },
        },
      },
    ],
    ['networkPolicy', { networkPolicy: false }],
    ['exposure', { exposure: { kind: 'Ingress', hosts: ['other.example.com'] } }],
    ['hibernate', { hibernate: true }],
    ['ignoreDifferences', { ignoreDifferences: [{ kind: 'Deployment', fields: ['spec.minReadySeconds'] }] }],
    ['service', { service: { type: 'LoadBalancer', sessionAffinity: 'ClientIP' } }],
  ];
  const cold: readonly [string, Partial<TonApi['spec']>][] = [
    ['image', { image: { tag: '0.2.0', pullPolicy: 'IfNotPresent' } }],
    ['requestTimeout', { requestTimeout: '7s' }],
    ['resources', { resources: { requests: { cpu: '2' } } }],
    ['surfaces', { surfaces: ['v2', 'stream'] }],
    ['drainSeconds', { rollout: { strategy: 'Rolling', drainSeconds: 90 } }],
    ['podTemplate', { podTemplate: { nodeSelector: { disk: 'fast' } } }],
    ['trust', { trust: 'signed-head' }],
    [
      'the Redis Secret',
      { rateLimits: { redis: { secretRef: { name: 'other', key: 'url' }, embedded: false }, onRedisFailure: 'Local' } },
    ],
  ];

  it.each(hot)('stays as it is when %s changes', (_field, changes) => {
    expect(templateOf(sample('typical', changes))).toEqual(templateOf(sample('typical')));
  });

  it.each(cold)('and its cold hash change when %s changes', (_field, changes) => {
    expect(templateOf(sample('typical', changes))).not.toEqual(templateOf(sample('typical')));
    expect(coldHash(sample('typical', changes), references())).not.toBe(coldHash(sample('typical'), references()));
  });

  it('changes with the restart annotation, and not with others', () => {
    expect(templateOf(annotated(sample('typical'), { 'tonplane.dev/restart': 'today' }))).not.toEqual(
      templateOf(sample('typical')),
    );
    expect(templateOf(annotated(sample('typical'), { 'tonplane.dev/paused': 'incident' }))).toEqual(
      templateOf(sample('typical')),
    );
  });

  it('changes with the release but keeps its cold hash, so that an upgrade of the operator can be told from an edit', () => {
    const before = find(build(sample('typical'), references(), release), 'Deployment').object;
    const after = find(
      build(sample('typical'), references(), { ...release, image: 'registry.example.com/tonplane/service:0.2.0' }),
      'Deployment',
    ).object;
    expect(after).not.toEqual(before);
    expect(coldHashOf(after)).toBe(coldHashOf(before));
  });

  it('is the one that the revision stands for: raise templateRevision with it', () => {
    const templates = sampleNames.map((name) => {
      const objects = build(sample(name), references(), withSchema).filter(({ object }) =>
        ['Deployment', 'StatefulSet'].includes(object.kind),
      );
      const text = canonicalJson(objects.map(({ object }) => object.spec?.['template']));
      return text.replaceAll(/"tonplane.dev\/cold-hash":"[0-9a-f]+"/g, '"tonplane.dev/cold-hash":"(of the sample)"');
    });
    expect({ templateRevision: TEMPLATE_REVISION, templates }).toMatchSnapshot();
  });

  it('is the held one while a rollout waits', () => {
    const held = { metadata: { labels: { before: 'true' } }, spec: { containers: [] } };
    expect(templateOf(sample('typical'), references({ rollout: { held: { api: held } } }))).toEqual(held);
  });

  it('gives requests in flight their time, the endpoints theirs, and both an end', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 600 }),
        fc.integer({ min: 100, max: 300_000 }),
        (drainSeconds, timeoutMs) => {
          const tonApi = sample('typical', {
            requestTimeout: `${timeoutMs}ms`,
            rollout: { strategy: 'Rolling', drainSeconds },
          });
          const { terminationGracePeriodSeconds } = podOf(find(build(tonApi, references(), release), 'Deployment'));
          expect(terminationGracePeriodSeconds).toBe(5 + drainSeconds + Math.ceil(timeoutMs / 1000) + 5);
        },
      ),
      { seed: 7, numRuns: 50 },
    );
  });
});

describe('pods', () => {
  it.each(sampleNames)(
    'pass the restricted level, never see a token and read no secret from the environment: %s',
    (name) => {
      const pods = build(sample(name), all, withSchema)
        .filter(({ object }) => object.spec?.['template'] !== undefined)
        .map(podOf);
      expect(pods.length).toBeGreaterThan(0);
      for (const pod of pods) {
        expect(pod.automountServiceAccountToken).toBe(false);
        expect(pod.enableServiceLinks).toBe(false);
        expect(pod.securityContext).toMatchObject({
          runAsNonRoot: true,
          runAsUser: 65_532,
          seccompProfile: { type: 'RuntimeDefault' },
        });
        for (const volume of pod.volumes) expect(Object.keys(volume)).not.toContain('hostPath');
        for (const container of pod.containers.filter(isOwn)) {
          expect(container.securityContext).toEqual({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          });
          expect(container.resources.limits).toHaveProperty('memory');
          expect(container.resources.limits).not.toHaveProperty('cpu');
          expect(JSON.stringify(container.env ?? [])).not.toContain('secretKeyRef');
          for (const mount of container.volumeMounts) expect(mount).not.toHaveProperty('subPath');
        }
      }
    },
  );

  it('of every kind run where the manifest says, from an image that it may pull, with its labels and annotations', () => {
    const { rateLimits } = sample('smallest').spec;
    const affinity = { nodeAffinity: {} };
    const tolerations = [{ key: 'apis', operator: 'Exists' as const }];
    const placed = { nodeSelector: { disk: 'fast' }, tolerations, affinity, priorityClassName: 'high' };
    const [labels, annotations] = [{ team: 'x' }, { 'example.com/mesh': 'off' }];
    const image = { pullPolicy: 'IfNotPresent', pullSecrets: ['registry'] } as const;
    const podTemplate = { ...placed, labels, annotations };
    const templates = build(sample('full', { rateLimits, image, podTemplate }), all, withSchema)
      .map(({ object }) => object)
      .filter(({ kind, spec }) => kind !== 'Job' && spec?.['template'] !== undefined);
    const names = templates.map(({ metadata }) => metadata.labels?.['app.kubernetes.io/component']);
    expect(new Set(names)).toEqual(new Set(['api', 'api-canary', 'indexer', 'metadata', 'redis']));
    for (const { spec } of templates) {
      expect(spec?.['template']).toMatchObject({
        metadata: { labels, annotations },
        spec: { ...placed, imagePullSecrets: [{ name: 'registry' }] },
      });
    }
  });

  it.each<[string, TonApi['spec']['resources'], object]>([
    ['nothing given', undefined, { requests: { cpu: '250m', memory: '256Mi' }, limits: { memory: '256Mi' } }],
    [
      'a request for memory',
      { requests: { memory: '1Gi' } },
      { requests: { cpu: '250m', memory: '1Gi' }, limits: { memory: '1Gi' } },
    ],
    [
      'a limit alone',
      { limits: { cpu: 1, memory: '64Mi' } },
      { requests: { cpu: '1', memory: '64Mi' }, limits: { cpu: '1', memory: '64Mi' } },
    ],
  ])('have resources: %s', (_case, resources, expected) => {
    const tonApi = sample('typical', resources === undefined ? {} : { resources });
    expect(podOf(find(build(tonApi, references(), release), 'Deployment')).containers[0]?.resources).toEqual(expected);
  });
});

describe('replicas', () => {
  it.each<[string, Parameters<typeof sample>[1], Partial<References>, number | undefined]>([
    ['are the given ones without an autoscaler', { replicas: 5 }, {}, 5],
    [
      'are left to an HPA',
      {
        replicas: 5,
        autoscaling: {
          provider: 'HPA',
          minReplicas: 2,
          maxReplicas: 9,
          targetCPUUtilization: 70,
          scaleDownStabilization: '5m',
        },
      },
      {},
      undefined,
    ],
    [
      'are left to KEDA',
      {
        autoscaling: {
          provider: 'KEDA',
          minReplicas: 3,
          maxReplicas: 9,
          targetCPUUtilization: 70,
          scaleDownStabilization: '5m',
        },
      },
      {},
      undefined,
    ],
    [
      'are the fewest while KEDA is not there',
      {
        autoscaling: {
          provider: 'KEDA',
          minReplicas: 3,
          maxReplicas: 9,
          targetCPUUtilization: 70,
          scaleDownStabilization: '5m',
        },
      },
      { served: new Set() },
      3,
    ],
  ])('%s', (_case, changes, known, expected) => {
    const objects = build(sample('smallest', changes), references(known), release);
    const deployment = objects.find(({ object }) => object.metadata.name === 'testnet-api')?.object;
    const scalers = objects.filter(({ object }) => ['HorizontalPodAutoscaler', 'ScaledObject'].includes(object.kind));
    const api = objects.find(
      ({ object }) => object.kind === 'Deployment' && object.metadata.name === 'testnet-api',
    )?.object;
    expect(deployment).toBeDefined();
    expect(api?.spec?.['replicas']).toBe(expected);
    expect(scalers.length).toBe(expected === undefined ? 1 : 0);
  });
});

function find(objects: readonly DesiredObject[], kind: string): DesiredObject {
  const found = objects.find(({ object }) => object.kind === kind);
  if (found === undefined) throw new Error(`no ${kind}`);
  return found;
}

type Pod = {
  readonly automountServiceAccountToken: boolean;
  readonly enableServiceLinks: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: object;
  readonly volumes: readonly object[];
  readonly containers: readonly {
    readonly name: string;
    readonly args: readonly string[];
    readonly env?: readonly object[];
    readonly resources: { readonly limits: object };
    readonly securityContext: object;
    readonly volumeMounts: readonly object[];
  }[];
};

/** A container of the operator. The author answers for sidecars. */
function isOwn({ name }: { readonly name: string }): boolean {
  return ['api', 'indexer', 'metadata', 'migration', 'redis'].includes(name);
}

function podOf({ object }: DesiredObject): Pod {
  const template = object.spec?.['template'] as { spec: Pod };
  return template.spec;
}

function coldHashOf({ spec }: DesiredObject['object']): string | undefined {
  const template = spec?.['template'] as { metadata: { annotations: Record<string, string> } };
  return template.metadata.annotations['tonplane.dev/cold-hash'];
}

function kindsOf(known: Partial<References>): string[] {
  return build(sample('full'), references(known), release).map(({ object }) => object.kind);
}

function deploymentOf(objects: readonly DesiredObject[]): DesiredObject {
  return find(
    objects.filter(({ object }) => object.metadata.name.endsWith('-api')),
    'Deployment',
  );
}

function configData(changes: Partial<TonApi['spec']>): unknown {
  return find(build(sample('typical', changes), references(), release), 'ConfigMap').object.data;
}

function templateOf(tonApi: TonApi, known = references()): unknown {
  return deploymentOf(build(tonApi, known, release)).object.spec?.['template'];
}

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, field]) => [name, reversed(field)]),
  );
}
