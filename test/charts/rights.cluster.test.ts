import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { projectRoot } from '#test/style/sources.ts';
import { createAuditLog } from '#test/support/audit-log.ts';
import { chartsFolder } from '#test/support/charts.ts';
import type { ClusterObject } from '#test/support/cluster-client.ts';
import { startCluster, type Cluster } from '#test/support/cluster.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { createHelm, withoutHelm, type Helm } from '#test/support/helm.ts';
import { withoutOptionalApis } from '#test/support/optional-api-source.ts';
import { applyOptionalApis } from '#test/support/optional-apis.ts';
import { operatorProgram } from '#test/support/programs.ts';

const patience = { timeout: 240_000, interval: 200 } as const;
const minutes = 500_000;
const [system, own, customers] = ['ton-system', 'ton', 'customers'];
const account = `system:serviceaccount:${system}:ton-tonplane`;
const hash = `${'A'.repeat(43)}=`;

/** Kinds of children and where they are, with one field of each that is the operator's, for a foreign edit. */
const children: Readonly<Record<string, { path: string; edit: object }>> = {
  'apps/deployments': { path: 'apis/apps/v1', edit: { spec: { minReadySeconds: 77 } } },
  'apps/statefulsets': { path: 'apis/apps/v1', edit: { spec: { revisionHistoryLimit: 77 } } },
  '/services': {
    path: 'api/v1',
    edit: { spec: { ports: [{ name: 'http', port: 8081, targetPort: 'wrong', protocol: 'TCP' }] } },
  },
  '/configmaps': { path: 'api/v1', edit: { data: { 'tonapi.yaml': 'wrong' } } },
  '/serviceaccounts': { path: 'api/v1', edit: { automountServiceAccountToken: true } },
  'autoscaling/horizontalpodautoscalers': { path: 'apis/autoscaling/v2', edit: { spec: { maxReplicas: 99 } } },
  'policy/poddisruptionbudgets': { path: 'apis/policy/v1', edit: { spec: { maxUnavailable: 7 } } },
  'networking.k8s.io/ingresses': {
    path: 'apis/networking.k8s.io/v1',
    edit: { spec: { rules: [{ host: 'wrong.example.com' }] } },
  },
  'networking.k8s.io/networkpolicies': {
    path: 'apis/networking.k8s.io/v1',
    edit: { spec: { policyTypes: ['Ingress'] } },
  },
  'gateway.networking.k8s.io/httproutes': {
    path: 'apis/gateway.networking.k8s.io/v1',
    edit: { spec: { hostnames: ['wrong.example.com'] } },
  },
  'monitoring.coreos.com/servicemonitors': { path: 'apis/monitoring.coreos.com/v1', edit: { spec: { endpoints: [] } } },
  'monitoring.coreos.com/prometheusrules': { path: 'apis/monitoring.coreos.com/v1', edit: { spec: { groups: [] } } },
  'monitoring.coreos.com/probes': { path: 'apis/monitoring.coreos.com/v1', edit: { spec: { module: 'wrong' } } },
  'keda.sh/scaledobjects': { path: 'apis/keda.sh/v1alpha1', edit: { spec: { maxReplicaCount: 99 } } },
};

const spec = {
  network: 'custom',
  trust: 'none',
  zeroState: { rootHash: hash, fileHash: hash },
  liteServers: [{ name: 'a', address: '127.0.0.1:4443', publicKey: hash }],
  plans: [{ name: 'free', requestsPerSecond: 1000 }],
  rateLimits: { redis: { embedded: true } },
  image: { repository: 'release', tag: 'good' },
  rollout: { drainSeconds: 0 },
};
const observability = { serviceMonitor: true, prometheusRule: true };
const target = { maxReplicas: 4, targetCPUUtilization: 70 };

/** TonApis that between them have every kind of child, and what takes each of those away again. */
const tonApis: Readonly<Record<string, { with: object; without: object }>> = {
  first: {
    with: { observability, autoscaling: target, exposure: { kind: 'Ingress', hosts: ['a.example.com'] } },
    without: {
      observability: null,
      autoscaling: null,
      exposure: null,
      networkPolicy: false,
      replicas: 1,
      rateLimits: { redis: { embedded: false, secretRef: { name: 'redis' } } },
      podTemplate: { serviceAccountName: 'default' },
    },
  },
  second: {
    with: {
      autoscaling: { ...target, provider: 'KEDA' },
      exposure: { kind: 'HTTPRoute', hosts: ['b.example.com'], parentRefs: [{ name: 'gateway' }] },
      keys: { allowedNamespaces: 'Selector', selector: { matchLabels: { 'kubernetes.io/metadata.name': customers } } },
    },
    without: { autoscaling: null, exposure: null },
  },
  third: {
    with: { postgres: { secretRef: { name: 'postgres' } }, indexer: {} },
    without: { indexer: null },
  },
};

