import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';

import { startNetwork, type NetworkProcess } from '#test/support/api-processes.ts';
import { chartsFolder, dashboards, operatorRules, queriesOf, tonApiRules } from '#test/support/charts.ts';
import { createAuthority } from '#test/support/certificate.ts';
import type { ClusterObject } from '#test/support/cluster-client.ts';
import { startCluster, type Cluster } from '#test/support/cluster.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { createHelm, withoutHelm, type Helm } from '#test/support/helm.ts';
import { withoutOptionalApis } from '#test/support/optional-api-source.ts';
import { applyOptionalApis } from '#test/support/optional-apis.ts';
import { onLoopback } from '#test/support/pod-network.ts';
import { startPostgres, type PostgresServer } from '#test/support/postgres-server.ts';
import { startPrometheus, withoutPrometheus, type ScrapeTarget } from '#test/support/prometheus.ts';
import { metricNamesOf, metricOf } from '#test/support/promql.ts';
import { images } from '#test/support/ton-cluster.ts';

const [system, own] = ['ton-system', 'ton'];
const patience = { timeout: 400_000, interval: 200 } as const;
/** Pods of two Deployments start on a busy machine. */
const minutes = 900_000;

const chart = (name: string): string => join(chartsFolder, name);

const missing =
  withoutHelm('the installed charts') ||
  withoutOptionalApis('the installed charts', ['ServiceMonitor', 'PrometheusRule']) ||
  (await withoutControlPlane('the installed charts', 'controllers', 'ours'));

