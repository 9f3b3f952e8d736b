import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';

import { startNetwork, type NetworkProcess } from '#test/support/api-processes.ts';
import { chartsFolder } from '#test/support/charts.ts';
import type { ClusterObject } from '#test/support/cluster-client.ts';
import { startCluster, type Cluster } from '#test/support/cluster.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { extractEarlierRelease, withoutEarlierRelease } from '#test/support/earlier-release.ts';
import { createHelm, withoutHelm, type Helm } from '#test/support/helm.ts';
import { withoutOptionalApis } from '#test/support/optional-api-source.ts';
import { applyOptionalApis } from '#test/support/optional-apis.ts';
import { onLoopback } from '#test/support/pod-network.ts';
import { images } from '#test/support/ton-cluster.ts';

const [system, own] = ['ton-system', 'ton'];
const patience = { timeout: 240_000, interval: 200 } as const;
const minutes = 500_000;

/** Tokens of a day, and the least of them that are used before the upgrade. */
const [dayTokens, usedBefore] = [12, 5];

const missing =
  withoutHelm('an upgrade of the charts') ||
  withoutEarlierRelease('an upgrade of the charts') ||
  withoutOptionalApis('an upgrade of the charts', ['ServiceMonitor', 'PrometheusRule']) ||
  (await withoutControlPlane('an upgrade of the charts', 'controllers', 'ours'));

