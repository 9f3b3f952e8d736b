import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { build } from '#operator/desired/build.ts';
import type { References } from '#operator/desired/references.ts';
import { diff, type UpdateChange } from '#operator/diff/diff.ts';
import { driftManagers } from '#operator/diff/drift.ts';
import { keySecret } from '#operator/keys/key-secret.ts';
import { rotate } from '#operator/keys/rotation.ts';
import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import { collectionPath, objectPath, resourceOf, resources } from '#operator/kubernetes/resources.ts';
import type { TonApi } from '#operator/resource.ts';
import type { ClusterClient } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { withoutOptionalApis } from '#test/support/optional-api-source.ts';
import { joinControlPlane } from '#test/support/shared-control-plane.ts';
import { references, release, sample, sampleKey, sampleNames } from './samples.ts';

const withSchema = {
  ...release,
  schemaVersion: 2,
  prometheusUrl: 'http://prometheus:9090',
  blackboxExporter: { address: 'blackbox.monitoring:9115', module: 'http_2xx' },
};
const keyring = ['a', 'b'].map((id) => ({ id: id.repeat(12), sha256: id.repeat(64), plan: 'pro' }));
const canary = { weight: 5, replicas: 1, state: { hash: 'h', step: 0, since: '2026-11-21T00:00:00Z' } };
const keda = {
  provider: 'KEDA',
  minReplicas: 2,
  maxReplicas: 9,
  targetCPUUtilization: 70,
  targetRequestsPerSecond: 9,
  scaleDownStabilization: '5m',
} as const;

const { targetRequestsPerSecond: _, ...kedaByCpu } = keda;

/** Every sample, and what no sample has. */
const cases: readonly [string, TonApi, Partial<References>][] = [
  ...sampleNames.map((name): [string, TonApi, Partial<References>] => [name, sample(name), {}]),
  ['with a canary', sample('full'), { rollout: { canary } }],
  ['scaled by the CPU through KEDA', sample('typical', { autoscaling: kedaByCpu }), {}],
  ['scaled by KEDA', sample('typical', { autoscaling: keda }), {}],
  [
    'with odd amounts',
    sample('typical', { resources: { requests: { cpu: 1, memory: '0.5Gi' }, limits: { cpu: '1500m' } } }),
    {},
  ],
];

/** Empty forms and other spellings of amounts, as other tools write them. */
const emptyForms = {
  labels: {},
  nodeSelector: { 'node-role.kubernetes.io/edge': '' },
  tolerations: [{ key: 'edge', operator: 'Exists', value: '', effect: '' }],
  spec: {
    dnsPolicy: '',
    schedulerName: '',
    hostname: '',
    runtimeClassName: null,
    dnsConfig: { nameservers: [], searches: null },
    imagePullSecrets: [],
    hostAliases: [],
    volumes: [
      { name: 'empty', emptyDir: { medium: '', sizeLimit: '1024Mi' } },
      { name: 'given', configMap: { name: 'given', items: [], optional: false } },
      {
        name: 'pod',
        downwardAPI: {
          items: [
            { path: 'cpu', resourceFieldRef: { containerName: 'side', resource: 'limits.cpu', divisor: '1000m' } },
            { path: 'name', fieldRef: { apiVersion: '', fieldPath: 'metadata.name' } },
          ],
        },
      },
      {
        name: 'claimed',
        ephemeral: {
          volumeClaimTemplate: {
            metadata: { labels: {} },
            spec: { accessModes: ['ReadWriteOnce'], volumeName: '', resources: { requests: { storage: '1024Mi' } } },
          },
        },
      },
    ],
    containers: [
      { name: 'api', env: [{ name: 'EMPTY', value: '' }], envFrom: [], lifecycle: {} },
      {
        name: 'side',
        image: 'side:1',
        imagePullPolicy: '',
        terminationMessagePath: '',
        terminationMessagePolicy: '',
        workingDir: '',
        command: [],
        args: null,
        stdin: false,
        env: [
          {
            name: 'CPU',
            valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1000m', containerName: '' } },
          },
          { name: 'NAME', valueFrom: { fieldRef: { apiVersion: '', fieldPath: 'metadata.name' } } },
        ],
        ports: [{ containerPort: 9000, protocol: '', hostPort: 0, name: '', hostIP: '' }],
        resources: {
          requests: { cpu: '1000m', memory: '1024Mi', 'example.com/gpu': 1 },
          limits: { cpu: '1.0000001', memory: '1Gi', 'example.com/gpu': '1000m' },
          claims: [],
        },
        livenessProbe: {
          httpGet: { path: '', port: 9000, scheme: '', host: '', httpHeaders: [] },
          initialDelaySeconds: 0,
          timeoutSeconds: 0,
          periodSeconds: 0,
          successThreshold: 0,
          failureThreshold: 0,
        },
        volumeMounts: [{ name: 'empty', mountPath: '/empty', readOnly: false, subPath: '', subPathExpr: '' }],
        securityContext: { allowPrivilegeEscalation: false, runAsUser: 0, capabilities: { add: [], drop: ['ALL'] } },
      },
    ],
  },
};