describe.skipIf(missing)('the charts, installed by Helm,', () => {
  let cluster: Cluster;
  let network: NetworkProcess;
  let postgres: PostgresServer;
  let helm: Helm;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tonplane-charts-'));
    [cluster, network, postgres] = await Promise.all([startCluster({ images }), startNetwork(), startPostgres()]);
    helm = createHelm(cluster.plane.kubeconfigPath);
    await applyOptionalApis(cluster.client, ['ServiceMonitor', 'PrometheusRule']);
    for (const name of [system, own]) {
      const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
      await cluster.client.create('/api/v1/namespaces', { metadata: { name, labels } });
    }
    const database = { metadata: { name: 'postgres' }, stringData: { uri: postgres.url } };
    await cluster.client.create(`/api/v1/namespaces/${own}/secrets`, database);
    writeFileSync(join(folder, 'tonapi.yaml'), stringify(tonApiValues()));
  }, minutes);
  afterAll(async () => {
    helm?.close();
    await cluster?.stop();
    await network?.stop();
    await postgres?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A TonApi of the recorded network as values: what a person would write. */
  function tonApiValues(): object {
    const { spec } = parse(network.manifest()) as { spec: Record<string, unknown> };
    const { rateLimits: _, ...given } = spec;
    const observability = { serviceMonitor: true, prometheusRule: true };
    return {
      spec: {
        ...given,
        observability,
        surfaces: ['v2', 'v3', 'stream'],
        postgres: { secretRef: { name: 'postgres' } },
        indexer: {},
        plans: [
          { name: 'free', requestsPerSecond: 50 },
          { name: 'pro', requestsPerSecond: 500 },
        ],
      },
      keys: [{ name: 'customer', plan: 'pro' }],
    };
  }

  const operatorValues = [
    '--set',
    'metrics.serviceMonitor.enabled=true,metrics.prometheusRule.enabled=true,metrics.dashboards.enabled=true',
  ];
  const podsOf = async (namespace: string, selector: string): Promise<readonly ClusterObject[]> =>
    (
      await cluster.client.list(`/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(selector)}`)
    ).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const operators = () => podsOf(system, 'app.kubernetes.io/component=operator');
  const apiPods = () => podsOf(own, 'app.kubernetes.io/component=api');
  const indexerPods = () => podsOf(own, 'app.kubernetes.io/component=indexer');
  const tonApi = `/apis/tonplane.dev/v1alpha1/namespaces/${own}/tonapis/main`;
  const customerKey = `/apis/tonplane.dev/v1alpha1/namespaces/${own}/tonapikeys/customer`;
  const readiness = async (): Promise<string> => {
    const conditions = ((await cluster.client.find(tonApi))?.['status']?.conditions ?? []) as {
      type: string;
      reason: string;
      message: string;
    }[];
    const { reason, message } = conditions.find(({ type }) => type === 'Ready') ?? { reason: 'Absent', message: '' };
    return reason === 'Serving' ? reason : `${reason}: ${message}`;
  };

  /** A token of a new account, with a role of the cluster when one is named. */
  async function tokenOf(name: string, role?: string): Promise<string> {
    const accounts = `/api/v1/namespaces/${own}/serviceaccounts`;
    await cluster.client.create(accounts, { metadata: { name } });
    if (role !== undefined) {
      await cluster.client.create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ kind: 'ServiceAccount', name, namespace: own }],
      });
    }
    const { status } = await cluster.client.create(`${accounts}/${name}/token`, { spec: { expirationSeconds: 3600 } });
    return status.token as string;
  }

  it(
    'bring up the operator in a restricted namespace, under its own account',
    async () => {
      await helm.run(
        'install',
        'ton',
        chart('tonplane'),
        '--namespace',
        system,
        '--wait',
        '--timeout',
        '3m',
        ...operatorValues,
      );
      expect(await operators()).toHaveLength(2);
      expect(await helm.run('test', 'ton', '--namespace', system, '--timeout', '2m')).toContain(
        'Phase:          Succeeded',
      );
    },
    minutes,
  );

  it(
    'bring up an API and a key from values',
    async () => {
      await helm.run('install', 'main', chart('tonapi'), '--namespace', own, '--values', join(folder, 'tonapi.yaml'));
      await expect.poll(readiness, patience).toBe('Serving');
      const secret = await cluster.client.get(`/api/v1/namespaces/${own}/secrets/customer`);
      const headers = { 'x-api-key': Buffer.from(secret['data'].key, 'base64').toString() };
      const url = await cluster.forwarder.url(own, 'main-api', 'http');
      expect((await fetch(`${url}/api/v2/getMasterchainInfo`, { headers })).status).toBe(200);
      expect((await fetch(`${url}/api/v3/masterchainInfo`, { headers })).status).toBe(200);
      expect(await helm.run('test', 'main', '--namespace', own, '--timeout', '2m')).toContain(
        'Phase:          Succeeded',
      );
    },
    minutes,
  );

  it('give the operator every right that it uses: the API server has refused nothing', async () => {
    const refused = (await Promise.all((await operators()).map((pod) => metricsOf(pod)))).flatMap((text) =>
      text.split('\n').filter((line) => /^rest_client_requests_total\{code="40[13]"/.test(line)),
    );
    expect(refused).toEqual([]);
  });

  it.skipIf(withoutPrometheus('rules and dashboards on a real scrape'))(
    'bring rules and dashboards that a real Prometheus takes, and that name metrics that are there',
    async () => {
      const [ofOperators, ofApi] = [await operators(), [...(await apiPods()), ...(await indexerPods())]];
      const ofTonApi = { namespace: own, tonapi: 'main', network: 'custom' };
      const made = await cluster.client.get(
        `/apis/monitoring.coreos.com/v1/namespaces/${own}/prometheusrules/main-api`,
      );
      const shipped = await cluster.client.get(
        `/apis/monitoring.coreos.com/v1/namespaces/${system}/prometheusrules/ton-tonplane`,
      );
      const prometheus = await startPrometheus({
        targets: [
          ...ofOperators.map((pod) => targetOf(pod, 8080)),
          ...ofApi.map((pod) => targetOf(pod, 8082, { ...ofTonApi, service: serviceOf(pod) })),
        ],
        rules: [...made['spec'].groups, ...shipped['spec'].groups],
      });
      try {
        const groups = [...made['spec'].groups, ...shipped['spec'].groups] as { rules: object[] }[];
        const count = groups.flatMap(({ rules }) => rules).length;
        expect(count).toBeGreaterThan(30);
        await expect
          .poll(async () => (await prometheus.rules()).filter(({ health }) => health === 'ok').length, patience)
          .toBe(count);
        await expect
          .poll(async () => (await prometheus.query('up == 1')).length, patience)
          .toBe(ofOperators.length + ofApi.length);
        const firing = (await prometheus.rules()).filter(({ state }) => state === 'firing').map(({ name }) => name);
        expect(firing).toEqual([]);
        for (const query of dashboards().flatMap(({ dashboard }) => queriesOf(dashboard))) {
          await expect(prometheus.query(filled(query))).resolves.toBeDefined();
        }
      } finally {
        await prometheus.close();
      }
      // A metric without a series yet is named by its TYPE line all the same.
      const texts = await Promise.all([
        ...ofOperators.map((pod) => metricsOf(pod)),
        ...ofApi.map((pod) => metricsOf(pod, 8082)),
      ]);
      const known = new Set(
        texts.flatMap((text) => [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name ?? '')),
      );
      const rules = [...operatorRules(), ...tonApiRules()].flatMap((group) => group.rules);
      for (const { record } of rules) if (record !== undefined) known.add(record);
      const named = [
        ...rules.map(({ expr }) => expr),
        ...dashboards().flatMap(({ dashboard }) => queriesOf(dashboard)),
      ].flatMap(metricNamesOf);
      const unknown = [...new Set(named)].filter(
        (name) => !ofPrometheus.has(name) && !known.has(name) && !known.has(metricOf(name)),
      );
      expect(unknown).toEqual([]);
    },
    minutes,
  );

  it(
    'are upgraded without touching a pod of an API',
    async () => {
      const before = (await apiPods()).map(({ metadata }) => metadata.uid);
      const [former] = await operators();
      await helm.run(
        'upgrade',
        'ton',
        chart('tonplane'),
        '--namespace',
        system,
        '--wait',
        '--timeout',
        '3m',
        ...operatorValues,
        '--set',
        'operator.logLevel=debug',
      );
      await expect
        .poll(async () => (await operators()).map(({ metadata }) => metadata.uid), patience)
        .not.toContain(former?.metadata.uid);
      expect(await operators()).toHaveLength(2);
      await expect.poll(readiness, patience).toBe('Serving');
      const after = await apiPods();
      expect(after.map(({ metadata }) => metadata.uid)).toEqual(before);
      expect(after.map((pod) => pod['status'].containerStatuses[0].restartCount)).toEqual(after.map(() => 0));
    },
    minutes,
  );

  it(
    "show the operator's metrics over TLS to who may read them, and to nobody else, where values ask for it",
    async () => {
      const [authority, name] = [createAuthority('metrics'), 'ton-tonplane'];
      const { certificate, key } = authority.issue({ commonName: name, hosts: [`${name}.${system}.svc`] });
      await cluster.client.create(`/api/v1/namespaces/${system}/secrets`, {
        metadata: { name: 'metrics-tls' },
        type: 'kubernetes.io/tls',
        stringData: { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': authority.certificate },
      });
      const secured = 'metrics.tls.secretName=metrics-tls,metrics.authorize=true';
      const more = ['--namespace', system, '--wait', '--timeout', '3m', ...operatorValues, '--set', secured];
      await helm.run('upgrade', 'ton', chart('tonplane'), ...more);
      expect(await helm.run('test', 'ton', '--namespace', system, '--timeout', '2m')).toContain(
        'Phase:          Succeeded',
      );
      const monitor = await cluster.client.get(
        `/apis/monitoring.coreos.com/v1/namespaces/${system}/servicemonitors/${name}`,
      );
      const [endpoint] = monitor['spec'].endpoints as { scheme: string; tlsConfig: { serverName: string } }[];
      expect(endpoint?.scheme).toBe('https');
      const servername = endpoint?.tlsConfig.serverName ?? '';
      const scraper = new Agent({ connect: { ca: authority.certificate, servername } });
      const url = await cluster.forwarder.url(system, name, 'metrics');
      const scrape = async (token?: string) => {
        const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
        const at = `${url.replace('http:', 'https:')}/metrics`;
        const { statusCode, body } = await request(at, { dispatcher: scraper, headers });
        return { status: statusCode, text: await body.text() };
      };
      try {
        const allowed = await scrape(await tokenOf('prometheus', `${name}-metrics`));
        expect([allowed.status, allowed.text]).toEqual([200, expect.stringContaining('rest_client_requests_total{')]);
        expect((await scrape(await tokenOf('visitor'))).status).toBe(403);
        expect((await scrape('no.such.token')).status).toBe(401);
        expect((await scrape()).status).toBe(401);
        await expect(fetch(`${url}/metrics`)).rejects.toThrow('fetch failed');
      } finally {
        await scraper.close();
      }
    },
    minutes,
  );

  it(
    'change an API by values, without a restart for what is hot',
    async () => {
      const before = (await apiPods()).map(({ metadata }) => metadata.uid);
      await helm.run(
        'upgrade',
        'main',
        chart('tonapi'),
        '--namespace',
        own,
        '--values',
        join(folder, 'tonapi.yaml'),
        '--set',
        'spec.plans[0].name=free,spec.plans[0].requestsPerSecond=77,spec.plans[1].name=pro,spec.plans[1].requestsPerSecond=500',
      );
      await expect.poll(async () => (await cluster.client.get(tonApi))['spec'].plans[0].requestsPerSecond).toBe(77);
      const { generation } = (await cluster.client.get(tonApi)).metadata;
      await expect
        .poll(async () => (await cluster.client.get(tonApi))['status'].observedGeneration, patience)
        .toBe(generation);
      await expect.poll(readiness, patience).toBe('Serving');
      expect((await apiPods()).map(({ metadata }) => metadata.uid)).toEqual(before);
    },
    minutes,
  );

  it(
    'go in any order: without its operator the API goes on, and its keys and its namespace are deleted all the same',
    async () => {
      await helm.run('uninstall', 'ton', '--namespace', system, '--wait', '--timeout', '4m');
      await expect.poll(async () => (await operators()).length, patience).toBe(0);
      const definition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/tonapis.tonplane.dev';
      expect(await cluster.client.find(definition)).toBeDefined();
      const hooks = await cluster.client.list(`/api/v1/namespaces/${system}/serviceaccounts`);
      expect(hooks.map(({ metadata }) => metadata.name).filter((name) => name.endsWith('-uninstall'))).toEqual([]);
      expect((await apiPods()).length).toBeGreaterThan(0);
      expect((await cluster.client.get(customerKey)).metadata.finalizers ?? []).toEqual([]);

      await helm.run('uninstall', 'main', '--namespace', own, '--wait', '--timeout', '2m');
      await expect.poll(() => cluster.client.find(tonApi), patience).toBeUndefined();
      await expect.poll(() => cluster.client.find(customerKey), patience).toBeUndefined();
      await expect
        .poll(async () => (await cluster.client.list(`/apis/apps/v1/namespaces/${own}/deployments`)).length, patience)
        .toBe(0);
      const reinstalled = ['--namespace', system, '--take-ownership', '--set', 'replicas=0'];
      await helm.run('install', 'again', chart('tonplane'), ...reinstalled);
    },
    minutes,
  );
});

/** Series that Prometheus and a blackbox exporter make. */
const ofPrometheus: ReadonlySet<string> = new Set(['ALERTS', 'up', 'probe_success']);

/** Label `service`, as the Prometheus operator sets it: the Service by which a ServiceMonitor finds the pod. */
function serviceOf({ metadata }: ClusterObject): string {
  return `main-${metadata.labels?.['app.kubernetes.io/component']}`;
}

/** What Prometheus scrapes of a pod. */
function targetOf(pod: ClusterObject, port: number, labels: Record<string, string> = {}): ScrapeTarget {
  return { address: `${onLoopback(pod['status'].podIP)}:${port}`, labels: { ...labels, pod: pod.metadata.name } };
}

/** A dashboard's query as Grafana sends it. */
function filled(query: string): string {
  return query
    .replaceAll('$__rate_interval', '1m')
    .replaceAll('$namespace', own)
    .replaceAll('$tonapi', 'main')
    .replaceAll('$availability', '99.9');
}

async function metricsOf(pod: ClusterObject, port = 8080): Promise<string> {
  return (await fetch(`http://${onLoopback(pod['status'].podIP)}:${port}/metrics`)).text();
}
