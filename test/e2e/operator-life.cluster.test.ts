import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ClusterError } from '#test/support/cluster-client.ts';
import { withoutControlPlane } from '#test/support/control-plane-source.ts';
import { startLoad, type Load } from '#test/support/load.ts';
import { createMetricsApi, type MetricsApi } from '#test/support/metrics-api.ts';
import { startOperatorUnderTest, type OperatorUnderTest } from '#test/support/operator.ts';
import { paths, startTonCluster, type TonCluster } from '#test/support/ton-cluster.ts';

const patience = { timeout: 200_000, interval: 300 } as const;
const minutes = 500_000;

describe.skipIf(await withoutControlPlane('the life of a TonApi with real pods', 'ours', 'controllers'))(
  'a TonApi in use',
  () => {
    let cluster: TonCluster;
    let operator: OperatorUnderTest;
    let metrics: MetricsApi;
    let second: Awaited<ReturnType<typeof startRelay>>;
    let load: Load;
    beforeAll(async () => {
      cluster = await startTonCluster({ nodes: 2 });
      metrics = await createMetricsApi(cluster.client);
      operator = await startOperatorUnderTest(cluster.plane);
      second = await startRelay(String(cluster.network.liteServer['address']));
    }, minutes);
    afterAll(async () => {
      await operator?.close();
      await metrics?.close();
      await cluster?.stop();
      second?.cut();
    }, 60_000);

    const reason = async (type: string): Promise<string | undefined> =>
      (await cluster.conditions('main'))[type]?.reason;
    const status = async (): Promise<Record<string, unknown>> =>
      (await cluster.client.get(`${paths.tonApis}/main`))['status'];
    const replicas = async (): Promise<unknown> =>
      (await cluster.client.get(`${paths.deployments}/main-api`))['status'].readyReplicas;

    it(
      'becomes Ready with two lite servers',
      async () => {
        const { liteServer } = cluster.network;
        const liteServers = [liteServer, { ...liteServer, name: 'second', address: second.address }];
        metrics.setCpu(200);
        const autoscaling = {
          provider: 'HPA',
          minReplicas: 2,
          maxReplicas: 3,
          targetCPUUtilization: 80,
          scaleDownStabilization: '1s',
        };
        await cluster.client.create(paths.tonApis, cluster.tonApi('main', { liteServers, autoscaling }));
        await expect.poll(() => reason('Ready'), patience).toBe('Serving');
        await expect.poll(async () => (await status())['liteServers'], patience).toBe('2/2');
        const url = await cluster.forwarder.url('default', 'main-api', 'http');
        load = startLoad(`${url}/api/v2/getMasterchainInfo`, { clients: 2 });
      },
      minutes,
    );

    it(
      'fails no request when a lite server is killed, and says in its status how many are left',
      async () => {
        second.cut();
        await expect.poll(async () => (await status())['liteServers'], patience).toBe('1/2');
        expect(await reason('Ready')).toBe('Serving');
        expect(load.failures).toEqual([]);
      },
      minutes,
    );

    it(
      'fails no request while the autoscaler adds pods and takes them away, and is not fought over',
      async () => {
        metrics.setCpu(400);
        await expect.poll(replicas, patience).toBe(3);
        metrics.setCpu(20);
        await expect.poll(replicas, patience).toBe(2);
        expect(load.failures).toEqual([]);
        const writes = await operator.writes();
        expect(writes['Deployment apply'] ?? 0).toBe(0);
      },
      minutes,
    );

    it(
      'lets a drain take one pod at a time, and fails no request meanwhile',
      async () => {
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
        await load.stop();
        expect(load.failures).toEqual([]);
        expect(load.asked).toBeGreaterThan(1000);
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

/** Another way to the same lite server, which can be cut. */
function startRelay(target: string): Promise<{ readonly address: string; cut(): void }> {
  const [host = '', port] = target.split(':');
  const sockets = new Set<Socket>();
  const server: Server = createServer((incoming) => {
    const outgoing = connect(Number(port), host);
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
    incoming.on('close', () => outgoing.destroy());
    outgoing.on('close', () => incoming.destroy());
    incoming.pipe(outgoing).pipe(incoming);
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve({
        address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
        cut() {
          server.close();
          for (const socket of sockets) socket.destroy();
        },
      });
    });
  });
}