const missing =
  withoutOptionalApis('children of a TonApi') || (await withoutControlPlane('children of a TonApi', 'ours'));

describe.skipIf(missing)('the API server', () => {
  let client: ClusterClient;
  beforeAll(async () => {
    ({ client } = await joinControlPlane());
  });
  afterAll(async () => {
    await client?.close();
  });

  const apply = (object: KubernetesObject, query = ''): Promise<KubernetesObject> => {
    const path = objectPath(resourceOf(object), object.metadata);
    const options = `fieldManager=ton-operator&force=true&fieldValidation=Strict${query}`;
    return client.send(
      'PATCH',
      `${path}?${options}`,
      object,
      'application/apply-patch+yaml',
    ) as Promise<KubernetesObject>;
  };

  async function applyAll(tonApi: TonApi, known: Partial<References>): Promise<KubernetesObject[]> {
    const live: KubernetesObject[] = [];
    for (const { object } of desiredOf(tonApi, known)) live.push(await apply(object));
    return live;
  }

  async function makeNamespace(tonApi: TonApi, name: string): Promise<TonApi> {
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await client.apply(`/api/v1/namespaces/${name}`, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, labels },
    });
    await client.apply(`/api/v1/namespaces/${name}/serviceaccounts/default`, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'default' },
    });
    return { ...tonApi, metadata: { ...tonApi.metadata, namespace: name } };
  }

  it.each([...cases, ['with empty forms', sample('full', { podTemplate: emptyForms } as never), {}] as const])(
    'takes every child with every field known, and then there is nothing to do: %s',
    async (name, given, known) => {
      const tonApi = await makeNamespace(given, `taken-${name.replaceAll(' ', '-').toLowerCase()}`);
      const live = await applyAll(tonApi, known);
      expect(diff(tonApi, desiredOf(tonApi, known), live)).toEqual([]);
      const again = await applyAll(tonApi, known);
      expect(again.map(({ metadata }) => metadata.resourceVersion)).toEqual(
        live.map(({ metadata }) => metadata.resourceVersion),
      );
    },
  );

  it.each(cases)(
    'takes the pods into a namespace that enforces the restricted level: %s',
    async (name, given, known) => {
      const tonApi = await makeNamespace(given, `restricted-${cases.findIndex(([other]) => other === name)}`);
      const objects = desiredOf(tonApi, known).map(({ object }) => object);
      for (const account of [...objects.filter(({ kind }) => kind === 'ServiceAccount'), ...namedAccount(tonApi)])
        await apply(account);
      await client.apply('/apis/scheduling.k8s.io/v1/priorityclasses/high', {
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name: 'high' },
        value: 10,
      });
      await client.apply('/apis/node.k8s.io/v1/runtimeclasses/gvisor', {
        apiVersion: 'node.k8s.io/v1',
        kind: 'RuntimeClass',
        metadata: { name: 'gvisor' },
        handler: 'gvisor',
      });
      const pods = objects.filter(({ spec }) => spec?.['template'] !== undefined).map(podOf);
      expect(pods.length).toBeGreaterThan(0);
      for (const pod of pods) {
        const path = collectionPath(resources.Pod, tonApi.metadata.namespace);
        const made = await client.send('POST', `${path}?dryRun=All&fieldValidation=Strict`, pod);
        expect(made['spec'].containers[0].securityContext.readOnlyRootFilesystem).toBe(true);
      }
    },
  );

  it('tells who changed a field, and the change is undone', async () => {
    const tonApi = await makeNamespace(sample('typical'), 'drift');
    await applyAll(tonApi, {});
    const path = '/apis/apps/v1/namespaces/drift/deployments/mainnet-api';
    await client.send(
      'PATCH',
      `${path}?fieldManager=intruder`,
      { spec: { minReadySeconds: 77, template: { spec: { containers: [{ name: 'api', image: 'evil:1' }] } } } },
      'application/strategic-merge-patch+json',
    );
    const edited = (await client.get(path)) as KubernetesObject;
    const desired = desiredOf(tonApi, {}).filter(
      ({ object }) => object.metadata.name === 'mainnet-api' && object.kind === 'Deployment',
    );
    const [change] = diff(tonApi, desired, [edited]) as [UpdateChange];
    expect(change.cause).toBe('drift');
    expect(change.fields.map((field) => field.path).toSorted()).toEqual([
      'spec.minReadySeconds',
      'spec.template.spec.containers[api].image',
    ]);
    expect(
      driftManagers(
        edited,
        change.fields.map((field) => field.path),
      ),
    ).toEqual(['intruder']);
    const mended = await apply(change.desired.object);
    expect(diff(tonApi, desired, [mended])).toEqual([]);
  });

  it('tells which fields we stop setting, and they go', async () => {
    const before = await makeNamespace(
      sample('typical', { podTemplate: { priorityClassName: 'high', nodeSelector: { disk: 'fast' } } }),
      'dropped',
    );
    await applyAll(before, {});
    const path = '/apis/apps/v1/namespaces/dropped/deployments/mainnet-api';
    const after = await makeNamespace(sample('typical'), 'dropped');
    const desired = desiredOf(after, {}).filter(
      ({ object }) => object.metadata.name === 'mainnet-api' && object.kind === 'Deployment',
    );
    const [change] = diff(after, desired, [(await client.get(path)) as KubernetesObject]) as [UpdateChange];
    const gone = change.fields.filter((field) => field.after === undefined).map((field) => field.path);
    expect(gone.toSorted()).toEqual(['spec.template.spec.nodeSelector', 'spec.template.spec.priorityClassName']);
    const mended = await apply(change.desired.object);
    expect(JSON.stringify(mended.spec)).not.toContain('disk');
    expect(diff(after, desired, [mended])).toEqual([]);
  });

  it('keeps the replicas that an autoscaler has set through the handover', async () => {
    const fixed = await makeNamespace(sample('smallest', { replicas: 5 }), 'handover');
    await applyAll(fixed, {});
    const path = '/apis/apps/v1/namespaces/handover/deployments/testnet-api';
    const scaled = await makeNamespace(
      sample('smallest', { replicas: 5, autoscaling: { ...keda, provider: 'HPA' } }),
      'handover',
    );
    const live = (await client.get(path)) as KubernetesObject;
    const desired = desiredOf(scaled, {}).filter(
      ({ object }) => object.metadata.name === 'testnet-api' && object.kind === 'Deployment',
    );
    const [change] = diff(scaled, desired, [live]) as [UpdateChange];
    expect(change.handover).toBe(5);
    const { apiVersion, kind, metadata } = live;
    const part = {
      apiVersion,
      kind,
      metadata: { name: metadata.name, namespace: 'handover' },
      spec: { replicas: change.handover },
    };
    await client.apply(path, part, 'ton-operator-handover');
    const after = await apply(change.desired.object);
    expect(after.spec?.['replicas']).toBe(5);
    expect(diff(scaled, desired, [after])).toEqual([]);
  });

  it('takes the Secret of a key', async () => {
    const tonApiKey = sampleKey();
    await makeNamespace(sample('typical'), 'ton');
    const material = rotate({
      tonApiKey,
      plan: 'pro',
      material: undefined,
      inForce: () => true,
      randomBytes: (length) => Buffer.alloc(length, 7),
      nowMs: 0,
    });
    const secret = keySecret(tonApiKey, material, 'https://ton.example.com');
    expect((await apply(secret)).data).toEqual(secret.data);
  });
});

function desiredOf(tonApi: TonApi, known: Partial<References>) {
  return build(tonApi, references({ keyring, ...known }), withSchema);
}

/** The account that the manifest names is the user's to make. */
function namedAccount(tonApi: TonApi): KubernetesObject[] {
  const name = tonApi.spec.podTemplate?.serviceAccountName;
  const { namespace = '' } = tonApi.metadata;
  return name === undefined ? [] : [{ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } }];
}

function podOf({ spec, metadata }: KubernetesObject): object {
  const template = spec?.['template'] as { readonly metadata: object; readonly spec: object };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...template.metadata, name: metadata.name },
    spec: template.spec,
  };
}