/**
 * Rights that no request here has. The first is asked for beside a request of another name, by the plugin that guards owners which block a deletion.
 * The second is for pods that wait for their mounts, and the kubelet here has none.
 */
const asked = /^(update tonplane\.dev\/\w+\/finalizers|list events\.k8s\.io\/events)$/;

const keyOf = (namespace: string): string => `/apis/tonplane.dev/v1alpha1/namespaces/${namespace}/tonapikeys`;
const tonApiPath = `/apis/tonplane.dev/v1alpha1/namespaces/${own}/tonapis`;

const missing =
  withoutHelm('the rights of the operator') ||
  withoutOptionalApis('the rights of the operator') ||
  (await withoutControlPlane('the rights of the operator', 'controllers', 'ours'));

describe.skipIf(missing)('the rights that the chart gives', () => {
  let cluster: Cluster;
  let helm: Helm;
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-rights-'));
  const audit = createAuditLog(folder);
  beforeAll(async () => {
    const operator = ['node', operatorProgram];
    const release = ['node', join(projectRoot, 'test/support/stand-in-release.ts'), '--fail-every', '0'];
    cluster = await startCluster({
      apiServerFlags: [...audit.apiServerFlags, '--enable-admission-plugins=OwnerReferencesPermissionEnforcement'],
      images: [
        { image: /\/tonplane\/operator:/, entrypoint: operator },
        { image: /^release:/, entrypoint: release },
        { image: /^redis:/, entrypoint: ['redis-server'], listenArgs: (address) => ['--bind', address] },
      ],
    });
    helm = createHelm(cluster.plane.kubeconfigPath);
    await applyOptionalApis(cluster.client);
    for (const name of [system, own, customers])
      await cluster.client.create('/api/v1/namespaces', { metadata: { name } });
    await helm.run(
      'install',
      'ton',
      join(chartsFolder, 'tonplane'),
      '--namespace',
      system,
      '--set',
      'replicas=1,operator.blackboxExporter.address=blackbox.monitoring:9115',
      '--wait',
      '--timeout',
      '3m',
    );
  }, minutes);
  afterAll(async () => {
    helm?.close();
    await cluster?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const makeKey = (namespace: string, apiRef: object): Promise<ClusterObject> =>
    cluster.client.create(keyOf(namespace), {
      apiVersion: 'tonplane.dev/v1alpha1',
      kind: 'TonApiKey',
      metadata: { name: 'customer' },
      spec: { apiRef, plan: 'free' },
    });
  const listOf = (resource: string): Promise<readonly ClusterObject[]> =>
    cluster.client.list(`/${children[resource]?.path}/namespaces/${own}/${resource.split('/')[1]}`);
  const ours = async (resource: string): Promise<readonly ClusterObject[]> =>
    (await listOf(resource)).filter(({ metadata }) =>
      (metadata.ownerReferences ?? []).some(({ kind }) => kind === 'TonApi'),
    );
  const kinds = Object.keys(children);
  const missingKinds = async (): Promise<string[]> => {
    const found = await Promise.all(kinds.map(async (kind) => ({ kind, count: (await ours(kind)).length })));
    return found.filter(({ count }) => count === 0).map(({ kind }) => kind);
  };

  it(
    'let it make every kind of child',
    async () => {
      await cluster.client.create(`/api/v1/namespaces/${own}/secrets`, {
        metadata: { name: 'redis' },
        stringData: { url: 'redis://127.0.0.1:1' },
      });
      await cluster.client.create(`/api/v1/namespaces/${own}/secrets`, {
        metadata: { name: 'postgres' },
        stringData: { uri: 'postgres://127.0.0.1:1' },
      });
      for (const [name, { with: more }] of Object.entries(tonApis)) {
        await cluster.client.create(tonApiPath, {
          apiVersion: 'tonplane.dev/v1alpha1',
          kind: 'TonApi',
          metadata: { name },
          spec: { ...spec, ...more },
        });
      }
      await makeKey(own, { name: 'first' });
      await makeKey(customers, { name: 'second', namespace: own });
      await expect.poll(missingKinds, patience).toEqual([]);
      for (const namespace of [own, customers]) {
        await expect
          .poll(() => cluster.client.find(`/api/v1/namespaces/${namespace}/secrets/customer`), patience)
          .toBeDefined();
      }
    },
    minutes,
  );

  it(
    'let it undo a foreign edit of every kind',
    async () => {
      for (const kind of kinds) {
        const [child] = await ours(kind);
        const path = `/${children[kind]?.path}/namespaces/${own}/${kind.split('/')[1]}/${child?.metadata.name}`;
        await cluster.client.merge(`${path}?fieldManager=somebody`, children[kind]?.edit ?? {});
        const edited = JSON.stringify(children[kind]?.edit);
        const undone = async (): Promise<boolean> => {
          const now = await cluster.client.get(path);
          return !includes(now, JSON.parse(edited));
        };
        await expect.poll(undone, patience).toBe(true);
      }
    },
    minutes,
  );

  it(
    'let it write a plan, and take it away again',
    async () => {
      for (const [wanted, there] of [['true', true] as const, [null, false] as const]) {
        await cluster.client.merge(`${tonApiPath}/second`, {
          metadata: { annotations: { 'tonplane.dev/plan': wanted } },
        });
        const plan = `/api/v1/namespaces/${own}/configmaps/second-plan`;
        await expect.poll(async () => (await cluster.client.find(plan)) !== undefined, patience).toBe(there);
      }
    },
    minutes,
  );

  it(
    'let it delete every kind, and a key with all that belongs to it',
    async () => {
      await cluster.client.delete(`${keyOf(own)}/customer`);
      await expect.poll(() => cluster.client.find(`${keyOf(own)}/customer`), patience).toBeUndefined();
      for (const [name, { without }] of Object.entries(tonApis))
        await cluster.client.merge(`${tonApiPath}/${name}`, { spec: without });
      const optional = kinds.filter(
        (kind) =>
          ![
            'apps/deployments',
            '/services',
            '/configmaps',
            '/serviceaccounts',
            'policy/poddisruptionbudgets',
            'networking.k8s.io/networkpolicies',
          ].includes(kind),
      );
      await expect
        .poll(async () => (await missingKinds()).filter((kind) => optional.includes(kind)), patience)
        .toEqual(optional);
    },
    minutes,
  );

  it('were enough: nothing was refused, and each was used', async () => {
    const requests = audit.requests(account);
    expect(requests.filter(({ status }) => status === 403)).toEqual([]);
    const { rules } = (await cluster.client.get(
      '/apis/rbac.authorization.k8s.io/v1/clusterroles/ton-tonplane',
    )) as unknown as { rules: { apiGroups: string[]; resources: string[]; verbs: string[] }[] };
    const given = rules.flatMap(({ apiGroups, resources, verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${apiGroups[0]}/${resource}`)),
    );
    // An apply that makes an object asks for `create` too, and its answer is 201.
    const used = new Set(
      requests.flatMap(({ verb, resource, status }) => [
        `${verb} ${resource}`,
        ...(verb === 'patch' && status === 201 ? [`create ${resource}`] : []),
      ]),
    );
    expect(given.filter((right) => !used.has(right) && !asked.test(right))).toEqual([]);
  });

  it(
    'are enough also where they are given for one namespace alone',
    async () => {
      await helm.run('uninstall', 'ton', '--namespace', system, '--wait', '--timeout', '2m');
      const narrow = [
        '--namespace',
        system,
        '--set',
        `replicas=1,crds.enabled=false,optionalApis.monitoring=false,optionalApis.gateway=false,optionalApis.keda=false,namespaces={${customers}}`,
      ];
      await helm.run('install', 'ton', join(chartsFolder, 'tonplane'), ...narrow, '--wait', '--timeout', '3m');
      const before = audit.requests(account).length;
      const paths = [customers, own].map((namespace) => `/apis/tonplane.dev/v1alpha1/namespaces/${namespace}/tonapis`);
      // The APIs of its monitoring are there, and it has no rights on them.
      const object = {
        apiVersion: 'tonplane.dev/v1alpha1',
        kind: 'TonApi',
        metadata: { name: 'narrow' },
        spec: { ...spec, observability },
      };
      for (const path of paths) await cluster.client.create(path, object);
      const reasons = async (): Promise<(string | undefined)[]> => {
        const found = await Promise.all(paths.map((path) => cluster.client.get(`${path}/narrow`)));
        return found.map(
          ({ status }) => (status?.conditions ?? []).find(({ type }: { type: string }) => type === 'Ready')?.reason,
        );
      };
      // The one in the other namespace is nobody's.
      await expect.poll(reasons, patience).toEqual(['Serving', undefined]);
      const requests = audit.requests(account).slice(before);
      expect(requests.length).toBeGreaterThan(10);
      expect(requests.filter(({ status }) => status === 403)).toEqual([]);
    },
    minutes,
  );
});

/** True when every field of `part` is in `whole` with the same value. */
function includes(whole: unknown, part: unknown): boolean {
  if (typeof part !== 'object' || part === null || Array.isArray(part))
    return JSON.stringify(whole) === JSON.stringify(part);
  return Object.entries(part).every(([name, value]) =>
    includes((whole as Record<string, unknown> | undefined)?.[name], value),
  );
}
