import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ClusterError } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { startLoad } from '#test/support/load.ts';
import { startOperatorUnderTest, type OperatorUnderTest } from '#test/support/operator.ts';
import { paths, startTonCluster, type TonCluster } from '#test/support/ton-cluster.ts';

const patience = { timeout: 240_000, interval: 300 } as const;
const minutes = 500_000;

describe.skipIf(await withoutControlPlane('the life of a TonApi with real pods', 'ours', 'controllers'))(
  'a TonApi in use',
  () => {
    let cluster: TonCluster;
    let operator: OperatorUnderTest;
    beforeAll(async () => {
      cluster = await startTonCluster({ nodes: 2 });
      operator = await startOperatorUnderTest(cluster.plane);
    }, minutes);
    afterAll(async () => {
      await operator?.close();
      await cluster?.stop();
    });

    const reason = async (type: string): Promise<string | undefined> =>
      (await cluster.conditions('main'))[type]?.reason;
    const replicas = async (): Promise<unknown> =>
      (await cluster.client.get(`${paths.deployments}/main-api`))['status'].readyReplicas;

    it(
      'lets a drain take one pod at a time, and fails no request meanwhile',
      async () => {
        await cluster.client.create(paths.tonApis, cluster.tonApi('main'));
        await expect.poll(() => reason('Ready'), patience).toBe('Serving');
        await expect.poll(replicas, patience).toBe(2);
        const url = await cluster.forwarder.url('default', 'main-api', 'http');
        const load = startLoad(`${url}/api/v2/getMasterchainInfo`, { clients: 2, pauseMs: 2 });
        const pods = await cluster.client.list(`${paths.pods}?labelSelector=app.kubernetes.io/component=api`);
        const live = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
        const evict = (name: string): Promise<unknown> =>
          cluster.client.create(`${paths.pods}/${name}/eviction`, {
            apiVersion: 'policy/v1',
            kind: 'Eviction',
            metadata: { name, namespace: 'default' },
          });
        const [first, other] = live.map(({ metadata }) => metadata.name);
        await evict(first ?? '');
        await expect(evict(other ?? '')).rejects.toMatchObject({ status: 429 } satisfies Partial<ClusterError>);
        await expect.poll(replicas, patience).toBe(2);
        await expect.poll(() => load.asked, patience).toBeGreaterThan(1000);
        await load.stop();
        expect(load.failures).toEqual([]);
      },
      minutes,
    );

    it(
      'says that its image cannot be had, and runs once another is asked for',
      async () => {
        const image = { repository: 'nowhere.example/none', tag: '1' };
        await cluster.client.create(paths.tonApis, cluster.tonApi('imageless', { image, replicas: 1 }));
        const available = async () => (await cluster.conditions('imageless'))['Available'];
        await expect.poll(async () => (await available())?.message, patience).toContain('nowhere.example/none:1');
        expect(await available()).toMatchObject({ status: 'False', reason: 'NoReadyPods' });
        expect(await reason('Ready')).toBe('Serving');
        await cluster.client.merge(`${paths.tonApis}/imageless`, { spec: { image: null } });
        await expect
          .poll(async () => (await cluster.conditions('imageless'))['Ready']?.reason, patience)
          .toBe('Serving');
      },
      minutes,
    );

    it(
      'says that no lite server can be reached, and why its pods are not ready, until one can',
      async () => {
        const { liteServer } = cluster.network;
        const liteServers = [{ ...liteServer, address: '127.0.0.1:9' }];
        await cluster.client.create(paths.tonApis, cluster.tonApi('lost', { liteServers, replicas: 1 }));
        const available = async () => (await cluster.conditions('lost'))['Available'];
        await expect.poll(async () => (await available())?.reason, patience).toBe('LiteServersUnreachable');
        expect((await available())?.message).toMatch(/none of 1 lite servers can be used, since 20/);
        expect(await reason('Ready')).toBe('Serving');
        const change = { spec: { liteServers: [{ ...liteServer, role: 'latest' }] } };
        await cluster.client.merge(`${paths.tonApis}/lost`, change);
        await expect.poll(async () => (await cluster.conditions('lost'))['Ready']?.reason, patience).toBe('Serving');
      },
      minutes,
    );
  },
);