describe.skipIf(missing)('an upgrade by Helm from the release before', () => {
  let cluster: Cluster;
  let network: NetworkProcess;
  let helm: Helm;
  let release: ReturnType<typeof extractEarlierRelease>;
  let values: string;
  /** Tokens of the key's day that Redis has counted before the upgrade. */
  let counted = 0;
  beforeAll(async () => {
    release = extractEarlierRelease();
    values = mkdtempSync(join(tmpdir(), 'tonplane-upgrade-'));
    const before = (path: string): readonly string[] => ['node', join(release.folder, path)];
    const earlier = [
      { image: /tonplane\/service:before$/, entrypoint: before('service/main.ts') },
      { image: /tonplane\/operator:before$/, entrypoint: before('operator/main.ts') },
    ];
    [cluster, network] = await Promise.all([startCluster({ images: [...earlier, ...images] }), startNetwork()]);
    helm = createHelm(cluster.plane.kubeconfigPath);
    await applyOptionalApis(cluster.client, ['ServiceMonitor', 'PrometheusRule']);
    for (const name of [system, own]) await cluster.client.create('/api/v1/namespaces', { metadata: { name } });
    writeFileSync(join(values, 'tonplane.yaml'), stringify(operatorValues));
    writeFileSync(join(values, 'tonapi.yaml'), stringify(tonApiValues()));
  }, minutes);
  afterAll(async () => {
    helm?.close();
    await cluster?.stop();
    await network?.stop();
    release?.close();
    rmSync(values, { recursive: true, force: true });
  }, 60_000);

  const operatorValues = {
    replicas: 1,
    metrics: { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true }, dashboards: { enabled: true } },
  };

  function tonApiValues(): object {
    const { spec } = parse(network.manifest()) as { spec: Record<string, unknown> };
    const { rateLimits: _, ...given } = spec;
    return {
      spec: {
        ...given,
        replicas: 2,
        observability: { serviceMonitor: true, prometheusRule: true },
        // An ending pod answers until the forwarder knows that it ends, also on a busy machine.
        rollout: { drainSeconds: 5 },
        plans: [
          { name: 'free', requestsPerSecond: 1000 },
          // Too slow for leases, which a pod that ends does not give back.
          { name: 'day', requestsPerSecond: 10, burst: 100, requestsPerDay: dayTokens },
        ],
      },
      keys: [{ name: 'customer', plan: 'day' }],
    };
  }

  const root = `/apis/tonplane.dev/v1alpha1/namespaces/${own}`;
  const paths = {
    tonApi: `${root}/tonapis/main`,
    key: `${root}/tonapikeys/customer`,
    secret: `/api/v1/namespaces/${own}/secrets/customer`,
    deployment: `/apis/apps/v1/namespaces/${own}/deployments/main-api`,
  };
  /** Both charts of a folder, the operator first; images are told apart by their tag. */
  async function runHelm(command: 'install' | 'upgrade', folder: string, tag: string): Promise<void> {
    const operator = `--namespace ${system} --wait --timeout 4m --set image.tag=${tag},serviceImage.tag=${tag}`;
    const operatorFile = join(values, 'tonplane.yaml');
    await helm.run(command, 'ton', join(folder, 'tonplane'), '--values', operatorFile, ...operator.split(' '));
    const file = join(values, 'tonapi.yaml');
    await helm.run(command, 'main', join(folder, 'tonapi'), '--values', file, '--namespace', own);
  }
  const readiness = async (path: string): Promise<string> => {
    const conditions = ((await cluster.client.find(path))?.['status']?.conditions ?? []) as Record<string, string>[];
    return conditions.find(({ type }) => type === 'Ready')?.['reason'] ?? '';
  };
  const podsOf = async (component: string, namespace = own): Promise<readonly ClusterObject[]> =>
    (
      await cluster.client.list(
        `/api/v1/namespaces/${namespace}/pods?labelSelector=app.kubernetes.io%2Fcomponent%3D${component}`,
      )
    ).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const uidsOf = async (component: string): Promise<ReadonlySet<string | undefined>> =>
    new Set((await podsOf(component)).map(({ metadata }) => metadata.uid));
  const ask = async (key?: string): Promise<number> => {
    const url = await cluster.forwarder.url(own, 'main-api', 'http');
    const headers = { connection: 'close', ...(key !== undefined && { 'x-api-key': key }) };
    const answer = await fetch(`${url}/api/v2/getMasterchainInfo`, { headers });
    await answer.arrayBuffer();
    return answer.status;
  };
  /** Reports whether every pod of the API shares its limits. A pod whose Redis is late counts alone. */
  const isShared = async (): Promise<boolean> => {
    const pods = await podsOf('api');
    const texts = pods.map(async (pod) =>
      (await fetch(`http://${onLoopback(pod['status'].podIP)}:8082/metrics`)).text(),
    );
    return (await Promise.all(texts)).every((text) => /^ton_limits_redis_away 0$/m.test(text));
  };
  /** Returns the tokens of the key's day that Redis has counted, under the scope of the earlier release. */
  const countedInRedis = async (): Promise<number> => {
    const url = new URL(await cluster.forwarder.url(own, 'main-redis', 'redis'));
    const client = new Redis(Number(url.port), url.hostname);
    try {
      return Number(await client.hget(`limits:main:{owner ${own}/customer}`, 'n'));
    } finally {
      client.disconnect();
    }
  };

  it(
    'starts from an API that serves, with a key in force that has used a part of its day',
    async () => {
      await runHelm('install', join(release.folder, 'charts'), 'before');
      await expect.poll(() => readiness(paths.tonApi), patience).toBe('Serving');
      await expect.poll(() => readiness(paths.key), patience).toBe('InForce');
      const key = keyOf(await cluster.client.get(paths.secret));
      await expect.poll(isShared, patience).toBe(true);
      while ((counted = await countedInRedis()) < usedBefore) expect(await ask(key)).toBe(200);
    },
    minutes,
  );

  it(
    'replaces each pod of the API once and Redis never, while every request is answered',
    async () => {
      const before = await Promise.all(
        [paths.tonApi, paths.key, paths.secret, paths.deployment].map((path) => cluster.client.get(path)),
      );
      const redis = await uidsOf('redis');
      const answers = new Map<string, number>();
      const over = new AbortController();
      const asking = (async () => {
        while (!over.signal.aborted) {
          const status = await ask().then(String, (error: unknown) => String(error));
          answers.set(status, (answers.get(status) ?? 0) + 1);
          await sleep(50);
        }
      })();
      await runHelm('upgrade', chartsFolder, 'now');
      await expect.poll(async () => (await podsOf('api')).map(tagOf), patience).toEqual(['now', 'now']);
      await expect.poll(() => readiness(paths.tonApi), patience).toBe('Serving');
      await expect.poll(() => readiness(paths.key), patience).toBe('InForce');
      over.abort();
      await asking;
      expect([...answers.keys()]).toEqual(['200']);
      const after = await Promise.all(
        [paths.tonApi, paths.key, paths.secret, paths.deployment].map((path) => cluster.client.get(path)),
      );
      expect(after.map(({ metadata }) => metadata.uid)).toEqual(before.map(({ metadata }) => metadata.uid));
      expect(after[2]?.['data']).toEqual(before[2]?.['data']);
      expect(revisionOf(after[3]) - revisionOf(before[3])).toBe(1);
      expect(await uidsOf('redis')).toEqual(redis);
    },
    minutes,
  );

  it('goes on with what the key has used of its day', async () => {
    const key = keyOf(await cluster.client.get(paths.secret));
    const statuses: number[] = [];
    // A pod that loses Redis for a moment admits by its own count, which the day cannot bound.
    let alone = 0;
    while (statuses.at(-1) !== 429 && statuses.length < 2 * dayTokens) {
      await expect.poll(isShared, patience).toBe(true);
      statuses.push(await ask(key));
      if (!(await isShared())) alone++;
    }
    const admitted = statuses.filter((status) => status === 200).length;
    expect(admitted).toBeGreaterThanOrEqual(dayTokens - counted);
    expect(admitted - alone).toBeLessThanOrEqual(dayTokens - counted);
  });

  it(
    'leaves no field to fight about, and a cluster at rest has no writes',
    async () => {
      const [pod] = await podsOf('operator', system);
      const scrape = async (): Promise<readonly string[]> => {
        const text = await (await fetch(`http://${onLoopback(pod?.['status'].podIP)}:8080/metrics`)).text();
        return text.split('\n');
      };
      const writes = async (): Promise<readonly string[]> =>
        (await scrape()).filter((line) => /^ton_operator_(writes|drift_corrections)_total/.test(line));
      let last: readonly string[] = [];
      await expect
        .poll(
          async () => {
            const [before, now] = [last, await writes()];
            last = now;
            return JSON.stringify(before) === JSON.stringify(now);
          },
          { timeout: 120_000, interval: 5000 },
        )
        .toBe(true);
      expect(last.filter((line) => line.startsWith('ton_operator_drift_corrections_total{'))).toEqual([]);
      const { metadata } = await cluster.client.get(paths.tonApi);
      expect(metadata.finalizers ?? []).toEqual([]);
    },
    minutes,
  );
});

/** Templates of a Deployment so far. */
function revisionOf(deployment: ClusterObject | undefined): number {
  return Number(deployment?.metadata.annotations?.['deployment.kubernetes.io/revision']);
}

function keyOf({ data }: ClusterObject): string {
  return Buffer.from(data.key, 'base64').toString();
}

function tagOf({ spec }: ClusterObject): string | undefined {
  return spec.containers[0].image.split(':').at(-1);
}
